//! A channel: one configured route to a supplier.

use crate::catalogue;
use crate::error::{Detail, ModelError};
use netaclaw_protocol::{ChannelModel, ModelInfo, Supplier};
use reqwest::Url;
use secrecy::SecretString;

/// Endpoint, credential and models. The key is never printed: its type does not let it.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Also the `provider` of the answers that come through this channel.
    pub name: String,
    pub supplier: Supplier,
    /// `None` is the supplier's own address.
    pub base_url: Option<String>,
    pub api_key: Option<SecretString>,
    pub models: Vec<ChannelModel>,
    pub is_auxiliary: bool,
    pub status: ChannelStatus,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChannelStatus {
    #[default]
    Enabled,
    Disabled,
}

impl Channel {
    pub fn new(name: impl Into<String>, supplier: Supplier) -> Self {
        Self {
            name: name.into(),
            supplier,
            base_url: None,
            api_key: None,
            models: Vec::new(),
            is_auxiliary: false,
            status: ChannelStatus::Enabled,
        }
    }

    /// The data of one of the channel's models: its own entry first, then the catalog, then a guess
    /// that is marked as one.
    pub fn model_info(&self, model: &str) -> ModelInfo {
        catalogue::resolve(self, model).info
    }

    /// The address of the chat endpoint, if the channel uses OpenAI's API. For programs that call
    /// the model themselves.
    pub fn openai_chat_url(&self) -> Option<String> {
        let speaks = catalogue::supplier(self.supplier).api == catalogue::ApiFamily::OpenaiChat;
        let url = speaks.then(|| self.endpoint("chat/completions"))?;
        Some(url.ok()?.to_string())
    }

    /// The address of one of the API's functions, such as `chat/completions`.
    pub(crate) fn endpoint(&self, path: &str) -> Result<Url, ModelError> {
        let supplier = catalogue::supplier(self.supplier);
        let base = self.base_url.as_deref().map(str::trim).unwrap_or_default();
        let base = if base.is_empty() {
            supplier.base_url
        } else {
            base
        };
        join(base, path).ok_or_else(|| {
            // The address may hold a key in its query, so it is not repeated here.
            ModelError::WrongAddress(Detail::text("the base URL is not a valid http address"))
        })
    }
}

/// Appends `path` to `base`. A query, which Azure requires, stays at the end; an address that
/// contains the endpoint already is used as it is.
fn join(base: &str, path: &str) -> Option<Url> {
    let mut url = Url::parse(base).ok()?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return None;
    }
    let prefix = url.path().trim_end_matches('/').to_owned();
    let known = ["/chat/completions", "/messages"];
    let prefix = known
        .into_iter()
        .find_map(|end| prefix.strip_suffix(end))
        .unwrap_or(&prefix);
    // Both `…/v1` and the bare host are usual for APIs whose functions begin with `v1/`.
    let path = match path.strip_prefix("v1/") {
        Some(rest) if prefix.ends_with("/v1") => rest,
        _ => path,
    };
    url.set_path(&format!("{prefix}/{path}"));
    Some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_joined_as_people_write_them() {
        for (base, path, expected) in [
            (
                "https://api.openai.com/v1",
                "chat/completions",
                "https://api.openai.com/v1/chat/completions",
            ),
            (
                "https://api.openai.com/v1/",
                "models",
                "https://api.openai.com/v1/models",
            ),
            (
                "http://localhost:1/v1/chat/completions",
                "models",
                "http://localhost:1/v1/models",
            ),
            (
                "https://api.anthropic.com",
                "v1/messages",
                "https://api.anthropic.com/v1/messages",
            ),
            (
                "https://h/anthropic/v1/",
                "v1/messages",
                "https://h/anthropic/v1/messages",
            ),
            (
                "https://r.openai.azure.com/openai/deployments/d?api-version=2026-01-01",
                "chat/completions",
                "https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=2026-01-01",
            ),
        ] {
            assert_eq!(
                join(base, path).map(String::from).as_deref(),
                Some(expected)
            );
        }
        for bad in ["", "localhost:11434", "ftp://h/", "not a url", "http://"] {
            assert_eq!(join(bad, "models"), None, "{bad}");
        }
    }

    #[test]
    fn a_channel_can_be_printed_without_its_key() {
        let mut channel = Channel::new("mine", Supplier::Openai);
        channel.api_key = Some("sk-marker-0815".into());
        assert!(!format!("{channel:?}").contains("marker"));
    }
}
