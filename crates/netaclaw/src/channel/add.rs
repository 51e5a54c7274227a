//! `channel add`: creates a channel, or changes the one of that name. The key comes from a variable
//! and is never an argument, which all users of the machine could read.

use crate::admin::{option_failure, patch_agent};
use crate::app::App;
use crate::error::{Failure, Result};
use crate::text::Lang;
use clap::Args;
use clap::builder::PossibleValuesParser;
use netaclaw_admin::{
    AUXILIARY_CHANNEL_ID, Actor, AdminError, AdminStore, Expect, NETACLAW_GROUP, default_model,
    usual_models,
};
use netaclaw_models::{SUPPLIERS, supplier};
use netaclaw_protocol::{
    ChannelModel, ChannelSpec, ChannelStatus, ChannelView, KeyChange, Supplier,
};
use secrecy::SecretString;
use serde_json::json;
use std::io::Write;

#[derive(Args, Debug)]
pub(crate) struct AddArgs {
    /// Name of the channel
    #[arg(value_name = "NAME")]
    channel: String,
    /// Supplier of the models
    #[arg(long, value_parser = supplier_names())]
    supplier: String,
    /// Address of the API; the default is that of the supplier
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Environment variable that holds the API key
    #[arg(long, value_name = "VARIABLE")]
    api_key_env: Option<String>,
    /// Model, and its context window in tokens if unknown; repeatable
    ///
    /// Agents use the first model unless they name another one
    #[arg(long = "model", value_name = "MODEL[:CONTEXT]")]
    models: Vec<String>,
    /// Mark the models as unable to use tools
    #[arg(long)]
    no_tools: bool,
    /// Use this channel for summaries and titles
    #[arg(long)]
    auxiliary: bool,
    /// Make the default agent use this channel
    #[arg(long)]
    default: bool,
}

fn supplier_names() -> PossibleValuesParser {
    PossibleValuesParser::new(SUPPLIERS.iter().map(|info| info.supplier.as_str()))
}

/// What is to be done, all arguments understood.
pub(crate) struct Addition {
    name: String,
    supplier: Supplier,
    base_url: Option<String>,
    key: Option<SecretString>,
    models: Vec<ChannelModel>,
    no_tools: bool,
    auxiliary: bool,
    default: bool,
}

impl AddArgs {
    pub(super) fn read(self, lang: Lang) -> Result<Addition> {
        let named = SUPPLIERS
            .iter()
            .find(|info| info.supplier.as_str() == self.supplier);
        let supplier = named.map(|info| info.supplier);
        Ok(Addition {
            supplier: supplier.expect("only names of suppliers are let through"),
            key: self
                .api_key_env
                .map(|name| read_key(&name, lang))
                .transpose()?,
            models: self.models.iter().map(|text| model(text)).collect(),
            no_tools: self.no_tools,
            name: self.channel,
            base_url: self.base_url,
            auxiliary: self.auxiliary,
            default: self.default,
        })
    }
}

/// The one place that reads a variable whose name is not known beforehand.
fn read_key(name: &str, lang: Lang) -> Result<SecretString> {
    let is_name = !name.is_empty()
        && !name.starts_with(|char: char| char.is_ascii_digit())
        && name
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || char == '_');
    if !is_name {
        // It may well be the key itself, so it is not repeated.
        return Err(Failure::new(
            "--api-key-env",
            lang.not_a_variable(),
            lang.set_variable(),
        ));
    }
    let value = std::env::var(name).unwrap_or_default();
    match value.trim().is_empty() {
        true => Err(Failure::new(
            lang.variable(name),
            lang.variable_empty(),
            lang.set_variable(),
        )),
        false => Ok(value.into()),
    }
}

/// `MODEL[:CONTEXT]`. Names of models have colons of their own, as in `qwen3:8b`, so only what
/// can be a number of tokens is taken for one.
fn model(text: &str) -> ChannelModel {
    let split = text.rsplit_once(':').and_then(|(name, context)| {
        let context = context_window(context)?;
        (!name.is_empty()).then(|| (name.to_owned(), Some(context)))
    });
    let (name, context_window) = split.unwrap_or((text.to_owned(), None));
    ChannelModel {
        name,
        context_window,
        ..ChannelModel::default()
    }
}

fn context_window(text: &str) -> Option<u64> {
    const LEAST: u64 = 512;
    let (digits, unit) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1_000),
        None => match text.strip_suffix(['m', 'M']) {
            Some(digits) => (digits, 1_000_000),
            None => (text, 1),
        },
    };
    let tokens = digits.parse::<u64>().ok()?.checked_mul(unit)?;
    (tokens >= LEAST).then_some(tokens)
}

impl Addition {
    pub(super) async fn run(self, app: &mut App, store: &dyn AdminStore) -> Result<()> {
        let lang = app.lang;
        let failed = |error| option_failure(lang, error, &[("baseUrl", "--base-url")]);
        let before = find(store, &self.name).await.map_err(failed)?;
        let saved = self.save(store, before.as_ref()).await.map_err(failed)?;
        let spec = &saved.spec;
        let said = match before {
            None => lang.channel_added(&spec.name, spec.supplier.as_str()),
            Some(before) if before == saved => lang.channel_same(&spec.name),
            Some(_) => lang.channel_updated(&spec.name, spec.supplier.as_str()),
        };
        writeln!(app.out, "{said}")?;
        if self.auxiliary && make_auxiliary(store, &saved).await.map_err(failed)? {
            writeln!(app.out, "{}", lang.auxiliary_uses(&spec.name))?;
        }
        if self.default {
            let (agent, model) = make_default(store, &saved).await.map_err(failed)?;
            writeln!(app.out, "{}", lang.agent_uses(agent, &spec.name, model))?;
        }
        if spec.models.is_empty() {
            app.warn(&lang.no_models_yet(&spec.name));
        }
        if supplier(spec.supplier).needs_key && !saved.api_key_set {
            app.warn(&lang.no_key_yet(&spec.name));
        }
        Ok(())
    }

    /// What was not said stays as it is, unless the channel now leads elsewhere.
    async fn save(
        &self,
        store: &dyn AdminStore,
        before: Option<&ChannelView>,
    ) -> std::result::Result<ChannelView, AdminError> {
        let by = Actor::command_line();
        let same = before.filter(|before| before.spec.supplier == self.supplier);
        let kept_url = same.and_then(|before| before.spec.base_url.clone());
        let mut models = match (self.models.is_empty(), same) {
            (false, _) => self.models.clone(),
            (true, Some(before)) => before.spec.models.clone(),
            (true, None) => usual_models(self.supplier),
        };
        if self.no_tools {
            models
                .iter_mut()
                .for_each(|model| model.tools = Some(false));
        }
        let spec = ChannelSpec {
            name: self.name.clone(),
            supplier: self.supplier,
            base_url: self.base_url.clone().or(kept_url),
            models,
            is_auxiliary: self.auxiliary || before.is_some_and(|before| before.spec.is_auxiliary),
            status: ChannelStatus::Enabled,
        };
        let Some(before) = before else {
            return store.create_channel(&by, spec, self.key.clone()).await;
        };
        let key = match (&self.key, same) {
            (Some(key), _) => KeyChange::Set(key.clone()),
            (None, Some(_)) => KeyChange::Keep,
            // One supplier's key is nothing to show to another.
            (None, None) => KeyChange::Clear,
        };
        let expect = Expect::Rev(before.stamp.rev);
        store
            .update_channel(&by, &before.id, expect, spec, key)
            .await
    }
}

async fn find(
    store: &dyn AdminStore,
    name: &str,
) -> std::result::Result<Option<ChannelView>, AdminError> {
    match store.channel_named(name).await {
        Ok(channel) => Ok(Some(channel)),
        Err(AdminError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether the channel is the one for summaries from now on; a choice made before stays.
async fn make_auxiliary(
    store: &dyn AdminStore,
    channel: &ChannelView,
) -> std::result::Result<bool, AdminError> {
    let chosen = store
        .dict_value(NETACLAW_GROUP, AUXILIARY_CHANNEL_ID)
        .await?;
    let id = channel.id.as_str();
    if chosen.is_none() {
        let by = Actor::command_line();
        store
            .put_dict_value(&by, NETACLAW_GROUP, AUXILIARY_CHANNEL_ID, id)
            .await?;
    }
    Ok(chosen.is_none_or(|chosen| chosen == id))
}

/// The default agent and the model it uses from now on.
async fn make_default(
    store: &dyn AdminStore,
    channel: &ChannelView,
) -> std::result::Result<(String, String), AdminError> {
    let model = default_model(&channel.spec);
    let patch = json!({"modelConfig": {"channelId": channel.id, "model": model}});
    let patch = patch.as_object().cloned().unwrap_or_default();
    let agent = patch_agent(store, store.default_agent().await?, &patch).await?;
    Ok((agent.spec.name, model.unwrap_or_else(|| "–".to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_number_of_tokens_is_a_context_window() {
        for (text, name, context) in [
            ("gpt-5", "gpt-5", None),
            ("gpt-5:400000", "gpt-5", Some(400_000)),
            ("local:128k", "local", Some(128_000)),
            ("local:1M", "local", Some(1_000_000)),
            ("qwen3:8b", "qwen3:8b", None),
            ("qwen3:8b:32768", "qwen3:8b", Some(32_768)),
            ("llama:70", "llama:70", None),
            ("vendor/model:free", "vendor/model:free", None),
            (":4096", ":4096", None),
        ] {
            let model = model(text);
            assert_eq!((model.name.as_str(), model.context_window), (name, context));
        }
    }
}
