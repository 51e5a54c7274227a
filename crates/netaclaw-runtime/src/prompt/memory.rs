//! The agent's memories, the most relevant first.

use super::layer::{Items, Layer, LayerName};

const BUDGET: usize = 8_000;
const HEADING: &str = "# Memory\nFacts from earlier sessions; they may be outdated.";

pub(super) fn layer(facts: &[String]) -> Layer {
    let facts = facts
        .iter()
        .map(|fact| fact.trim())
        .filter(|fact| !fact.is_empty());
    let items = facts.map(|fact| (fact.to_owned(), format!("- {fact}")));
    Layer::of_items(LayerName::Memory, BUDGET, HEADING, Items(items.collect()))
}
