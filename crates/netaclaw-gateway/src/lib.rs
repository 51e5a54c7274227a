#![doc = include_str!("../README.md")]

mod assets;
mod auth;
mod connection_limits;
mod enter;
mod error;
mod gateway;
mod health;
mod http_server;
mod metrics;
mod openai;
mod pages;
mod readiness;
mod rest;
mod router;
mod routes;
mod settings;
mod slow_body;
mod socket;
mod transport;

pub use assets::{Asset, Assets};
pub use connection_limits::ConnectionLimits;
pub use gateway::{Gateway, GatewayOptions};
pub use readiness::DiskProbe;
pub use settings::{AuthSettings, GatewaySettings, OutboxLimits};
