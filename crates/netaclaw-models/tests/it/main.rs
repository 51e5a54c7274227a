//! Clients against a real socket, with a strict and unreliable server behind it.

#![expect(
    clippy::unwrap_used,
    reason = "these are tests, and a test fails by panicking"
)]

mod connections;
mod contract;
mod faults;
mod harness;
mod probe;
mod secrets;
mod shapes;
