//! What a tool shows while it runs.

use serde_json::{Map, Value};

/// News of a running tool, in the order it happened.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolUpdate {
    /// More live output. What people see while they wait; the result says the final word.
    Output(String),
    Process(ProcessUpdate),
}

/// One step of long work, before the server gives it its number and its time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProcessUpdate {
    pub stage: Option<String>,
    pub status: ProcessStatus,
    pub level: ProcessLevel,
    pub message: String,
    pub detail: Option<String>,
    pub current: Option<u64>,
    pub total: Option<u64>,
    pub percent: Option<f64>,
    pub payload: Map<String, Value>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProcessStatus {
    Queued,
    Started,
    #[default]
    Running,
    Completed,
    Failed,
    Cancelled,
    Skipped,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProcessLevel {
    Debug,
    #[default]
    Info,
    Warning,
    Error,
}
