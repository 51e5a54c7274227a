//! The session of a run, as an interface for the loop.

use crate::answer::AnswerSoFar;
use crate::event::{RunEvent, ToolStep};
use async_trait::async_trait;
use futures::future::BoxFuture;
use netaclaw_governance::{Approval, ApprovalRequest};
use netaclaw_models::payload::{ContextPayload, read_context};
use netaclaw_models::{ModelError, SystemPrompt, ToolDefinition};
use netaclaw_protocol::{EntryId, ForeignContent, ModelInfo, ThinkingLevel, TodoList};
use netaclaw_session::{ContextMessage, Entry, EntryBody, SessionContext};
use netaclaw_tools::{ClarifyAnswer, ClarifyQuestion};
use tokio_util::sync::CancellationToken;

/// What a run needs of its session.
///
/// The contract:
/// - A run has a chain of its own. It begins at the entry the run was started from; every `append`
///   becomes a child of the one before and moves the chain, wherever the session's leaf is by then,
///   so that a user who switches branches does not redirect a run. Entries appear in the order of
///   the calls, so that the log has the order that models require.
/// - The loop makes one call at a time and waits for it, so two methods of an implementation never
///   run at once.
/// - After a [`HostError`] the loop writes nothing more and ends the run.
/// - No method but `before_model_call`, `before_tool_call` and `on_overflow` may wait for a user, a
///   model or other processes. Those three get the run's token and return soon after it is cancelled.
/// - What is stored does not depend on whether clients are connected.
#[async_trait]
pub trait RunHost: Send {
    /// What the model sees at the end of the chain. Asked before every model call, so that a
    /// compaction, an edit or a new thinking level counts from the next call on.
    async fn context(&mut self) -> Result<RunContext, HostError>;

    /// Draws an id that no entry of the session has or will get, for an answer or a result that
    /// users see before it is stored.
    fn next_entry_id(&mut self) -> EntryId;

    /// Appends to the chain, as durable as the session's setting requires, and returns the entry.
    /// `id` is one of [`RunHost::next_entry_id`], or `None` to have one drawn. The host publishes
    /// the entry; no event of the loop repeats it.
    async fn append(&mut self, id: Option<EntryId>, body: EntryBody) -> Result<Entry, HostError>;

    /// Publishes an event to users. Never blocks, never fails.
    fn emit(&mut self, event: RunEvent);

    /// Whether a run that is cancelled now is cancelled because the server stops, and not by a user.
    fn is_shutting_down(&self) -> bool {
        false
    }

    /// A step of a tool call: for users, and for the log of all steps. May wait until the log can
    /// accept more, so that a flood slows down its source; never fails the run.
    async fn tool_step(&mut self, step: ToolStep);

    /// An answer has grown since it was last asked to be kept. Called four times a second at most,
    /// and once more when the model pauses; the host keeps the answer without holding up the run.
    fn answer_progress(&mut self, so_far: &AnswerSoFar);

    /// Moves the messages that wait as steering to the end of the chain, in one durable step, so
    /// that a crash neither loses nor doubles one. Returns how many there were. Asked after every
    /// answer, and after its tools.
    async fn insert_steering(&mut self) -> Result<usize, HostError>;

    /// Stores a question, shows it, and returns what will be its answer. The question stays open
    /// until the future is ready or the run has ended; only the host decides on a time-out.
    async fn open_question(
        &mut self,
        question: ClarifyQuestion,
    ) -> Result<BoxFuture<'static, ClarifyAnswer>, HostError>;

    /// Asks a user to approve a call, unless a user has approved this very call before for the
    /// whole session. Like a question it stays open until the future is ready or the run has ended,
    /// and only a user answers it.
    async fn open_approval(&mut self, request: ApprovalRequest) -> Result<OpenApproval, HostError>;

    /// Comes before every model call and may compact first.
    async fn before_model_call(&mut self, _call: &ModelCall<'_>) -> Result<(), HostError> {
        Ok(())
    }

    /// Comes before it is decided whether a tool call may run. Waits while this process must not act.
    async fn before_tool_call(&mut self, _cancel: &CancellationToken) {}

    /// The model reports that the context is too long. The host may make it shorter and have the
    /// call repeated; the loop calls this once, and not again before an answer has arrived.
    async fn on_overflow(
        &mut self,
        _call: &ModelCall<'_>,
        _error: &ModelError,
    ) -> Result<Overflow, HostError> {
        Ok(Overflow::GiveUp)
    }
}

/// The outcome of an approval request.
pub enum OpenApproval {
    Remembered(Approval),
    Asked(BoxFuture<'static, Approval>),
}

/// The projection of the chain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunContext {
    pub payload: ContextPayload,
    /// Messages of it from here on came after the last compaction or edit.
    pub fresh_from: usize,
    pub thinking: ThinkingLevel,
    /// The list in force at the end of the chain, see [`crate::todo_on_path`].
    pub todo: TodoList,
    /// Its external content. It decides which calls of the answer need approval.
    pub foreign: ForeignContent,
}

impl RunContext {
    /// Reads what the session kernel has projected.
    pub fn read(context: &SessionContext<'_>, todo: TodoList, foreign: ForeignContent) -> Self {
        let (before, fresh) = context.messages.split_at(context.fresh_from);
        let read = |messages: &[ContextMessage<'_>]| {
            let messages: Vec<_> = messages.iter().map(|message| message.json()).collect();
            read_context(messages.iter().map(|json| json.as_ref()))
        };
        let mut payload = read(before);
        let fresh_from = payload.messages.len();
        payload.append(read(fresh));
        Self {
            payload,
            fresh_from,
            // Files of other programs may name levels that NetaClaw does not have.
            thinking: ThinkingLevel::from_name(&context.thinking_level).unwrap_or_default(),
            todo,
            foreign,
        }
    }
}

/// The model call that is about to be made, or has just failed.
#[derive(Clone, Copy, Debug)]
pub struct ModelCall<'a> {
    /// Counted from 1.
    pub turn: u32,
    pub model: &'a ModelInfo,
    /// What comes on top of the messages in every request: it counts towards the window.
    pub system: &'a SystemPrompt,
    pub tools: &'a [ToolDefinition],
    pub cancel: &'a CancellationToken,
}

/// What to do about a context that is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    GiveUp,
    /// The context is shorter now; ask the model again.
    Retry,
}

/// The session cannot be read or written, so the run has to end. Users read the text; the cause is
/// for the log.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The same may work later.
    #[error("the session cannot be read or written right now")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// No run can continue from here.
    #[error("the session is damaged here; continue from another entry")]
    Damaged(#[source] Box<dyn std::error::Error + Send + Sync>),
}
