//! Channels. Clients can set the API key but never read it.

use crate::{ChannelId, ChannelModel, LocalizedError, ModelInfo, Stamp, Supplier};
use secrecy::SecretString;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

/// A channel as clients see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ChannelView {
    pub id: ChannelId,
    #[serde(flatten)]
    pub spec: ChannelSpec,
    pub api_key_set: bool,
    /// Also absent for keys that are too short to show four characters.
    pub api_key_last4: Option<String>,
    #[serde(flatten)]
    pub stamp: Stamp,
}

/// The settings of a channel, except its API key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ChannelSpec {
    /// Unique; also the `provider` of its answers.
    pub name: String,
    pub supplier: Supplier,
    /// Default: the address of the supplier.
    #[serde(default)]
    pub base_url: Option<String>,
    #[serde(default)]
    pub models: Vec<ChannelModel>,
    /// Whether the channel is for summaries and titles instead of answers.
    #[serde(default)]
    pub is_auxiliary: bool,
    #[serde(default)]
    pub status: ChannelStatus,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ChannelStatus {
    #[default]
    Enabled,
    Disabled,
}

/// Creates or changes a channel.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ChannelWrite {
    #[serde(flatten)]
    pub spec: ChannelSpec,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Option<String>>"))]
    pub api_key: KeyChange,
}

/// A channel to test before it is saved.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ChannelTry {
    /// The channel that is being changed; its stored API key is used if the body has none.
    #[serde(default)]
    pub id: Option<ChannelId>,
    #[serde(flatten)]
    pub write: ChannelWrite,
}

/// The models of a channel, for the choice in a chat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ChannelModels {
    pub channel_id: ChannelId,
    pub channel_name: String,
    pub supplier: Supplier,
    pub is_auxiliary: bool,
    pub models: Vec<ModelInfo>,
}

/// A change of a channel's API key: on the wire it is absent, `null`, or a text.
///
/// It cannot be serialized, so that no response can contain a key.
#[derive(Clone, Debug, Default)]
pub enum KeyChange {
    #[default]
    Keep,
    Clear,
    Set(SecretString),
}

impl<'de> Deserialize<'de> for KeyChange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let key = Option::<SecretString>::deserialize(deserializer)?;
        Ok(key.map_or(Self::Clear, Self::Set))
    }
}

/// The result of testing a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ChannelTest {
    pub ok: bool,
    pub latency_ms: u64,
    /// The models of the supplier; empty if it does not list them.
    pub models: Vec<String>,
    /// What went wrong and what to do, for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<Box<LocalizedError>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(body: &str) -> ChannelWrite {
        serde_json::from_str(body).unwrap()
    }

    #[test]
    fn an_absent_key_a_null_and_a_text_are_three_things() {
        let absent = written(r#"{"name":"a","supplier":"openai"}"#);
        assert!(matches!(absent.api_key, KeyChange::Keep));
        assert_eq!(absent.spec.status, ChannelStatus::Enabled);
        let null = written(r#"{"name":"a","supplier":"openai","apiKey":null}"#);
        assert!(matches!(null.api_key, KeyChange::Clear));
        let text = written(r#"{"name":"a","supplier":"openai","apiKey":"sk-marker-4711"}"#);
        assert!(matches!(text.api_key, KeyChange::Set(_)));
        assert!(!format!("{text:?}").contains("marker"));
    }
}
