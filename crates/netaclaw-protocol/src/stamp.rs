//! What every record of the admin store carries.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// When a record was created and changed, and its revision. A change names the revision that it is
/// based on, so that two editors do not overwrite each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Stamp {
    pub rev: u64,
    /// Unix time in milliseconds.
    pub created_at: i64,
    pub updated_at: i64,
}
