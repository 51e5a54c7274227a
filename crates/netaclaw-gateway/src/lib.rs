#![doc = include_str!("../README.md")]

mod assets;
mod auth;
mod doors;
mod enter;
mod error;
mod gateway;
mod health;
mod metrics;
mod openai;
mod pages;
mod places;
mod readiness;
mod rest;
mod router;
mod routes;
mod settings;
mod slow_body;
mod socket;
mod transport;

pub use assets::{Asset, Assets};
pub use gateway::{Gateway, GatewayOptions};
pub use places::ConnectionLimits;
pub use readiness::DiskProbe;
pub use settings::{AuthSettings, GatewaySettings, OutboxLimits};
