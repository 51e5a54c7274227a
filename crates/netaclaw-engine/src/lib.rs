//! Live sessions: one actor each, with its queue, event numbering, replay ring and snapshot. What
//! the gateway and the command line call.

mod attachments;
mod compaction;
mod error;
mod events;
mod metrics;
mod process_log;
mod server;
mod session;
mod skills;
mod source;
mod store_fault;

pub use attachments::{
    AttachmentError, AttachmentStore, IMAGE_BYTES_MAX, StoredFile, inspect, owner_of,
};
pub use compaction::{
    CompactionPreview, CompactionSetup, Overhead, PreviewOutcome, PreviewedMessage,
};
pub use error::EngineError;
pub use events::event::{EventGroup, EventKind, ServerEvent, TypedEvent};
pub use events::feed::{Subscriber, SubscriptionId};
pub use events::wire::{entry_image, wire_entries, wire_log};
pub use process_log::ProcessLogs;
pub use server::limits::{
    LABEL_CHARS_MAX, Limited, REQUEST_ID_CHARS_MAX, TITLE_CHARS_MAX, UserLimits,
};
pub use server::listing::ListSubscriber;
pub use server::{
    Caller, Engine, EngineOptions, Providers, UpdateSession, acknowledge, request_key,
};
pub use session::command::Handle;
pub use session::requests::Request;
pub use session::slash::is_compact_command;
pub use session::title::TitleModel;
pub use session::{AGENT_DIRECTORY, AGENT_ENTRY};
pub use skills::{SKILL_ENTRY, SkillCommand, SkillInput, SkillOpening, skill_call_id};
pub use source::{
    AgentRef, AgentSource, ApprovalAct, ApprovalLifetime, ChosenModel, Measure, PrepareRun,
    PreparedRun, Runner, ToolsToApprove,
};
pub use store_fault::{StoreFailure, store_fault_behind};
