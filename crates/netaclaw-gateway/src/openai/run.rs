//! One API call: a new session with the earlier messages, and a run.

use super::feed::{RunEvent, RunFeed};
use super::request::Conversation;
use super::transcript::{AnswerEnding, Step, Transcript};
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::rest::session_provider;
use netaclaw_engine::{Caller, SubscriptionId, is_compact_command};
use netaclaw_protocol::{
    ApprovalDecision, ApprovalResponse, BadRequest, Chat, SessionId, SessionOpen, Stop,
    Unavailable, Usage,
};
use netaclaw_session::NewEntry;
use std::sync::Arc;
use tokio::sync::mpsc;

/// What happens to a run whose client has disconnected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnDisconnect {
    /// It goes on: its answer is in its session.
    GoesOn,
    Stops,
}

/// A run and what is read of it.
pub(super) struct Run {
    pub(super) session_id: SessionId,
    shared: Arc<Shared>,
    caller: Caller,
    subscription: SubscriptionId,
    events: mpsc::Receiver<RunEvent>,
    transcript: Transcript,
    abandoned: OnDisconnect,
    over: bool,
}

/// A piece of the answer.
pub(super) enum Piece {
    Text(String),
    End(AnswerEnding),
}

/// What the model reads of a call that needs consent.
const NO_APPROVER: &str = "the request came through the OpenAI-compatible API, where there is \
                             no user to ask. Continue without this call.";

impl Run {
    pub(super) async fn start(
        shared: &Arc<Shared>,
        caller: Caller,
        agent: &str,
        conversation: Conversation,
        abandoned: OnDisconnect,
    ) -> Result<Self, ApiError> {
        let engine = &shared.engine;
        if is_compact_command(&conversation.text) {
            return Err(BadRequest::CompactByOpenAi.into());
        }
        let chat = Chat {
            agent_name: Some(agent.to_owned()),
            content: conversation.text,
            attachments: conversation.attachments,
            ..Chat::default()
        };
        let session_id = engine.begin_session(&caller, &chat).await?;
        let (provider, _) = session_provider(shared, &caller, &session_id).await?;
        for body in conversation.before {
            let entry = NewEntry::at_leaf(body);
            provider.append_entry(&session_id, entry).await?;
        }
        let (feed, events) = RunFeed::new();
        let open = SessionOpen::of(&session_id);
        let (_, subscription) = engine.open(&caller, open, Arc::new(feed)).await?;
        let chat = Chat {
            session_id: Some(session_id.clone()),
            ..chat
        };
        let started = engine.execute(&caller, chat).await;
        let run_id = match started.map(|ack| ack.answer.run_id) {
            Ok(Some(run_id)) => run_id,
            Ok(None) => {
                engine.close(&session_id, subscription).await;
                return Err(Unavailable::RunNotStarted.into());
            }
            Err(error) => {
                engine.close(&session_id, subscription).await;
                return Err(error.into());
            }
        };
        Ok(Self {
            session_id,
            shared: Arc::clone(shared),
            caller,
            subscription,
            events,
            transcript: Transcript::new(run_id),
            abandoned,
            over: false,
        })
    }

    /// The next piece; nothing after the end.
    pub(super) async fn next(&mut self) -> Option<Piece> {
        if self.over {
            return None;
        }
        loop {
            let Some(event) = self.events.recv().await else {
                self.over = true;
                let ending = AnswerEnding::Failed(Unavailable::ReaderTooSlow);
                return Some(Piece::End(ending));
            };
            match self.transcript.read(event) {
                Step::Nothing => {}
                Step::Text(text) => return Some(Piece::Text(text)),
                Step::Asked(question) => {
                    let gap = self.transcript.gap();
                    // The run would wait for an answer that this API cannot bring. That it
                    // cannot be stopped either changes nothing for the reader.
                    let stop = Stop::of(&self.session_id);
                    drop(self.shared.engine.execute(&self.caller, stop).await);
                    return Some(Piece::Text(format!("{gap}{question}")));
                }
                Step::NeedsConsent(approval_id) => self.refuse_call(approval_id).await,
                Step::Ended(ending) => {
                    self.over = true;
                    return Some(Piece::End(ending));
                }
            }
        }
    }

    /// This API has no user who could approve. The model receives the refusal and continues
    /// without.
    async fn refuse_call(&self, approval_id: String) {
        let response = ApprovalResponse {
            session_id: self.session_id.clone(),
            approval_id,
            decision: ApprovalDecision::Deny,
            remember: false,
            grant: None,
            reason: Some(NO_APPROVER.to_owned()),
        };
        let refused = self.shared.engine.execute(&self.caller, response).await;
        if let Err(error) = refused {
            tracing::debug!(
                session.id = %self.session_id,
                %error,
                "failed to deny an approval request"
            );
        }
    }

    pub(super) fn usage(&self) -> &Usage {
        self.transcript.usage()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let stops = !self.over && self.abandoned == OnDisconnect::Stops;
        let (shared, caller) = (Arc::clone(&self.shared), self.caller.clone());
        let (session, subscription) = (self.session_id.clone(), self.subscription);
        self.shared.jobs.spawn(async move {
            if stops && let Err(error) = shared.engine.execute(&caller, Stop::of(&session)).await {
                tracing::debug!(session.id = %session, %error, "failed to stop an abandoned run");
            }
            shared.engine.close(&session, subscription).await;
        });
    }
}
