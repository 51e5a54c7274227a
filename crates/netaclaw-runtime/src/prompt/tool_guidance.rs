//! Guidance on when to use which tool, for the available tools.

use super::layer::{Items, Layer, LayerName};
use netaclaw_governance::ResolvedTools;

const BUDGET: usize = 8_000;
const HEADING: &str = "# Tools\nDo the work with your tools instead of describing how to do it. \
                       Make independent calls in one answer.";

pub(super) fn layer(tools: &ResolvedTools) -> Layer {
    let items = tools
        .enabled()
        .filter(|tool| !tool.manifest().guidance.is_empty())
        .map(|tool| {
            let line = format!("- {}", tool.manifest().guidance);
            (tool.name().to_owned(), line)
        });
    Layer::of_items(LayerName::Tools, BUDGET, HEADING, Items(items.collect()))
}
