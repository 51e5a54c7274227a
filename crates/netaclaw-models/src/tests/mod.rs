//! Tests of several modules together.

mod golden;
mod wire;
