//! MCP servers as pages edit them and as tools connect to them.

use crate::{McpServerId, SandboxConfig, Stamp, ToolChoice, ToolStatus};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// A server as it is kept. What is secret about it is in no answer, only the names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct McpServerView {
    pub id: McpServerId,
    #[serde(flatten)]
    pub spec: McpServerSpec,
    /// Variables of the program's environment, or headers of requests, that have a value.
    pub secret_names: Vec<String>,
    #[serde(flatten)]
    pub stamp: Stamp,
}

/// Everything about a server that somebody can set, but what is secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct McpServerSpec {
    /// Unique; part of the names of its tools.
    pub name: String,
    pub transport: McpTransport,
    #[serde(default = "enabled")]
    pub status: ToolStatus,
    /// Which of its tools are offered. Nothing enabled: all of them.
    #[serde(default)]
    pub tools: ToolChoice,
    /// How its program is locked in.
    #[serde(default)]
    pub sandbox: SandboxConfig,
    /// Directories its program may write to; the first is where it runs.
    #[serde(default)]
    pub roots: Vec<String>,
    /// How long one call may take.
    #[serde(default = "timeout_ms")]
    pub timeout_ms: u64,
}

/// What a client sends to make or change a server.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct McpServerWrite {
    #[serde(flatten)]
    pub spec: McpServerSpec,
    /// Environment of the program, or headers of requests: `null` for a name keeps the value it
    /// has, and names that are not here are gone. Absent, all stay as they are.
    #[serde(default)]
    #[schema(value_type = Option<BTreeMap<String, Option<String>>>)]
    #[cfg_attr(
        feature = "typescript",
        ts(optional, as = "Option<BTreeMap<String, Option<String>>>")
    )]
    pub secrets: Option<BTreeMap<String, Option<SecretString>>>,
}

/// A server to be tried, saved or not.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct McpServerTry {
    /// The one that is being changed; it lends the secrets that are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub id: Option<McpServerId>,
    #[serde(flatten)]
    pub write: McpServerWrite,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum McpTransport {
    /// A program that is started, and spoken with by its standard input and output.
    Stdio {
        command: String,
        #[serde(default)]
        args: Vec<String>,
    },
    /// Streamable HTTP.
    Http { url: String },
}

/// A server and how it stands at the moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct McpServerInfo {
    #[serde(flatten)]
    pub server: McpServerView,
    pub state: McpServerState,
    /// As last seen; a server that is down still has them.
    pub offered: Vec<McpToolSummary>,
}

/// How a server stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum McpStatus {
    /// Switched off.
    Off,
    /// For the first time. Later a server is down until it is back.
    Connecting,
    Ready,
    Down,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct McpServerState {
    pub status: McpStatus,
    /// Why it is down, or why it was down the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub last_fault: Option<McpFault>,
}

/// Why a server cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct McpFault {
    pub code: McpFaultCode,
    /// What the machine or the server itself said, in its own words. May be empty.
    pub detail: String,
}

/// The list is closed, so that screens can say it in any language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum McpFaultCode {
    /// Its program could not be started.
    NotStarted,
    /// It did not answer in time.
    Silent,
    /// Its address or the name of a header is not valid.
    BadAddress,
    /// It answers, but not in the protocol.
    NotUnderstood,
    Unreachable,
    /// Its program ended.
    Ended,
    /// It does not list its tools.
    NoTools,
    /// The connection was lost.
    Lost,
    /// It sent more in one message than is taken.
    TooBig,
    /// Its secrets cannot be decrypted.
    Sealed,
}

/// A tool of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct McpToolSummary {
    /// What the server calls it.
    pub name: String,
    /// What agents call it.
    pub tool_name: String,
    pub description: String,
}

/// What became of an attempt to connect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct McpServerTest {
    pub ok: bool,
    pub latency_ms: u64,
    /// Those that the filter lets through.
    pub tools: Vec<McpToolSummary>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub fault: Option<McpFault>,
}

fn enabled() -> ToolStatus {
    ToolStatus::Enabled
}

fn timeout_ms() -> u64 {
    60_000
}
