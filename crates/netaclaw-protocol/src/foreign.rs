//! External content that a model has read in a session.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The sources of the external content on a path; empty if there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(transparent)]
pub struct ForeignContent(pub Vec<ForeignSource>);

/// One source of content that neither the user nor the model wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ForeignSource {
    pub kind: ForeignKind,
    /// The host, the MCP server, the file or the tool; empty if it is not known.
    pub name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ForeignKind {
    /// A web page; the name is its host.
    Web,
    /// A tool of an MCP server; the name is the server.
    Mcp,
    /// An uploaded file.
    File,
    /// The output of a program that could use the network; the name is the tool.
    Program,
    /// Anything else that NetaClaw did not write; the name is its own.
    Other,
}

/// Why a call needs approval although its risk alone does not require it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ForeignNote {
    /// What the session has read.
    pub sources: ForeignContent,
    /// The complete address that the call would request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination: Option<String>,
}

impl ForeignContent {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
