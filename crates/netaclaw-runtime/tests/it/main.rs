//! Whole runs with a scripted model over a session in memory.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod endings;
mod governed;
mod legal;
mod limits;
mod stand_in;
mod stop;
mod talk;
mod tools;
mod world;
