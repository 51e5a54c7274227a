//! Live sessions, over real files.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agents;
mod chat;
mod crash;
mod idle;
mod joining;
mod requests;
mod resync;
mod tabs;
mod versions;
mod watchdog;
