//! The providers, each against the contract suite and against what only it can get wrong.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod admin;
mod file;
mod interop;
mod mysql;
mod parity;
