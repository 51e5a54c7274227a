//! Live sessions, over real files.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod branches;
mod chat;
mod coding;
mod compaction;
mod crash;
mod endings;
mod faulty;
mod foreign;
mod idle;
mod joining;
mod metrics;
mod pairs;
mod remembering;
mod requests;
mod resync;
mod sending;
mod stopping;
mod store_fails;
mod support;
mod tabs;
mod titles;
mod unconfined;
mod versions;
mod watchdog;
mod words;
mod world;
