//! What a server says about itself.

use crate::{ErrorCode, ProviderKind, Words};
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
    /// Built for developing, without optimisation.
    pub debug: bool,
    pub os: String,
    pub arch: String,
    /// Where sessions can be kept.
    pub session_providers: Vec<ProviderKind>,
    /// Where agents, channels and users are kept.
    pub admin_store: AdminStoreKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum AdminStoreKind {
    Sqlite,
    Mysql,
}

/// A REST request that was not carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ApiProblem {
    pub code: ErrorCode,
    /// The English words, for programs and logs.
    pub message: String,
    /// For people.
    pub words: Words,
    /// What a program needs to go on: the field at fault, the revision that is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub details: Option<Value>,
}
