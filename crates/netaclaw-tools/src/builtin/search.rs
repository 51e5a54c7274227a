//! What searching by name and searching by content have in common.

use crate::context::Updates;
use crate::update::{ProcessUpdate, ToolUpdate};

/// Which part of the results is wanted. Everything before it has to be held too, as what comes
/// first is known only when all was seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageBounds {
    pub(super) offset: usize,
    pub(super) limit: usize,
}

impl PageBounds {
    /// `Err` is for the model to read.
    pub(super) fn new(offset: Option<usize>, limit: usize, max: usize) -> Result<Self, String> {
        let held = Self {
            offset: offset.unwrap_or(0),
            limit: limit.max(1),
        };
        match held.until() <= max {
            true => Ok(held),
            false => Err(format!(
                "The sum of `offset` and `limit` must not exceed {max}."
            )),
        }
    }

    pub(super) fn until(self) -> usize {
        self.offset.saturating_add(self.limit)
    }
}

/// Shows how many files were searched so far.
pub(super) fn progress(updates: &Updates) -> impl Fn(u64) + Sync {
    |files| {
        updates.send(ToolUpdate::Process(ProcessUpdate {
            message: "Searching files".to_owned(),
            current: Some(files),
            ..ProcessUpdate::default()
        }));
    }
}
