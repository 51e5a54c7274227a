//! The manifest of a tool: risks, limits and requirements.

use netaclaw_protocol::{SharedSchema, SharedText, ToolCategory, ToolLabel, ToolRisk, ToolStatus};
use serde::Serialize;
use std::time::Duration;

/// The description of a tool: all that governance, prompt and screens know of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolManifest {
    pub name: String,
    pub label: ToolLabel,
    /// What the model reads about the tool.
    pub description: SharedText,
    /// One line on when to reach for it, for the prompt.
    pub guidance: String,
    pub category: ToolCategory,
    /// JSON Schema of the arguments; its type is `object`.
    pub schema: SharedSchema,
    pub risk: ToolRisk,
    pub default_status: ToolStatus,
    /// Every tool runs in the main process; this is how a subagent reaches it.
    pub worker: WorkerUse,
    pub needs: Vec<ModelAbility>,
    /// `None` for tools that wait for users, to which no deadline applies.
    #[serde(rename = "timeoutMs", serialize_with = "as_millis")]
    pub timeout: Option<Duration>,
    /// Bytes of text the model gets to read of one result.
    pub output_cap: usize,
    pub concurrency: Concurrency,
    /// What a call can carry out of its session.
    pub outlet: EgressTarget,
}

/// A way out of a session. External content may instruct the model to use one, so a call that goes
/// through one needs approval then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EgressTarget {
    /// Nothing leaves.
    None,
    /// The network, to the address in this argument.
    Address { argument: String },
    /// The network, always to the same server; `None` if it is not known where that is.
    Server { url: Option<String> },
    /// Programs, which reach the network if the agent's sandbox lets them.
    Programs,
    /// Later sessions of the same user.
    Memory,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerUse {
    /// Safe inside the worker itself.
    Local,
    /// Only through the main process, which owns what the tool works on.
    Proxy,
    Never,
}

/// What a tool needs of a model beyond calling tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelAbility {
    Vision,
}

/// Whether calls of one answer may run concurrently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Concurrency {
    Parallel,
    /// Runs alone: after the calls before it and before those behind it.
    Exclusive,
}

fn as_millis<S: serde::Serializer>(
    timeout: &Option<Duration>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    timeout.map(|t| t.as_millis() as u64).serialize(serializer)
}
