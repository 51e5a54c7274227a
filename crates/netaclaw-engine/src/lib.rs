//! Live sessions: one actor each, with its queue, event numbering, replay ring and snapshot. What
//! the gateway and the command line call.

mod attachments;
mod command;
mod compaction;
mod durable;
mod early_stops;
mod ending;
mod engine;
mod error;
mod event;
mod expiry;
mod feed;
mod foreign;
mod gates;
mod host;
mod limits;
mod listing;
mod live;
mod meter;
mod metrics;
mod partial;
mod process_log;
mod questions;
mod recover;
mod requests;
mod ring;
mod session;
mod skills;
mod snapshot;
mod source;
mod steps;
mod store_fault;
mod sweep;
mod tally;
mod title;
mod trace;
mod user_message;
mod watchdog;
mod wire;
mod writer;

pub use attachments::{
    AttachmentError, AttachmentStore, IMAGE_BYTES_MAX, StoredFile, inspect, owner_of,
};
pub use command::Way;
pub use compaction::{CompactionPreview, CompactionSetup, Overhead, Previewed, PreviewedMessage};
pub use engine::{Caller, Engine, Providers};
pub use error::EngineError;
pub use event::{EventGroup, EventKind, ServerEvent};
pub use feed::{Subscriber, SubscriptionId};
pub use limits::{LABEL_CHARS_MAX, Limited, REQUEST_ID_CHARS_MAX, TITLE_CHARS_MAX, UserLimits};
pub use listing::ListSubscriber;
pub use process_log::ProcessLogs;
pub use requests::{Done, Request};
pub use skills::{SKILL_ENTRY, SkillCommand, SkillInput, SkillOpening, skill_call_id};
pub use source::{
    AgentRef, AgentSource, ChosenModel, ConsentAct, ConsentScope, Measure, PrepareRun, PreparedRun,
    Runner,
};
pub use store_fault::{StoreFailure, StoreFault};
pub use title::TitleModel;
pub use wire::{entry_image, wire_entries};
