//! The real binary, run on files that the tests make themselves.

#![expect(
    clippy::unwrap_used,
    reason = "in a test, what cannot be set up or read is a failure"
)]

mod agent;
mod approval;
mod backup;
mod bad_input;
mod channel;
mod chat;
mod coding;
mod compact;
mod compact_killed;
mod console;
mod copy;
mod damage;
mod deleted;
mod doctor;
mod export;
mod faults;
mod floods;
mod golden;
mod hostile;
mod looking;
mod mcp;
mod memory;
mod open_to_others;
mod owners;
mod owners_chaos;
mod private;
mod pty;
mod secrets;
mod served;
mod settings;
mod signals;
mod skills;
mod store;
mod support;
mod talking;
mod telemetry;
mod together;
mod tool;
