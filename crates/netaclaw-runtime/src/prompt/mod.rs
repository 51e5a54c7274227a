//! The system prompt, in layers of fixed order.
//!
//! The stable part comes first and is the same bytes in every turn, so that suppliers can cache it;
//! what changes (the date, the to-do list) comes last. The summary of a compaction is a message and
//! not here. Reading files is the caller's work: texts come in, text goes out.

mod environment;
mod identity;
mod instructions;
mod layer;
mod memory;
mod rules;
mod skills;
#[cfg(test)]
mod tests;
mod today;
mod todo;
mod tool_guidance;

pub use environment::Environment;
pub use instructions::InstructionFile;
pub use layer::{Layer, LayerName};
pub use skills::SkillLine;

use netaclaw_governance::ResolvedTools;
use netaclaw_models::SystemPrompt;
use netaclaw_protocol::{SharedText, TodoList};
use std::sync::Arc;

/// Without this tool the index of skills is useless.
const READS_SKILLS: &str = "read_skill";

/// What the layers are made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptSources {
    /// Rules on top of those that hold for every agent.
    pub rules: Vec<String>,
    pub environment: Environment,
    /// From the root of the file tree down to the workspace; the nearest comes last.
    pub instructions: Vec<InstructionFile>,
    pub memory: Vec<String>,
    pub skills: Vec<SkillLine>,
}

/// The prompt of one run. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Prompt {
    stable: Arc<StableLayers>,
    today: Layer,
}

#[derive(Debug)]
struct StableLayers {
    layers: Vec<Layer>,
    text: SharedText,
}

impl StableLayers {
    fn new(layers: Vec<Layer>) -> Arc<Self> {
        let text = join(&layers).into();
        Arc::new(Self { layers, text })
    }
}

impl Prompt {
    pub fn new(system_prompt: &str, sources: &PromptSources, tools: &ResolvedTools) -> Self {
        Self {
            stable: StableLayers::new(vec![
                identity::layer(system_prompt),
                rules::layer(&sources.rules),
                environment::layer(&sources.environment),
                instructions::layer(&sources.instructions),
                memory::layer(&sources.memory),
                skills::layer(
                    match tools.enabled().any(|tool| tool.name() == READS_SKILLS) {
                        true => &sources.skills,
                        false => &[],
                    },
                ),
                tool_guidance::layer(tools),
            ]),
            today: today::layer(&sources.environment),
        }
    }

    /// The same without tools, for a model that turned out not to take any.
    pub(crate) fn without_tools(self) -> Self {
        let layers = self.stable.layers.iter();
        let layers = layers.filter(|layer| layer.name != LayerName::Tools);
        Self {
            stable: StableLayers::new(layers.cloned().collect()),
            today: self.today,
        }
    }

    pub fn system(&self, todo: &TodoList) -> SystemPrompt {
        SystemPrompt {
            stable: self.stable.text.clone(),
            volatile: join(&[self.today.clone(), todo::layer(todo)]),
        }
    }

    /// Every layer with its size, in order, for the preview of a prompt.
    pub fn preview(&self, todo: &TodoList) -> Vec<Layer> {
        let volatile = [self.today.clone(), todo::layer(todo)];
        self.stable.layers.iter().cloned().chain(volatile).collect()
    }
}

fn join(layers: &[Layer]) -> String {
    let texts = layers.iter().map(|layer| layer.text.as_str());
    let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
    texts.join("\n\n")
}
