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
mod rest;
mod router;
mod routes;
mod settings;
mod socket;
mod transport;

pub use assets::{Asset, Assets};
pub use gateway::Gateway;
pub use settings::{AuthSettings, GatewaySettings, OutboxLimits};
