//! The configuration at one revision of the store.

use crate::channel::model_channel;
use crate::error::{AdminError, Result};
use crate::mcp::McpSecrets;
use crate::nearest::nearest;
use netaclaw_models::Channel;
use netaclaw_protocol::{
    Agent, ChannelId, ChannelView, DictType, McpServerSpec, RecordKind, Setting, ToolRecord,
};
use secrecy::SecretString;
use serde_json::Value;
use std::collections::HashMap;

/// Everything that runs are made from. Immutable: a change creates another snapshot, with a higher
/// revision.
#[derive(Debug, Default)]
pub struct ConfigSnapshot {
    pub revision: u64,
    pub agents: Vec<Agent>,
    /// Those whose rows cannot be read. The others can still run.
    pub unreadable: Vec<UnreadableAgent>,
    pub channels: Vec<ChannelView>,
    pub tools: Vec<ToolRecord>,
    /// Of the channels that have one.
    pub keys: HashMap<ChannelId, ChannelKey>,
    pub mcp_servers: Vec<ConfiguredMcpServer>,
    pub dictionary: Vec<DictType>,
    pub settings: Vec<Setting>,
}

/// An MCP server with what is needed to connect to it.
#[derive(Clone, Debug)]
pub struct ConfiguredMcpServer {
    pub spec: McpServerSpec,
    /// `None` if they cannot be decrypted with the key of this server.
    pub secrets: Option<McpSecrets>,
}

/// An agent that another version has written, or that was edited by hand.
#[derive(Debug)]
pub struct UnreadableAgent {
    pub id: String,
    pub name: String,
    pub why: String,
}

#[derive(Debug)]
pub enum ChannelKey {
    Open(SecretString),
    /// It cannot be decrypted with the key of this server.
    Sealed,
}

impl ConfigSnapshot {
    /// By id or by name; `None` is the default agent.
    pub fn agent(&self, wanted: Option<&str>) -> Result<&Agent> {
        let find = |is_it: &dyn Fn(&Agent) -> bool| self.agents.iter().find(|agent| is_it(agent));
        let found = match wanted {
            None => find(&|agent| agent.spec.is_default),
            Some(wanted) => find(&|agent| agent.id.as_str() == wanted)
                .or_else(|| find(&|agent| agent.spec.name == wanted)),
        };
        let unreadable = self
            .unreadable
            .iter()
            .find(|agent| wanted.is_some_and(|wanted| wanted == agent.id || wanted == agent.name));
        if let (None, Some(UnreadableAgent { name, why, .. })) = (found, unreadable) {
            let what = format!("the row of the agent {name:?} cannot be read");
            return Err(AdminError::store(what, why.clone()));
        }
        let names = self.agents.iter().map(|agent| agent.spec.name.as_str());
        found.ok_or_else(|| AdminError::NotFound {
            kind: RecordKind::Agent,
            name: wanted.unwrap_or("default").to_owned(),
            nearest: wanted.and_then(|wanted| nearest(wanted, names).map(str::to_owned)),
        })
    }

    /// The value of a dictionary entry; `None` if it is absent or empty.
    pub fn dict_value(&self, group: &str, name: &str) -> Option<&str> {
        let group = self
            .dictionary
            .iter()
            .find(|known| known.spec.key == group)?;
        let entry = group.entries.iter().find(|entry| entry.spec.name == name)?;
        Some(entry.spec.value.as_str()).filter(|value| !value.is_empty())
    }

    /// The value of a setting, if it is set.
    pub fn setting(&self, name: &str) -> Option<&Value> {
        let setting = self.settings.iter().find(|setting| setting.name == name)?;
        Some(&setting.value)
    }

    /// A channel with its key.
    pub(crate) fn open_channel(&self, id: &ChannelId) -> Result<Channel> {
        let channel = self.channels.iter().find(|channel| channel.id == *id);
        let spec = match channel {
            Some(channel) => &channel.spec,
            None => {
                return Err(AdminError::NotFound {
                    kind: RecordKind::Channel,
                    name: id.as_str().to_owned(),
                    nearest: None,
                });
            }
        };
        let key = match self.keys.get(id) {
            None => None,
            Some(ChannelKey::Open(key)) => Some(key.clone()),
            Some(ChannelKey::Sealed) => {
                return Err(AdminError::Sealed {
                    channel: spec.name.clone(),
                });
            }
        };
        Ok(model_channel(spec, key))
    }
}
