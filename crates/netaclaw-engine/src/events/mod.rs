//! What clients are told of a session: events with their numbers, the ring that replays them, and the
//! snapshot that a client begins with.

pub(crate) mod event;
pub(crate) mod feed;
pub(crate) mod ring;
pub(crate) mod snapshot;
pub(crate) mod steps;
pub(crate) mod wire;
