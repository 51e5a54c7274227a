//! Every type that crosses a wire. Plain data: no logic beyond construction, no IO.

mod id;
mod message;
mod session;

pub use id::{EntryId, SessionId};
pub use message::{
    AssistantMessage, ContentBlock, Cost, Message, StopReason, ToolResultMessage, Usage,
    UserContent, UserMessage,
};
pub use session::{ModelRef, ProviderKind, SessionMeta, SessionPage, SessionStatus};
