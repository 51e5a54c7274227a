//! Which skills there are. Their instructions are read when they are needed.

use super::layer::{Items, Layer, LayerName, end_of};

const BUDGET: usize = 12_000;
const DESCRIPTION_CHARS_MAX: usize = 500;
const HEADING: &str = "# Skills\nRead a skill with `read_skill` before you work on its subject.";

/// A skill in the index. Those of the user come before those that are shipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillLine {
    pub name: String,
    pub description: String,
}

pub(super) fn layer(skills: &[SkillLine]) -> Layer {
    let items = skills.iter().map(|skill| {
        let words: Vec<&str> = skill.description.split_whitespace().collect();
        let mut description = words.join(" ");
        if let Some(end) = end_of(&description, DESCRIPTION_CHARS_MAX) {
            description.truncate(end);
        }
        (
            skill.name.clone(),
            format!("- {}: {description}", skill.name),
        )
    });
    Layer::of_items(LayerName::Skills, BUDGET, HEADING, Items(items.collect()))
}
