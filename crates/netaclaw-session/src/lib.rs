//! The session tree: a conversation as an append-only log of immutable entries.
//!
//! Everything here but the port is pure and synchronous: no clock, no random numbers, no IO.
//! Entries keep the exact text they were read from, so that whatever NetaClaw does not
//! understand survives loading, copying and migrating.

mod admit;
mod body;
mod context;
#[cfg(feature = "contract")]
pub mod contract;
mod entry;
mod error;
mod fork;
mod header;
mod json;
mod log;
mod metadata;
mod migrate;
mod navigation;
mod path;
mod provider;
mod request;
mod snapshot;
mod time;
mod tokens;
mod tree;

pub use admit::{check_append, check_format};
pub use body::{EntryBody, RawJson, encode_entry, raw_json};
pub use context::{ContextMessage, SessionContext, build_session_context, folded_count};
pub use entry::{Entry, EntryKind, Role};
pub use error::{LogError, PathError, SessionError, SettingsError};
pub use fork::{ForkedEntries, fork_entries};
pub use header::{FORMAT_VERSION, Header, NewHeader, encode_header};
pub use log::{
    LEAF_MARKER, LogChunk, META_RECORD, MetaRecord, SessionLog, encode_leaf_marker,
    encode_meta_record,
};
pub use metadata::MetadataChange;
pub use navigation::{LastVisited, NavigationTree};
pub use path::{
    EntryIndex, build_entry_index, common_ancestor, group_children_by_parent, latest_labels,
    path_to_leaf, session_name,
};
pub use provider::{
    Claim, ExpectedLeaf, Flush, ImportSession, InFlightEntry, NewEntry, NewParent, NewSession,
    PageRequest, SessionFilter, SessionPatch, SessionTreeProvider, is_purgeable,
};
pub use request::RequestKey;
pub use snapshot::{Snapshot, build_snapshot};
pub use time::{format_timestamp, parse_timestamp};
pub use tokens::{ContextTokens, estimate_context_tokens, estimate_message_tokens};
pub use tree::{Label, SessionTree};

pub use netaclaw_protocol::{
    EntryId, ModelRef, ProviderKind, SessionDamage, SessionId, SessionMeta, SessionPage,
    SessionStatus,
};
