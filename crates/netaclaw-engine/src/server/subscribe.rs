//! Subscriptions to sessions.

use super::{Caller, Engine};
use crate::error::EngineError;
use crate::events::feed::{Subscriber, SubscriptionId};
use crate::session::command::{ActorMessage, Join, Listen};
use netaclaw_protocol::{FeedStart, Opened, SessionId, SessionOpen};
use std::sync::Arc;

impl Engine {
    /// Joins a client: its snapshot, or what it missed, and every event from there on.
    pub async fn open(
        &self,
        caller: &Caller,
        open: SessionOpen,
        subscriber: Arc<dyn Subscriber>,
    ) -> Result<(Opened, SubscriptionId), EngineError> {
        let session = open.session_id.clone();
        let joining = self.ask(caller, &session, Join { open, subscriber });
        let (opened, subscription) = joining.await?;
        Ok((opened, subscription.keep()))
    }

    /// Subscribes a client to what happens in a session from now on. Without a snapshot: it has
    /// just begun the session, or it asks for what it needs by other means.
    pub async fn listen(
        &self,
        caller: &Caller,
        session: &SessionId,
        subscriber: Arc<dyn Subscriber>,
    ) -> Result<(FeedStart, SubscriptionId), EngineError> {
        let listening = self.ask(caller, session, Listen(subscriber));
        let (start, subscription) = listening.await?;
        Ok((start, subscription.keep()))
    }

    /// Ends a subscription. A session that is not live has none.
    pub async fn close(&self, session: &SessionId, subscription: SubscriptionId) {
        if let Some(mailbox) = self.mailbox(session) {
            // A session that ends at this moment has no subscribers either way.
            drop(mailbox.send(ActorMessage::Close(subscription)).await);
        }
    }
}
