//! Prompts that were made before: nearly all runs of an agent are told the same.

use super::{Prompt, PromptSources};
use crate::lately::Lately;
use netaclaw_governance::{ResolvedTools, ToolManifest};
use std::sync::Arc;

/// The prompts that were made last. What they were made of is compared as a whole, so that none is ever
/// out of date.
#[derive(Default)]
pub struct Prompts(Lately<MadeOf, Prompt>);

struct MadeOf {
    system_prompt: String,
    sources: PromptSources,
    tools: Vec<Arc<ToolManifest>>,
}

impl Prompts {
    /// The same as [`Prompt::new`].
    pub fn get(
        &self,
        system_prompt: &str,
        sources: &PromptSources,
        tools: &ResolvedTools,
    ) -> Prompt {
        let same = |made_of: &MadeOf| {
            made_of.system_prompt == system_prompt
                && made_of.sources == *sources
                && tells_same(&made_of.tools, tools)
        };
        let make = || {
            let manifests = tools.enabled().map(|tool| Arc::clone(tool.manifest()));
            let made_of = MadeOf {
                system_prompt: system_prompt.to_owned(),
                sources: sources.clone(),
                tools: manifests.collect(),
            };
            (made_of, Prompt::new(system_prompt, sources, tools))
        };
        self.0.get(same, make)
    }
}

/// Whether the prompt would say the same about the tools: it has their names and their guidance.
fn tells_same(manifests: &[Arc<ToolManifest>], tools: &ResolvedTools) -> bool {
    let mut enabled = tools.enabled();
    let same = manifests.iter().all(|known| {
        enabled.next().is_some_and(|tool| {
            let other = tool.manifest();
            Arc::ptr_eq(known, other)
                || (known.name == other.name && known.guidance == other.guidance)
        })
    });
    same && enabled.next().is_none()
}
