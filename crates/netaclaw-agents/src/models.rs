//! The ways to models: clients of the channels that agents choose.

use crate::source::AdminAgentSource;
use crate::trouble::admin_error;
use netaclaw_admin::{Configured, OpenModel, open_models};
use netaclaw_engine::EngineError;
use netaclaw_models::{
    FallbackClient, ModelClient, RetryClient, RetryPolicy, Route, Transport, client_for,
};
use netaclaw_protocol::{AgentSpec, ModelInfo};
use netaclaw_runtime::ModelAccess;
use netaclaw_tools::skills::Vision;
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

    /// The agent's model, with its fallback behind it.
    pub(crate) fn model(
        &self,
        configured: &Arc<Configured>,
        spec: &AgentSpec,
    ) -> Result<ModelAccess, EngineError> {
        let current = |known: &Arc<Configured>| Arc::ptr_eq(known, configured);
        let same = self
            .opened
            .find(|(known, opened)| current(known) && opened == spec);
        let mut access = match same {
            Some(access) => access,
            None => {
                let access = self.open(configured, spec)?;
                self.opened.keep(|(known, _)| current(known));
                let of = (Arc::clone(configured), spec.clone());
                self.opened.add(of, access.clone());
                access
            }
        };
        access.tools_refused = self.tool_refusals.get(&access.provider, &access.info.name);
        access.info.tools &= access.tools_refused.is_none();
        Ok(access)
    }

    /// The same, as far as it is configured.
    fn open(&self, configured: &Configured, spec: &AgentSpec) -> Result<ModelAccess, EngineError> {
        let models = open_models(configured, spec).map_err(admin_error)?;
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
        configured: &Configured,
        spec: &AgentSpec,
        info: &ModelInfo,
    ) -> Option<Vision> {
        if !info.vision || !spec.sandbox.network {
            return None;
        }
        let open = open_models(configured, spec).ok()?.main;
        Some(Vision {
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
