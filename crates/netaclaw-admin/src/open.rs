//! Resolves an agent's channels with their decrypted API keys, to build model clients from.

use crate::dictionary::{AUXILIARY_CHANNEL_ID, AUXILIARY_MODEL_ID, NETACLAW_GROUP};
use crate::error::Result;
use crate::resolve::{
    AuxiliaryChoice, DictionaryDefault, ModelChoice, resolve_auxiliary, resolve_model,
};
use crate::snapshot::ConfigSnapshot;
use netaclaw_models::Channel;
use netaclaw_protocol::{AgentSpec, ChannelId, ModelChoiceError};

#[derive(Clone, Debug)]
pub struct OpenModel {
    pub choice: ModelChoice,
    pub channel: Channel,
}

#[derive(Clone, Debug)]
pub struct OpenModels {
    pub main: OpenModel,
    pub fallback: Option<OpenModel>,
    /// Why there is no fallback although the agent names one.
    pub fallback_error: Option<ModelChoiceError>,
}

/// The agent's model and its fallback.
pub fn open_models(config: &ConfigSnapshot, agent: &AgentSpec) -> Result<OpenModels> {
    let plan = resolve_model(agent, &config.channels)?;
    let fallback = plan.fallback.map(|choice| open(config, choice));
    Ok(OpenModels {
        main: open(config, plan.main)?,
        fallback: fallback.transpose()?,
        fallback_error: plan.fallback_error,
    })
}

/// The model for the agent's summaries and titles: the auxiliary one, or the agent's own.
pub fn open_auxiliary(config: &ConfigSnapshot, agent: &AgentSpec) -> Result<OpenModel> {
    open(config, auxiliary(config, agent)?.choice)
}

fn auxiliary(config: &ConfigSnapshot, agent: &AgentSpec) -> Result<AuxiliaryChoice> {
    let entry = |name| config.dict_value(NETACLAW_GROUP, name);
    let dictionary = DictionaryDefault {
        channel_id: entry(AUXILIARY_CHANNEL_ID).map(ChannelId::new),
        model: entry(AUXILIARY_MODEL_ID).map(str::to_owned),
    };
    Ok(resolve_auxiliary(agent, &dictionary, &config.channels)?)
}

fn open(config: &ConfigSnapshot, choice: ModelChoice) -> Result<OpenModel> {
    let channel = config.open_channel(&choice.channel_id)?;
    Ok(OpenModel { choice, channel })
}
