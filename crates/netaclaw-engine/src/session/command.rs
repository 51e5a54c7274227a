//! What may be asked of a live session. Carried out one at a time, in the order it came.

use crate::error::EngineError;
use crate::events::feed::{OnItsWay, Subscriber, SubscriptionId};
use crate::server::Caller;
use crate::session::requests::{Done, Request};
use netaclaw_protocol::{
    ApprovalResponse, Chat, ChatAck, ClarifyResponse, CompactStatus, EntryId, FeedStart, Opened,
    QueueChange, QueueState, RunId, RunState, SessionChange, SessionListItem, SessionMeta,
    SetModel, SwitchStatus, ThinkingLevel,
};
use std::sync::Arc;
use tokio::sync::oneshot;

/// Where an answer goes. A caller that has gone away is no error: the command is carried out.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, EngineError>>;

pub(crate) enum Command {
    Chat(Box<Chat>, Reply<ChatAck>),
    Stop(Reply<RunState>),
    SetThinkingLevel(ThinkingLevel, Option<Request>, Reply<Done<()>>),
    SetModel(SetModel, Option<Request>, Reply<Done<()>>),
    AnswerQuestion(ClarifyResponse, Reply<Done<()>>),
    DecideCall(Caller, ApprovalResponse, Reply<()>),
    SwitchLeaf(Option<EntryId>, Way, Option<Request>, Reply<Done<()>>),
    /// The same, with a summary of the branch that is left.
    LeaveBranch(
        Option<EntryId>,
        Way,
        Option<Request>,
        Reply<Done<SwitchStatus>>,
    ),
    Label(EntryId, Option<String>, Option<Request>, Reply<Done<()>>),
    Update(SessionChange, Option<Request>, Reply<Done<SessionListItem>>),
    Retry(EntryId, Option<Request>, Reply<Done<RunId>>),
    Fork(EntryId, Option<Request>, Reply<Done<SessionMeta>>),
    EditQueue(QueueChange, Option<Request>, Reply<Done<QueueState>>),
    Compact(Option<String>, Option<Request>, Reply<Done<CompactStatus>>),
    DismissCompaction(Reply<()>),
    Open(OpenRequest, Reply<(Opened, OnItsWay)>),
    Listen(Arc<dyn Subscriber>, Reply<(FeedStart, OnItsWay)>),
    Close(SubscriptionId),
    /// Ends the live session at once; refused while something runs.
    PutAway(Reply<()>),
}

impl Command {
    /// Whether it changes what is stored.
    pub(crate) fn writes(&self) -> bool {
        let reads = matches!(
            self,
            Self::Stop(_) | Self::Open(..) | Self::Listen(..) | Self::Close(_) | Self::PutAway(_)
        );
        !reads
    }

    /// Answers that it is not carried out.
    pub(crate) fn refuse(self, why: EngineError) {
        // A caller that is gone has no use for the answer.
        match self {
            Self::Chat(_, reply) => drop(reply.send(Err(why))),
            Self::Stop(reply) => drop(reply.send(Err(why))),
            Self::DecideCall(_, _, reply)
            | Self::DismissCompaction(reply)
            | Self::PutAway(reply) => {
                drop(reply.send(Err(why)));
            }
            Self::SetThinkingLevel(_, _, reply)
            | Self::SetModel(_, _, reply)
            | Self::AnswerQuestion(_, reply)
            | Self::SwitchLeaf(_, _, _, reply)
            | Self::Label(_, _, _, reply) => drop(reply.send(Err(why))),
            Self::LeaveBranch(_, _, _, reply) => drop(reply.send(Err(why))),
            Self::Update(_, _, reply) => drop(reply.send(Err(why))),
            Self::Retry(_, _, reply) => drop(reply.send(Err(why))),
            Self::Fork(_, _, reply) => drop(reply.send(Err(why))),
            Self::EditQueue(_, _, reply) => drop(reply.send(Err(why))),
            Self::Compact(_, _, reply) => drop(reply.send(Err(why))),
            Self::Open(_, reply) => drop(reply.send(Err(why))),
            Self::Listen(_, reply) => drop(reply.send(Err(why))),
            Self::Close(_) => {}
        }
    }
}

/// Where a move of the leaf ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// At the entry.
    Exactly,
    /// From the entry on, where its branch was last left.
    Follow,
}

/// A client that wants to see the session and all that follows.
pub(crate) struct OpenRequest {
    pub(crate) epoch: Option<String>,
    pub(crate) last_seq: Option<u64>,
    pub(crate) subscriber: Arc<dyn Subscriber>,
}
