//! Agents of a real admin store in an engine over real files, against a fake of the suppliers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod branches;
mod coding;
mod compaction;
mod endings;
mod foreign;
mod metrics;
mod others;
mod pairs;
mod remembering;
mod sending;
mod stopping;
mod store_fails;
mod titles;
mod unconfined;
mod words;
mod world;
