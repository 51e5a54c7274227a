//! The gateway over real sockets.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod access;
mod agent;
mod commands;
mod files;
mod http;
mod lists;
mod openai;
mod polling;
mod rest;
mod server;
mod slow;
mod socket;
mod sync;
mod web;
