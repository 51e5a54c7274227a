//! Every type that crosses a wire. Plain data: no logic beyond construction, no IO.

mod account;
mod agent;
mod audit;
mod channel;
mod command;
#[cfg(feature = "typescript")]
mod entry;
mod event;
mod id;
mod message;
mod model;
mod session;
mod settings;
mod snapshot;
mod stamp;
mod tool;
mod trouble;

pub use account::{
    Login, NewUser, Role, Token, TokenIssued, TokenScope, TokenSpec, User, UserSpec, UserStatus,
};
pub use agent::{
    Agent, AgentSpec, ModelConfig, ModelFallback, SubagentConfig, ToolChoice, ToolOverride,
};
pub use audit::{AuditAction, AuditPage, AuditRecord, RecordKind};
pub use channel::{ChannelSpec, ChannelStatus, ChannelTest, ChannelView, ChannelWrite, KeyChange};
pub use command::{
    Attachment, Chat, ChatAck, ChatMode, ClarifyResponse, Disposition, ErrorCode, Fork, Forked,
    Nothing, QueueChange, QueueEdit, QueueEdited, Refusal, Rename, Renamed, SessionOpen,
    SessionRef, SetLabel, SetModel, SetThinkingLevel, Stopped, SwitchLeaf, command_name,
};
#[cfg(feature = "typescript")]
pub use entry::{Entry, EntryBody, EntryMessage, MessageMark};
pub use event::{
    ApprovalQuestion, CompactionDone, CompactionError, CompactionReason, CompactionStart,
    ContextMeter, DeltaEvent, Done, EntryAdded, Envelope, LeafChanged, PartDelta, PartKind,
    Question, QueueItem, QueueState, ReliableEvent, RunError, RunOutcome, RunPhase, RunState,
    RunStatus, SessionUpdated, StreamEnd, StreamStart, ThinkingDone, TodoItem, TodoList,
    TodoStatus, TokenTotals, TokenUpdate, ToolCallCompleted, ToolCallStarted, ToolOutput,
    ToolRoute,
};
pub use id::{
    AgentId, ChannelId, DictInfoId, DictTypeId, EntryId, RunId, SessionId, TokenId, UserId,
};
pub use message::{
    AssistantMessage, ContentBlock, Cost, Message, StopReason, ToolResultMessage, Usage,
    UserContent, UserMessage,
};
pub use model::{ChannelModel, InfoSource, ModelInfo, ModelPrice, Supplier, ThinkingLevel};
pub use session::{ModelRef, ProviderKind, SessionMeta, SessionPage, SessionStatus};
pub use settings::{DictInfo, DictInfoSpec, DictType, DictTypeSpec, Setting};
pub use snapshot::{LiveSnapshot, OpenMode, OpenTool, Opened, StreamingAnswer, StreamingPart};
pub use stamp::Stamp;
pub use tool::{
    ApprovalMode, DisabledCode, DisabledTool, EffectiveTools, PolicyLayer, ToolCategory,
    ToolDiagnostic, ToolLabel, ToolRisk, ToolStatus, ToolWarning,
};
pub use trouble::{Severity, Trouble, TroubleKind, Words};
