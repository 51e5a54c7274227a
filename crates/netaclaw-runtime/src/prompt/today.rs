//! The date, which changes at midnight and therefore follows everything stable.

use super::environment::Environment;
use super::layer::{Layer, LayerName};

const BUDGET: usize = 100;

pub(super) fn layer(environment: &Environment) -> Layer {
    let text = match environment.date.as_str() {
        "" => String::new(),
        date => format!("Today is {date}."),
    };
    Layer::of_text(LayerName::Today, BUDGET, &text)
}
