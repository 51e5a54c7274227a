//! Updates of a running tool.

use netaclaw_protocol::{ProcessLevel, ProcessSource, ProcessStatus};
use serde_json::{Map, Value};

/// News of a running tool, in the order it happened.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolUpdate {
    /// More live output. Users see it while they wait; the result is authoritative.
    Output(String),
    Process(ProcessUpdate),
}

/// One step of long work, before it gets its number and loses its secrets.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessUpdate {
    pub source: ProcessSource,
    pub task_id: Option<String>,
    pub stage: Option<String>,
    pub status: ProcessStatus,
    pub level: ProcessLevel,
    pub message: String,
    pub detail: Option<String>,
    pub current: Option<u64>,
    pub total: Option<u64>,
    pub percent: Option<f64>,
    pub payload: Map<String, Value>,
    /// RFC 3339; absent, now.
    pub timestamp: Option<String>,
}

impl Default for ProcessUpdate {
    fn default() -> Self {
        Self {
            source: ProcessSource::Tool,
            task_id: None,
            stage: None,
            status: ProcessStatus::default(),
            level: ProcessLevel::default(),
            message: String::new(),
            detail: None,
            current: None,
            total: None,
            percent: None,
            payload: Map::new(),
            timestamp: None,
        }
    }
}
