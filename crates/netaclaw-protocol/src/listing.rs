//! Lists that are sent as a whole, or in pages on request.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Listing<T> {
    pub items: Vec<T>,
    /// Page number, starting at 1.
    pub page: u32,
    /// Items per page; for a complete list, the number of items.
    pub size: u32,
    pub total: u64,
}

impl<T> Listing<T> {
    /// All of them.
    pub fn new(items: Vec<T>) -> Self {
        let size = u32::try_from(items.len()).unwrap_or(u32::MAX);
        Self::page(items, 1, size)
    }

    /// One page of them, counted from 1.
    pub fn page(items: Vec<T>, page: u32, size: u32) -> Self {
        let total = items.len() as u64;
        let skipped = (page as usize)
            .saturating_sub(1)
            .saturating_mul(size as usize);
        let items = items.into_iter().skip(skipped).take(size as usize);
        Self {
            items: items.collect(),
            page,
            size,
            total,
        }
    }
}
