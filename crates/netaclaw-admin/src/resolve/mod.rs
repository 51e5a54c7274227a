//! Resolves an agent to a model: its channel, the model, and its known properties.
//!
//! Pure: everything that decides is an argument.

use crate::channel::model_channel;
use netaclaw_protocol::{
    AgentSpec, ChannelId, ChannelSpec, ChannelStatus, ChannelView, ModelChoiceError, ModelInfo,
    NamedBy, Supplier,
};

/// A model that can be asked.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelChoice {
    pub channel_id: ChannelId,
    pub channel_name: String,
    pub model: String,
    pub info: ModelInfo,
}

/// The models of a run: the agent's own, and where to go when its channel fails.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelPlan {
    pub main: ModelChoice,
    pub fallback: Option<ModelChoice>,
    /// An unusable fallback does not stop the run, but the run warns of it.
    pub fallback_error: Option<ModelChoiceError>,
}

/// A model for summaries and titles.
#[derive(Clone, Debug, PartialEq)]
pub struct AuxiliaryChoice {
    pub choice: ModelChoice,
    pub source: AuxiliarySource,
}

/// Who named the auxiliary model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuxiliarySource {
    Agent,
    Dictionary,
    /// None; it is the agent's own model.
    Own,
}

/// What the dictionary says about the auxiliary model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DictionaryDefault {
    pub channel_id: Option<ChannelId>,
    pub model: Option<String>,
}

/// The agent's model and its fallback. An agent that names no channel gets the oldest one that is
/// enabled and meant for answers, the demo last. Channels without a model for chats come after all
/// others: that such a channel is all there is, is then the error.
pub fn resolve_model(
    agent: &AgentSpec,
    channels: &[ChannelView],
) -> Result<ModelPlan, ModelChoiceError> {
    let config = &agent.model_config;
    let main = own_model(agent, channels)?;
    let fallback = config.fallback.as_ref().map(|fallback| {
        let named_by = NamedBy::FallbackOfAgent {
            agent: agent.name.clone(),
        };
        let channel = find(channels, &fallback.channel_id, &named_by)?;
        choose(channel, fallback.model.as_deref(), &named_by)
    });
    let (fallback, fallback_error) = match fallback {
        Some(Ok(fallback)) => (Some(fallback), None),
        Some(Err(error)) => (None, Some(error)),
        None => (None, None),
    };
    Ok(ModelPlan {
        main,
        fallback,
        fallback_error,
    })
}

/// Whether one session may use another model than its agent's: one that its channel lists. A user
/// without configuration rights must not choose a model that is not listed, at the cost of the
/// channel's owner. The agent's own model may always be chosen; a channel without a list has what
/// its supplier has.
pub fn check_choice(
    agent: &AgentSpec,
    channels: &[ChannelView],
    channel: &ChannelId,
    model: &str,
) -> Result<(), ModelChoiceError> {
    let found = find(channels, channel, &NamedBy::Session)?;
    let listed = &found.spec.models;
    let is_listed = listed.iter().any(|known| known.name == model);
    let is_open = listed.is_empty() && !model.trim().is_empty();
    let own = own_model(agent, channels);
    let is_own = own.is_ok_and(|own| own.channel_id == *channel && own.model == model);
    match is_listed || is_open || is_own {
        true => Ok(()),
        false => Err(ModelChoiceError::ModelUnlisted {
            name: found.spec.name.clone(),
            model: model.to_owned(),
        }),
    }
}

/// The model for summaries: the agent's, else the dictionary's, else the agent's own. A configured
/// model that cannot be used is an error, and the next one is not tried.
pub fn resolve_auxiliary(
    agent: &AgentSpec,
    dictionary: &DictionaryDefault,
    channels: &[ChannelView],
) -> Result<AuxiliaryChoice, ModelChoiceError> {
    let by_agent = (
        agent.auxiliary_model_channel_id.as_ref(),
        agent.auxiliary_model_id.as_deref(),
        NamedBy::AuxiliaryOfAgent {
            agent: agent.name.clone(),
        },
        AuxiliarySource::Agent,
    );
    let by_dictionary = (
        dictionary.channel_id.as_ref(),
        dictionary.model.as_deref(),
        NamedBy::Dictionary,
        AuxiliarySource::Dictionary,
    );
    for (channel, model, named_by, source) in [by_agent, by_dictionary] {
        let choice = match (channel, model) {
            (Some(id), model) => choose(find(channels, id, &named_by)?, model, &named_by)?,
            // Another model of the agent's own channel.
            (None, Some(model)) => {
                let own = own_model(agent, channels)?;
                choose(
                    find(channels, &own.channel_id, &named_by)?,
                    Some(model),
                    &named_by,
                )?
            }
            (None, None) => continue,
        };
        return Ok(AuxiliaryChoice { choice, source });
    }
    Ok(AuxiliaryChoice {
        choice: own_model(agent, channels)?,
        source: AuxiliarySource::Own,
    })
}

fn own_model(agent: &AgentSpec, channels: &[ChannelView]) -> Result<ModelChoice, ModelChoiceError> {
    let config = &agent.model_config;
    let named_by = NamedBy::Agent {
        agent: agent.name.clone(),
    };
    let channel = match &config.channel_id {
        Some(id) => find(channels, id, &named_by)?,
        None => usual(channels).ok_or(ModelChoiceError::NoChannel)?,
    };
    choose(channel, config.model.as_deref(), &named_by)
}

fn usual(channels: &[ChannelView]) -> Option<&ChannelView> {
    let usable = |channel: &&ChannelView| {
        channel.spec.status == ChannelStatus::Enabled && !channel.spec.models.is_empty()
    };
    channels.iter().filter(usable).min_by_key(|channel| {
        let spec = &channel.spec;
        (
            default_model(spec).is_none(),
            spec.supplier == Supplier::Demo,
            spec.is_auxiliary,
        )
    })
}

fn find<'c>(
    channels: &'c [ChannelView],
    id: &ChannelId,
    named_by: &NamedBy,
) -> Result<&'c ChannelView, ModelChoiceError> {
    let named_by = || named_by.clone();
    let channel = channels.iter().find(|channel| channel.id == *id);
    let channel = channel.ok_or_else(|| ModelChoiceError::ChannelMissing {
        id: id.clone(),
        named_by: named_by(),
    })?;
    match channel.spec.status {
        ChannelStatus::Enabled => Ok(channel),
        ChannelStatus::Disabled => Err(ModelChoiceError::ChannelDisabled {
            name: channel.spec.name.clone(),
            named_by: named_by(),
        }),
    }
}

/// The model that is used of a channel if none is named: the first one it lists that answers in
/// chats.
pub fn default_model(channel: &ChannelSpec) -> Option<String> {
    let known = model_channel(channel, None);
    let mut names = channel.models.iter().map(|model| &model.name);
    names.find(|name| known.model_info(name).chat).cloned()
}

/// The configured model, else the channel's default. A name the channel does not list is accepted:
/// suppliers have more models than lists name.
fn choose(
    channel: &ChannelView,
    model: Option<&str>,
    named_by: &NamedBy,
) -> Result<ModelChoice, ModelChoiceError> {
    let model = model
        .map(str::to_owned)
        .or_else(|| default_model(&channel.spec));
    let model = model.ok_or_else(|| {
        let (name, named_by) = (channel.spec.name.clone(), named_by.clone());
        match channel.spec.models.is_empty() {
            true => ModelChoiceError::ChannelWithoutModels { name, named_by },
            false => ModelChoiceError::ChannelWithoutChatModels { name, named_by },
        }
    })?;
    Ok(ModelChoice {
        channel_id: channel.id.clone(),
        channel_name: channel.spec.name.clone(),
        info: model_channel(&channel.spec, None).model_info(&model),
        model,
    })
}

#[cfg(test)]
mod tests;
