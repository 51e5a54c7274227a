//! What a server says about itself.

use crate::{ErrorCode, LocalizedText, ProviderKind, Reason};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Raised when a client of another release would misunderstand the server. A page that finds
/// another number than its own has to be loaded anew.
pub const PROTOCOL: u32 = 2;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct About {
    pub version: String,
    pub protocol: u32,
    /// Whether this is a debug build.
    pub debug: bool,
    pub os: String,
    pub arch: String,
    /// Where sessions can be stored.
    pub session_providers: Vec<ProviderKind>,
    /// Where agents, channels and users are stored.
    pub admin_store: AdminStoreKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum AdminStoreKind {
    Sqlite,
    Mysql,
}

/// Why a REST request was rejected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ApiProblem {
    pub code: ErrorCode,
    /// The English text, for programs and logs.
    pub message: String,
    /// For users.
    pub words: LocalizedText,
    /// What exactly it is, with its own code and the parameters of its text. Absent from servers that
    /// are older than this list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub reason: Option<Box<Reason>>,
    /// What a program needs to go on: the field at fault, the revision that is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub details: Option<Value>,
}
