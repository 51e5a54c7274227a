//! The answers to repeated requests.

use super::LiveSession;
use crate::error::EngineError;
use crate::session::requests::Outcome;
use crate::session::tree::as_forked;
use netaclaw_protocol::{
    ChatAck, CompactAck, Forked, Nothing, QueueEdited, Renamed, Retried, SessionListItem, Stopped,
    SwitchLeafAck, SwitchStatus,
};

/// An answer that can be given again.
pub trait FromOutcome: Sized {
    /// The answer to a request that had this outcome before; `None` if another command used its
    /// id.
    fn from_outcome(
        session: &mut LiveSession,
        outcome: Outcome,
    ) -> impl Future<Output = Result<Option<Self>, EngineError>> + Send;
}

impl FromOutcome for Nothing {
    async fn from_outcome(_: &mut LiveSession, _: Outcome) -> Result<Option<Self>, EngineError> {
        Ok(Some(Self {}))
    }
}

impl FromOutcome for ChatAck {
    async fn from_outcome(
        session: &mut LiveSession,
        outcome: Outcome,
    ) -> Result<Option<Self>, EngineError> {
        let Outcome::Chat(ack) = outcome else {
            return Ok(None);
        };
        // The first attempt may have failed here.
        session.writer.sync().await?;
        Ok(Some(ack))
    }
}

impl FromOutcome for CompactAck {
    async fn from_outcome(
        _: &mut LiveSession,
        outcome: Outcome,
    ) -> Result<Option<Self>, EngineError> {
        Ok(match outcome {
            Outcome::Compact(status) => Some(Self { status }),
            _ => None,
        })
    }
}

impl FromOutcome for Forked {
    async fn from_outcome(
        session: &mut LiveSession,
        outcome: Outcome,
    ) -> Result<Option<Self>, EngineError> {
        let Outcome::Forked(forked) = outcome else {
            return Ok(None);
        };
        let forked = session.writer.provider.get_session(&forked).await?;
        Ok(Some(as_forked(forked)))
    }
}

impl FromOutcome for QueueEdited {
    async fn from_outcome(
        session: &mut LiveSession,
        _: Outcome,
    ) -> Result<Option<Self>, EngineError> {
        let queue = session.writer.begin().await.state.durable.queue.state();
        Ok(Some(Self { queue }))
    }
}

impl FromOutcome for Renamed {
    async fn from_outcome(
        session: &mut LiveSession,
        _: Outcome,
    ) -> Result<Option<Self>, EngineError> {
        let session = session.list_item().await?;
        Ok(Some(Self { session }))
    }
}

impl FromOutcome for Retried {
    async fn from_outcome(
        _: &mut LiveSession,
        outcome: Outcome,
    ) -> Result<Option<Self>, EngineError> {
        Ok(match outcome {
            Outcome::Started(run_id) => Some(Self { run_id }),
            _ => None,
        })
    }
}

impl FromOutcome for SessionListItem {
    async fn from_outcome(
        session: &mut LiveSession,
        _: Outcome,
    ) -> Result<Option<Self>, EngineError> {
        session.list_item().await.map(Some)
    }
}

impl FromOutcome for Stopped {
    /// A stop has no request of its own: its id names the message to stop.
    async fn from_outcome(_: &mut LiveSession, _: Outcome) -> Result<Option<Self>, EngineError> {
        Ok(None)
    }
}

impl FromOutcome for SwitchLeafAck {
    async fn from_outcome(_: &mut LiveSession, _: Outcome) -> Result<Option<Self>, EngineError> {
        let status = SwitchStatus::Moved;
        Ok(Some(Self { status }))
    }
}
