//! The events of a session: their numbers, the ring that replays them, and the snapshot that a
//! client begins with.

pub(crate) mod event;
pub(crate) mod executions;
pub(crate) mod feed;
mod legacy;
pub(crate) mod ring;
pub(crate) mod snapshot;
mod steps;
pub(crate) mod text;
pub(crate) mod wire;
