//! What is asked of one session and answered by it alone.

use super::{Caller, Engine};
use crate::error::EngineError;
use crate::server::limits::{LABEL_CHARS_MAX, check_length};
use crate::session::command::{Command, Way};
use crate::session::requests::{Done, Request};
use netaclaw_protocol::{
    ApprovalResponse, ClarifyResponse, EntryId, QueueChange, QueueState, RunId, RunState,
    SessionId, SetModel, SwitchStatus, ThinkingLevel,
};

impl Engine {
    pub async fn stop(
        &self,
        caller: &Caller,
        session: &SessionId,
    ) -> Result<RunState, EngineError> {
        self.ask(caller, session, Command::Stop).await
    }

    pub async fn set_thinking_level(
        &self,
        caller: &Caller,
        session: &SessionId,
        level: ThinkingLevel,
        request: Option<Request>,
    ) -> Result<Done<()>, EngineError> {
        self.ask(caller, session, |reply| {
            Command::SetThinkingLevel(level, request, reply)
        })
        .await
    }

    pub async fn set_model(
        &self,
        caller: &Caller,
        choice: SetModel,
        request: Option<Request>,
    ) -> Result<Done<()>, EngineError> {
        let session = choice.session_id.clone();
        self.ask(caller, &session, |reply| {
            Command::SetModel(choice, request, reply)
        })
        .await
    }

    pub async fn answer_question(
        &self,
        caller: &Caller,
        answer: ClarifyResponse,
    ) -> Result<Done<()>, EngineError> {
        let session = answer.session_id.clone();
        self.ask(caller, &session, |reply| {
            Command::AnswerQuestion(answer, reply)
        })
        .await
    }

    /// Agrees to a call that waits for it, or refuses it.
    pub async fn decide_call(
        &self,
        caller: &Caller,
        response: ApprovalResponse,
    ) -> Result<(), EngineError> {
        let session = response.session_id.clone();
        self.ask(caller, &session, |reply| {
            Command::DecideCall(caller.clone(), response, reply)
        })
        .await
    }

    pub async fn switch_leaf(
        &self,
        caller: &Caller,
        session: &SessionId,
        leaf: Option<EntryId>,
        way: Way,
        request: Option<Request>,
    ) -> Result<Done<()>, EngineError> {
        self.ask(caller, session, |reply| {
            Command::SwitchLeaf(leaf, way, request, reply)
        })
        .await
    }

    /// The same, with a summary of what is left behind, written where one goes on. It is answered when
    /// that has begun; a stop ends it, and then nothing has moved.
    pub async fn leave_branch(
        &self,
        caller: &Caller,
        session: &SessionId,
        leaf: Option<EntryId>,
        way: Way,
        request: Option<Request>,
    ) -> Result<Done<SwitchStatus>, EngineError> {
        self.ask(caller, session, |reply| {
            Command::LeaveBranch(leaf, way, request, reply)
        })
        .await
    }

    pub async fn label(
        &self,
        caller: &Caller,
        session: &SessionId,
        entry: EntryId,
        label: Option<String>,
        request: Option<Request>,
    ) -> Result<Done<()>, EngineError> {
        if let Some(label) = &label {
            check_length(("标签", "label"), label, LABEL_CHARS_MAX)?;
        }
        self.ask(caller, session, |reply| {
            Command::Label(entry, label, request, reply)
        })
        .await
    }

    /// Starts another answer to a message of the user, beside those it has.
    pub async fn retry(
        &self,
        caller: &Caller,
        session: &SessionId,
        entry: EntryId,
        request: Option<Request>,
    ) -> Result<Done<RunId>, EngineError> {
        self.ask(caller, session, |reply| {
            Command::Retry(entry, request, reply)
        })
        .await
    }

    pub async fn edit_queue(
        &self,
        caller: &Caller,
        session: &SessionId,
        change: QueueChange,
        request: Option<Request>,
    ) -> Result<Done<QueueState>, EngineError> {
        self.ask(caller, session, |reply| {
            Command::EditQueue(change, request, reply)
        })
        .await
    }
}
