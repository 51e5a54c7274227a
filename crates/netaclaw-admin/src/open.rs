//! From an agent to channels with their keys, ready to make model clients from.

use crate::configured::Configured;
use crate::dictionary::{AUXILIARY_CHANNEL_ID, AUXILIARY_MODEL_ID, NETACLAW_GROUP};
use crate::error::Result;
use crate::resolve::{
    AuxiliaryChoice, AuxiliarySource, DictionaryDefault, ModelChoice, ModelChoiceError,
    resolve_auxiliary, resolve_model,
};
use crate::store::AdminStore;
use netaclaw_models::Channel;
use netaclaw_protocol::{AgentSpec, ChannelId};

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
pub fn open_models(configured: &Configured, agent: &AgentSpec) -> Result<OpenModels> {
    let plan = resolve_model(agent, &configured.channels)?;
    let fallback = plan.fallback.map(|choice| open(configured, choice));
    Ok(OpenModels {
        main: open(configured, plan.main)?,
        fallback: fallback.transpose()?,
        fallback_error: plan.fallback_error,
    })
}

/// The model for the agent's summaries.
pub async fn open_auxiliary(store: &dyn AdminStore, agent: &AgentSpec) -> Result<OpenModel> {
    let configured = store.configured().await?;
    let auxiliary = auxiliary(store, &configured, agent).await?;
    open(&configured, auxiliary.choice)
}

/// The model for the agent's titles: one that was named for such things. A title is not worth a
/// request to the agent's own.
pub async fn open_title_model(
    store: &dyn AdminStore,
    agent: &AgentSpec,
) -> Result<Option<OpenModel>> {
    let configured = store.configured().await?;
    let auxiliary = auxiliary(store, &configured, agent).await?;
    match auxiliary.source {
        AuxiliarySource::Own => Ok(None),
        AuxiliarySource::Agent | AuxiliarySource::Dictionary => {
            open(&configured, auxiliary.choice).map(Some)
        }
    }
}

async fn auxiliary(
    store: &dyn AdminStore,
    configured: &Configured,
    agent: &AgentSpec,
) -> Result<AuxiliaryChoice> {
    let entry = |name| store.dict_value(NETACLAW_GROUP, name);
    let dictionary = DictionaryDefault {
        channel_id: entry(AUXILIARY_CHANNEL_ID).await?.map(ChannelId::new),
        model: entry(AUXILIARY_MODEL_ID).await?,
    };
    Ok(resolve_auxiliary(agent, &dictionary, &configured.channels)?)
}

fn open(configured: &Configured, choice: ModelChoice) -> Result<OpenModel> {
    let channel = configured.open_channel(&choice.channel_id)?;
    Ok(OpenModel { choice, channel })
}
