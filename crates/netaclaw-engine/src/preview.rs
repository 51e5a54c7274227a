//! What an agent would be told and could use, for people who configure it.

use crate::agents::ConfiguredAgents;
use crate::error::EngineError;
use async_trait::async_trait;
use netaclaw_governance::{ModelAbilities, ToolManifest};
use netaclaw_protocol::{
    AgentPreview, AgentSpec, ModelInfo, PromptLayer, PromptPreview, TodoList, ToolInfo, ToolStatus,
};
use netaclaw_runtime::prompt::{Layer, Prompt, PromptSources};

/// Knows the tools there are, and what would become of an agent that is configured in some way.
#[async_trait]
pub trait AgentPreviews: Send + Sync + 'static {
    fn tools(&self) -> Vec<ToolInfo>;

    /// Works for agents that could not run as well, and says why.
    async fn preview(&self, spec: &AgentSpec) -> Result<AgentPreview, EngineError>;
}

#[async_trait]
impl AgentPreviews for ConfiguredAgents {
    fn tools(&self) -> Vec<ToolInfo> {
        let catalogue = self.registry.catalogue();
        catalogue.iter().map(|manifest| info(manifest)).collect()
    }

    async fn preview(&self, spec: &AgentSpec) -> Result<AgentPreview, EngineError> {
        let (model, no_model) = apart(self.model(spec).await);
        let model: Option<ModelInfo> = model.map(|access| access.info);
        let abilities = model.as_ref().map(|model| ModelAbilities {
            tools: model.tools,
            vision: model.vision,
        });
        // Without a model nothing is known against a tool.
        let abilities = abilities.unwrap_or(ModelAbilities {
            tools: true,
            vision: true,
        });
        let tools = self.resolve_tools(spec, abilities);
        let (sources, no_workspace) = apart(self.prompt_of(spec).await);
        let sources: PromptSources = sources.unwrap_or_default();
        let prompt = Prompt::new(&spec.system_prompt, &sources, &tools);
        let layers = prompt.preview(&TodoList::default());
        Ok(AgentPreview {
            tools: tools.projection(),
            prompt: PromptPreview {
                tokens: layers.iter().map(|layer| layer.tokens).sum(),
                layers: layers.into_iter().map(shown).collect(),
            },
            model,
            problem: no_model.or(no_workspace),
        })
    }
}

/// What was found, or in words why not.
fn apart<T>(found: Result<T, EngineError>) -> (Option<T>, Option<String>) {
    match found {
        Ok(found) => (Some(found), None),
        Err(error) => (None, Some(error.refusal().message)),
    }
}

fn info(manifest: &ToolManifest) -> ToolInfo {
    let timeout = manifest.timeout.map(|timeout| timeout.as_millis());
    ToolInfo {
        name: manifest.name.clone(),
        label: manifest.label.clone(),
        description: manifest.description.clone(),
        category: manifest.category,
        risk: manifest.risk,
        on_by_default: manifest.default_status == ToolStatus::Enabled,
        schema: manifest.schema.clone(),
        timeout_ms: timeout.map(|ms| u64::try_from(ms).unwrap_or(u64::MAX)),
    }
}

fn shown(layer: Layer) -> PromptLayer {
    PromptLayer {
        name: layer.name.as_str().to_owned(),
        text: layer.text,
        chars: layer.chars as u64,
        tokens: layer.tokens,
        budget: layer.budget as u64,
        omitted: layer.omitted,
    }
}
