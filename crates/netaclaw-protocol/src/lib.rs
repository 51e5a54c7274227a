//! Every type that crosses a wire. Plain data: no logic beyond construction, no IO.

mod about;
mod account;
mod agent;
mod approval;
mod attachment;
mod audit;
mod channel;
mod client_command;
mod command;
mod compaction;
#[cfg(feature = "typescript")]
mod entry;
mod event;
mod foreign;
mod id;
mod listing;
mod localized;
mod mcp;
mod memory;
mod message;
mod model;
mod process;
mod reason;
mod schema;
mod session;
mod settings;
mod skill;
mod snapshot;
mod stamp;
mod time;
mod tool;
mod transcript;

pub use about::{About, AdminStoreKind, ApiProblem, PROTOCOL};
pub use account::{
    Login, Me, NewUser, OwnPassword, Role, Token, TokenIssued, TokenScope, TokenSpec, User,
    UserSpec, UserStatus, UserWrite,
};
pub use agent::{
    Agent, AgentBrief, AgentListItem, AgentPreview, AgentSpec, MissingSandbox, ModelConfig,
    ModelFallback, PromptLayer, PromptPreview, SandboxConfig, SubagentConfig, ToolChoice,
    ToolOverride,
};
pub use approval::{
    ApprovalGrant, ApprovalListItem, ApprovalOffer, ApprovalScope, ApprovalUse, ApprovalUsed,
    ApprovalWithin, StandingApproval, StandingApprovals,
};
pub use attachment::{Attachment, AttachmentKind, SentAttachment, UploadedFile};
pub use audit::{AuditAction, AuditPage, AuditRecord, RecordKind};
pub use channel::{
    ChannelModels, ChannelSpec, ChannelStatus, ChannelTest, ChannelTry, ChannelView, ChannelWrite,
    KeyChange,
};
pub use client_command::{Ack, ClientCommand, Command};
pub use command::{
    AcceptEdits, ApprovalDecision, ApprovalResponse, COMMAND_BYTES_MAX, Chat, ChatAck, ChatMode,
    ChatModel, ClarifyResponse, DismissCompaction, Disposition, ErrorCode, FeedStart, Fork, Forked,
    Nothing, Ping, QueueChange, QueueEdit, QueueEdited, Refusal, Rename, Renamed, Retried, Retry,
    RevokeApproval, SessionClose, SessionListFilter, SessionOpen, SessionsWatch, SetLabel,
    SetModel, SetThinkingLevel, Stop, Stopped, SwitchLeaf, SwitchLeafAck, SwitchStatus,
};
pub use compaction::{
    Compact, CompactAck, CompactStatus, CompactionDetails, CompactionDone, CompactionError,
    CompactionFailed, CompactionFault, CompactionProgress, CompactionReason, CompactionStart,
    CompactionUnderWay, ContextBreakdown, ContextPart, ContextShare, LedgerLine,
};
#[cfg(feature = "typescript")]
pub use entry::{Entry, EntryBody, EntryMessage, MessageMark};
pub use event::{
    ApprovalDecided, ApprovalOutcome, ApprovalQuestion, ClarifyAnswered, ClarifyOutcome,
    ContextMeter, DeltaEvent, Done, EntryAdded, Envelope, LeafChanged, LegacyEvent, Notice,
    NoticeEnvelope, PartDelta, PartKind, Question, QueueItem, QueueState, QueueUpdate,
    QueueUpdateItem, ReliableEvent, ResyncReason, RetryNotice, RunError, RunOutcome, RunPhase,
    RunState, RunStatus, SessionListChange, SessionResync, SessionUpdated, StreamEnd, StreamStart,
    Thinking, ThinkingDone, TodoItem, TodoList, TodoStatus, TokenTotals, TokenUpdate,
    ToolCallCompleted, ToolCallStarted, ToolOutput, ToolRoute,
};
pub use foreign::{ForeignContent, ForeignKind, ForeignNote, ForeignSource};
pub use id::{
    AgentId, ChannelId, DictInfoId, DictTypeId, EntryId, McpServerId, MemoryId, RunId, SessionId,
    TokenId, UserId,
};
pub use listing::Listing;
pub use localized::{Language, LocalizedError, LocalizedErrorKind, LocalizedText, Severity};
pub use mcp::{
    McpFault, McpFaultCode, McpServerInfo, McpServerSpec, McpServerState, McpServerTest,
    McpServerTry, McpServerView, McpServerWrite, McpStatus, McpToolSummary, McpTransport,
};
pub use memory::{Memory, MemoryAuthor, MemorySpec, MemoryStatus};
pub use message::{
    AnswerMark, AssistantMessage, CallMark, ContentBlock, Cost, Message, StopReason,
    ToolResultMessage, Usage, UserContent, UserMessage,
};
pub use model::{
    AgentModel, ChannelModel, InfoSource, ModelInfo, ModelLookup, ModelPrice, Supplier,
    SupplierOption, ThinkingLevel,
};
pub use process::{
    ProcessLevel, ProcessLogKind, ProcessLogPage, ProcessLogRef, ProcessSource, ProcessStatus,
    ProcessTarget, ProcessTimeline, Progress, RuntimeProcessEvent, STEPS_FIRST, STEPS_LAST,
    SkillEnd, SkillStart, ToolExecution, ToolExecutionStatus, ToolProcessEvent,
};
pub use reason::{
    BadRequest, Busy, CallEnd, CompactionProblem, Conflict, FieldProblem, Forbidden, InternalError,
    LimitedText, ModelChoiceError, ModelProblem, ModelRemedy, NamedBy, NotFound, NotReady,
    ReadOnly, Reason, RunTrouble, SessionDamage, SkillProblem, StaleParent, StoreFault, StorePart,
    StuckPattern, SummaryFlaw, TooLarge, TooMany, Unauthorized, Unavailable, UsedBy,
};
pub use schema::{SharedSchema, SharedText};
pub use session::{
    ForkRequest, ModelRef, ProviderKind, SessionChange, SessionInfo, SessionList, SessionListItem,
    SessionMeta, SessionPage, SessionStatus,
};
pub use settings::{
    DictInfo, DictInfoSpec, DictType, DictTypeSpec, DictValue, Setting, SettingWrite,
};
pub use skill::{
    SkillDetail, SkillInputTexts, SkillProblemView, SkillSource, SkillState, SkillTexts,
    SkillTried, SkillTry, SkillView,
};
pub use snapshot::{
    EntryLabel, LiveSnapshot, OpenMode, OpenTool, Opened, StoredSnapshot, StreamingAnswer,
    StreamingPart,
};
pub use stamp::Stamp;
pub use time::now_ms;
pub use tool::{
    ApprovalMode, DisabledCode, DisabledTool, EffectiveTools, PolicyLayer, ToolCategory,
    ToolDetail, ToolDiagnostic, ToolInfo, ToolIsolation, ToolLabel, ToolRecord, ToolRisk,
    ToolStatus, ToolSwitch, ToolUser, ToolWarning, ToolsChanged,
};
pub use transcript::{ContextMessages, EntryPage, SessionMessages, SessionTreeView, TreeEntry};
