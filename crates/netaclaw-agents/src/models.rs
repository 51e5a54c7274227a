//! Model clients for the channels that agents choose.

use crate::snapshot::AgentSnapshot;
use crate::source::AdminAgentSource;
use crate::trouble::admin_error;
use netaclaw_admin::{ConfigSnapshot, OpenModel, open_models};
use netaclaw_engine::EngineError;
use netaclaw_models::{
    FallbackClient, ModelClient, RetryClient, RetryPolicy, Route, Transport, client_for,
};
use netaclaw_protocol::{Agent, AgentSpec, ModelInfo};
use netaclaw_runtime::ModelAccess;
use netaclaw_tools::skills::VisionModel;
use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub struct ModelSettings {
    pub transport: Arc<Transport>,
    pub retry: RetryPolicy,
}

impl AdminAgentSource {
    pub(crate) fn client(&self, open: OpenModel) -> (Arc<dyn ModelClient>, ModelInfo, String) {
        let info = open.channel.model_info(&open.choice.model);
        let name = open.channel.name.clone();
        let plain = client_for(Arc::new(open.channel), Arc::clone(&self.models.transport));
        (
            Arc::new(RetryClient::new(plain, self.models.retry)),
            info,
            name,
        )
    }

    /// The model of a stored agent, with its fallback behind it. Opened once for each version.
    pub(crate) fn model_of(
        &self,
        snapshot: &AgentSnapshot,
        agent: &Agent,
    ) -> Result<ModelAccess, EngineError> {
        let config = &agent.spec.model_config;
        let key = (
            agent.id.clone(),
            config.channel_id.clone(),
            config.model.clone(),
        );
        let access = match snapshot.models.get(&key) {
            Some(access) => access,
            None => {
                let access = self.open(&snapshot.config, &agent.spec)?;
                snapshot.models.keep(key, access.clone());
                access
            }
        };
        Ok(self.with_refusals(access))
    }

    /// The same for an agent that may not be stored.
    pub(crate) fn model_of_draft(
        &self,
        snapshot: &AgentSnapshot,
        spec: &AgentSpec,
    ) -> Result<ModelAccess, EngineError> {
        let access = self.open(&snapshot.config, spec)?;
        Ok(self.with_refusals(access))
    }

    /// A model that has refused tools lately is not offered any.
    fn with_refusals(&self, mut access: ModelAccess) -> ModelAccess {
        access.tools_refused = self.tool_refusals.get(&access.provider, &access.info.name);
        access.info.tools &= access.tools_refused.is_none();
        access
    }

    fn open(&self, config: &ConfigSnapshot, spec: &AgentSpec) -> Result<ModelAccess, EngineError> {
        let models = open_models(config, spec).map_err(admin_error)?;
        let (client, info, provider) = self.client(models.main);
        let client = match models.fallback {
            None => client,
            Some(fallback) => {
                let (other, other_info, other_name) = self.client(fallback);
                let route = |name: &String, info: &ModelInfo, client| Route {
                    channel: name.clone(),
                    model: info.name.clone(),
                    client,
                };
                let first = route(&provider, &info, client);
                Arc::new(FallbackClient::new(
                    first,
                    [route(&other_name, &other_info, other)],
                ))
            }
        };
        Ok(ModelAccess {
            client,
            info,
            provider,
            tools_refused: None,
        })
    }

    /// The agent's model for programs of its skills, if it sees and they may use the network.
    pub(crate) fn vision(
        config: &ConfigSnapshot,
        spec: &AgentSpec,
        info: &ModelInfo,
    ) -> Option<VisionModel> {
        if !info.vision || !spec.sandbox.network {
            return None;
        }
        let open = open_models(config, spec).ok()?.main;
        Some(VisionModel {
            url: open.channel.openai_chat_url()?,
            model: open.choice.model,
            key: open.channel.api_key,
        })
    }
}

/// 0 is never.
pub(crate) fn threshold_percent(spec: &AgentSpec) -> Option<u8> {
    match spec.compaction_threshold {
        0 => None,
        percent => u8::try_from(percent).ok(),
    }
}
