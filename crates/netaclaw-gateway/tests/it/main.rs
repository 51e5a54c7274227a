//! The gateway over real sockets.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod access;
mod agent;
mod approvals;
mod commands;
mod description;
mod ending;
mod figures;
mod files;
mod http;
mod killed;
mod limits;
mod links;
mod lists;
mod logins;
mod mcp_servers;
mod memories;
mod models;
mod openai;
mod polling;
mod queue;
mod readiness;
mod rest;
mod resync;
mod rights;
mod server;
mod sites;
mod slow;
mod strangers;
mod sync;
mod tools;
mod unopened;
mod unwatched;
mod web;
mod whole;
