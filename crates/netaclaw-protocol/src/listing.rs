//! Lists that are short enough to come whole.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Listing<T> {
    pub items: Vec<T>,
    pub total: u64,
}

impl<T> Listing<T> {
    pub fn new(items: Vec<T>) -> Self {
        Self {
            total: items.len() as u64,
            items,
        }
    }
}
