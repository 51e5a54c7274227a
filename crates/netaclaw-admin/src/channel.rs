//! The port to channels, and their validation.

use crate::audit::Actor;
use crate::error::{Invalid, Problem, Result};
use crate::rules;
use crate::store::Expect;
use async_trait::async_trait;
use netaclaw_models::{Channel, supplier};
use netaclaw_protocol::{
    ChannelId, ChannelModel, ChannelSpec, ChannelStatus, ChannelView, KeyChange, ModelPrice,
    Supplier,
};
use secrecy::SecretString;
use url::Url;

/// Where channels are kept, with their keys encrypted.
#[async_trait]
pub trait ChannelStore: Send + Sync {
    /// All channels, the oldest first.
    async fn channels(&self) -> Result<Vec<ChannelView>>;
    async fn channel(&self, id: &ChannelId) -> Result<ChannelView>;
    async fn channel_named(&self, name: &str) -> Result<ChannelView>;
    /// The channel as model clients are made from it: the only answer with its key. What cannot
    /// be decrypted is [`AdminError::Sealed`](crate::AdminError::Sealed), never a guess.
    async fn open_channel(&self, id: &ChannelId) -> Result<Channel>;

    async fn create_channel(
        &self,
        by: &Actor,
        spec: ChannelSpec,
        key: Option<SecretString>,
    ) -> Result<ChannelView>;
    async fn update_channel(
        &self,
        by: &Actor,
        id: &ChannelId,
        expect: Expect,
        spec: ChannelSpec,
        key: KeyChange,
    ) -> Result<ChannelView>;
    /// A channel that agents or the dictionary name cannot be deleted.
    async fn delete_channel(&self, by: &Actor, id: &ChannelId, expect: Expect) -> Result<()>;
}

/// The channel in the form that model clients use.
pub fn model_channel(spec: &ChannelSpec, api_key: Option<SecretString>) -> Channel {
    Channel {
        base_url: spec.base_url.clone(),
        api_key,
        models: spec.models.clone(),
        is_auxiliary: spec.is_auxiliary,
        status: match spec.status {
            ChannelStatus::Enabled => netaclaw_models::ChannelStatus::Enabled,
            ChannelStatus::Disabled => netaclaw_models::ChannelStatus::Disabled,
        },
        ..Channel::new(&spec.name, spec.supplier)
    }
}

/// The end of a key, for users who have several. A short key has no part that can be shown.
pub fn last4(key: &str) -> Option<String> {
    const CHARS_MIN: usize = 12;
    let count = key.chars().count();
    (count >= CHARS_MIN).then(|| key.chars().skip(count - 4).collect())
}

pub fn check_channel(spec: &ChannelSpec) -> Result<(), Invalid> {
    rules::name("name", &spec.name)?;
    match &spec.base_url {
        Some(address) => check_address(address)?,
        None => {
            let has_own = !supplier(spec.supplier).base_url.is_empty();
            let problem = Problem::AddressNeeded;
            rules::ensure(
                has_own || spec.supplier == Supplier::Demo,
                "baseUrl",
                problem,
            )?;
        }
    }
    let names: Vec<String> = spec.models.iter().map(|model| model.name.clone()).collect();
    rules::distinct("models", &names)?;
    spec.models.iter().try_for_each(check_model)
}

fn check_address(address: &str) -> Result<(), Invalid> {
    let field = "baseUrl";
    rules::at_most(field, address, 2_000)?;
    let url = Url::parse(address).ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let url = url.ok_or_else(|| Invalid::new(field, Problem::NotAnAddress))?;
    let is_open = url.username().is_empty() && url.password().is_none();
    rules::ensure(is_open, field, Problem::SecretInAddress)
}

fn check_model(model: &ChannelModel) -> Result<(), Invalid> {
    const TOKENS_MAX: i64 = 100_000_000;
    let field = |part: &str| format!("models.{}.{part}", model.name);
    let tokens = |part: &str, tokens: Option<u64>| {
        let tokens = tokens.map_or(1, |tokens| i64::try_from(tokens).unwrap_or(i64::MAX));
        rules::in_range(&field(part), tokens, 1, TOKENS_MAX)
    };
    tokens("contextWindow", model.context_window)?;
    tokens("maxOutput", model.max_output)?;
    let price = model.price.unwrap_or_default();
    let ModelPrice {
        input,
        output,
        cache_read,
        cache_write,
    } = price;
    let is_price = |price: f64| (0.0..=1_000_000.0).contains(&price);
    let are_prices = [input, output, cache_read, cache_write]
        .into_iter()
        .all(is_price);
    let problem = Problem::OutOfRange {
        min: 0,
        max: 1_000_000,
    };
    rules::ensure(are_prices, &field("price"), problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(supplier: Supplier, base_url: Option<&str>) -> ChannelSpec {
        ChannelSpec {
            name: "c".to_owned(),
            supplier,
            base_url: base_url.map(str::to_owned),
            models: Vec::new(),
            is_auxiliary: false,
            status: ChannelStatus::Enabled,
        }
    }

    #[test]
    fn addresses_are_needed_where_the_supplier_has_none_and_hold_no_secrets() {
        let problem = |supplier, url| check_channel(&spec(supplier, url)).err().map(|e| e.problem);
        assert_eq!(problem(Supplier::Openai, None), None);
        assert_eq!(problem(Supplier::Demo, None), None);
        assert_eq!(problem(Supplier::Azure, None), Some(Problem::AddressNeeded));
        let compatible = |url| problem(Supplier::Compatible, Some(url));
        assert_eq!(compatible("http://127.0.0.1:4300/v1"), None);
        assert_eq!(compatible("https://h/x?api-version=1"), None);
        assert_eq!(compatible("localhost:4300"), Some(Problem::NotAnAddress));
        assert_eq!(compatible(""), Some(Problem::NotAnAddress));
        assert_eq!(
            compatible("https://u:p@h/v1"),
            Some(Problem::SecretInAddress)
        );
    }

    #[test]
    fn models_are_named_once() {
        let model = |name: &str| ChannelModel {
            name: name.to_owned(),
            ..ChannelModel::default()
        };
        let mut spec = spec(Supplier::Openai, None);
        spec.models = vec![model("a"), model("b")];
        assert_eq!(check_channel(&spec), Ok(()));
        spec.models.push(model("a"));
        assert_eq!(check_channel(&spec).unwrap_err().field, "models");
        spec.models[2] = ChannelModel {
            context_window: Some(0),
            ..model("c")
        };
        let field = check_channel(&spec).unwrap_err().field;
        assert_eq!(field, "models.c.contextWindow");
    }

    #[test]
    fn only_long_keys_show_their_end() {
        assert_eq!(last4("sk-0123456789").as_deref(), Some("6789"));
        assert_eq!(last4("short-key"), None);
    }
}
