//! The port as a whole.

use crate::agent::AgentStore;
use crate::approval::ApprovalStore;
use crate::audit::AuditStore;
use crate::channel::ChannelStore;
use crate::defaults::FirstStart;
use crate::dictionary::DictionaryStore;
use crate::error::Result;
use crate::mcp::McpStore;
use crate::memory::MemoryStore;
use crate::setting::SettingStore;
use crate::snapshot::ConfigSnapshot;
use crate::token::TokenStore;
use crate::tool::ToolStore;
use crate::user::UserStore;
use async_trait::async_trait;
use netaclaw_protocol::AdminStoreKind;
use std::sync::Arc;

/// The configuration.
///
/// The contract, which `contract` tests for every implementation:
/// - A change is atomic, and durable when it has been answered.
/// - A change to another revision than the expected one writes nothing.
/// - Changes are serialized, also those of several processes on the same store.
/// - A channel's key is encrypted before it is written, and is in no answer but
///   [`ChannelStore::open_channel`]'s. A key that cannot be decrypted is an error that names the
///   channel.
/// - The audit log has every change, without values; but not agents' memories.
#[async_trait]
pub trait AdminStore:
    AgentStore
    + ChannelStore
    + ToolStore
    + McpStore
    + DictionaryStore
    + SettingStore
    + UserStore
    + TokenStore
    + MemoryStore
    + ApprovalStore
    + AuditStore
{
    /// Does once what a first start has to do. Of several processes that start at the same time
    /// one does it, and the others wait until it is done.
    async fn seed(&self, first: FirstStart) -> Result<Seeded>;

    /// What runs are made from, all of it of one revision. It has every change that was made
    /// through this store, and those that other processes made more than a second ago. Cheap, and
    /// the same value until something changes; an error if the store cannot determine whether
    /// something has.
    async fn config_snapshot(&self) -> Result<Arc<ConfigSnapshot>>;

    /// What keeps it.
    fn kind(&self) -> AdminStoreKind;

    /// Whether the store answers.
    async fn ping(&self) -> Result<()>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seeded {
    Now,
    /// Some start before this one did it; nothing was touched.
    Before,
}

/// Which state of a record a change is meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    Rev(u64),
    /// Whatever is there.
    Any,
}
