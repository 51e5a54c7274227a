//! Where the agent works. The date is not here: it changes.

use super::layer::{Layer, LayerName};

const BUDGET: usize = 1_000;

/// The environment, as the model needs it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// ISO date, without the time of day: a clock would make every prompt a new one.
    pub date: String,
    /// How the workspace is called.
    pub cwd: String,
    pub platform: String,
}

pub(super) fn layer(environment: &Environment) -> Layer {
    let lines = [
        ("Workspace", &environment.cwd),
        ("Platform", &environment.platform),
    ];
    let lines = lines.into_iter().filter(|(_, value)| !value.is_empty());
    let lines: String = lines
        .map(|(name, value)| format!("\n{name}: {value}"))
        .collect();
    let text = match lines.as_str() {
        "" => String::new(),
        lines => format!("# Environment{lines}"),
    };
    Layer::of_text(LayerName::Environment, BUDGET, &text)
}
