//! From an agent to channels with their keys, ready to make model clients from.

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
pub async fn open_models(store: &dyn AdminStore, agent: &AgentSpec) -> Result<OpenModels> {
    let plan = resolve_model(agent, &store.channels().await?)?;
    let fallback = match plan.fallback {
        Some(choice) => Some(open(store, choice).await?),
        None => None,
    };
    Ok(OpenModels {
        main: open(store, plan.main).await?,
        fallback,
        fallback_error: plan.fallback_error,
    })
}

/// The model for the agent's summaries.
pub async fn open_auxiliary(store: &dyn AdminStore, agent: &AgentSpec) -> Result<OpenModel> {
    let auxiliary = auxiliary(store, agent).await?;
    open(store, auxiliary.choice).await
}

/// The model for the agent's titles: one that was named for such things. A title is not worth a
/// request to the agent's own.
pub async fn open_title_model(
    store: &dyn AdminStore,
    agent: &AgentSpec,
) -> Result<Option<OpenModel>> {
    let auxiliary = auxiliary(store, agent).await?;
    match auxiliary.source {
        AuxiliarySource::Own => Ok(None),
        AuxiliarySource::Agent | AuxiliarySource::Dictionary => {
            open(store, auxiliary.choice).await.map(Some)
        }
    }
}

async fn auxiliary(store: &dyn AdminStore, agent: &AgentSpec) -> Result<AuxiliaryChoice> {
    let entry = |name| store.dict_value(NETACLAW_GROUP, name);
    let dictionary = DictionaryDefault {
        channel_id: entry(AUXILIARY_CHANNEL_ID).await?.map(ChannelId::new),
        model: entry(AUXILIARY_MODEL_ID).await?,
    };
    let channels = store.channels().await?;
    Ok(resolve_auxiliary(agent, &dictionary, &channels)?)
}

async fn open(store: &dyn AdminStore, choice: ModelChoice) -> Result<OpenModel> {
    let channel = store.open_channel(&choice.channel_id).await?;
    Ok(OpenModel { choice, channel })
}
