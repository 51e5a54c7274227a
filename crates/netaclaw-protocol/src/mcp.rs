//! MCP servers as pages edit them and as tools connect to them.

use crate::{McpServerId, SandboxConfig, Stamp, ToolChoice, ToolStatus};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// An MCP server as stored. Responses contain the names of its secrets, but never their values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct McpServerView {
    pub id: McpServerId,
    #[serde(flatten)]
    pub spec: McpServerSpec,
    /// Environment variables of the program, or request headers, that have a value.
    pub secret_names: Vec<String>,
    #[serde(flatten)]
    pub stamp: Stamp,
}

/// The settings of an MCP server, except its secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct McpServerSpec {
    /// Unique; part of the names of its tools.
    pub name: String,
    pub transport: McpTransport,
    #[serde(default = "enabled")]
    pub status: ToolStatus,
    /// The tools that are offered. If none is enabled, all are.
    #[serde(default)]
    pub tools: ToolChoice,
    /// The sandbox of its program.
    #[serde(default)]
    pub sandbox: SandboxConfig,
    /// Directories that its program may write to; it runs in the first one.
    #[serde(default)]
    pub roots: Vec<String>,
    /// Timeout of a call.
    #[serde(default = "timeout_ms")]
    pub timeout_ms: u64,
}

/// Creates or changes an MCP server.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct McpServerWrite {
    #[serde(flatten)]
    pub spec: McpServerSpec,
    /// Environment of the program, or request headers. `null` keeps the stored value of a name;
    /// names that are missing are removed. If absent, all stay unchanged.
    #[serde(default)]
    #[schema(value_type = Option<BTreeMap<String, Option<String>>>)]
    #[cfg_attr(
        feature = "typescript",
        ts(optional, as = "Option<BTreeMap<String, Option<String>>>")
    )]
    pub secrets: Option<BTreeMap<String, Option<SecretString>>>,
}

/// An MCP server to test, saved or not.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct McpServerTry {
    /// The server that is being changed; its stored secrets are used.
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
    /// A program that NetaClaw starts; it communicates by standard input and output.
    Stdio {
        command: String,
        #[serde(default)]
        args: Vec<String>,
    },
    /// Streamable HTTP.
    Http { url: String },
}

/// An MCP server with its current status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct McpServerInfo {
    #[serde(flatten)]
    pub server: McpServerView,
    pub state: McpServerState,
    /// The last known tools; a server that is unavailable keeps them.
    pub offered: Vec<McpToolSummary>,
}

/// The status of an MCP server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum McpStatus {
    /// Disabled.
    Off,
    /// The first attempt to connect. Later, a server is down until it is connected again.
    Connecting,
    Ready,
    Down,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct McpServerState {
    pub status: McpStatus,
    /// Why it is down, or was down the last time.
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
    /// The message of the operating system or of the server. Can be empty.
    pub detail: String,
}

/// The list is closed, so that clients can translate it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum McpFaultCode {
    /// Its program could not be started.
    NotStarted,
    /// It did not respond in time.
    Silent,
    /// Its address or the name of a header is not valid.
    BadAddress,
    /// Its responses do not follow the protocol.
    NotUnderstood,
    Unreachable,
    /// Its program ended.
    Ended,
    /// It does not list its tools.
    NoTools,
    /// The connection was lost.
    Lost,
    /// It sent a message that is too large.
    TooBig,
    /// Its secrets cannot be decrypted.
    Sealed,
}

/// A tool of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct McpToolSummary {
    /// Its name at the server.
    pub name: String,
    /// Its name for agents.
    pub tool_name: String,
    pub description: String,
}

/// The result of an attempt to connect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct McpServerTest {
    pub ok: bool,
    pub latency_ms: u64,
    /// The tools that pass the filter.
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
