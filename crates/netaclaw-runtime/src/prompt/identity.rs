//! The agent's instructions.

use super::layer::{Layer, LayerName};

const BUDGET: usize = 64_000;
const NO_INSTRUCTIONS: &str = "You are a helpful assistant.";

pub(super) fn layer(system_prompt: &str) -> Layer {
    let text = match system_prompt.trim() {
        "" => NO_INSTRUCTIONS,
        text => text,
    };
    Layer::of_text(LayerName::Identity, BUDGET, text)
}
