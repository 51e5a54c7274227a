//! Clients that join a session.

use super::LiveSession;
use crate::error::EngineError;
use crate::events::feed::{Missed, OnItsWay, Subscriber, SubscriptionId};
use crate::events::snapshot;
use crate::session::command::Join;
use netaclaw_protocol::{FeedStart, OpenMode, Opened};
use netaclaw_session::Flush;
use std::sync::Arc;

impl LiveSession {
    /// Joins a client. While this holds the writer no entry is added, and text that streams waits
    /// for the same lock, so that the answer and the events after it fit together.
    pub(super) async fn join(&mut self, join: Join) -> Result<(Opened, OnItsWay), EngineError> {
        // Before, because others are asked for them, and a run must not wait for that.
        if self.live.tokens_shown().is_none() {
            let (tree, meta) = (self.writer.tree().await?, self.writer.meta().await?);
            let model = self.writer.begin().await.state.durable.model.clone();
            let tokens = self.tokens_at(&tree, &meta, model).await;
            self.live.show_tokens(tokens);
        }
        let mut writing = self.writer.begin().await;
        if std::mem::take(&mut writing.state.durable.unread) {
            writing.persist_then_publish(Flush::Now).await?;
        }
        let epoch = self.writer.feed.epoch();
        let Join { open, subscriber } = join;
        if let (Some(known), Some(last_seq)) = (open.epoch, open.last_seq)
            && let Some((joined, missed)) = self.live.resume(&known, last_seq, &subscriber)
        {
            let mode = match missed {
                Missed::Nothing => OpenMode::Live,
                Missed::Events => OpenMode::Replay,
            };
            return Ok((
                Opened {
                    mode,
                    epoch,
                    seq: joined.seq,
                    snapshot: None,
                },
                self.on_its_way(joined.id),
            ));
        }
        let tree = self.writer.tree().await?;
        let meta = self.writer.meta().await?;
        let durable = &writing.state.durable;
        Ok(self.live.join(subscriber, |live, joined| {
            let snapshot = Some(Box::new(snapshot::build(&tree, meta, live, durable)));
            let mode = OpenMode::Snapshot;
            (
                Opened {
                    mode,
                    epoch,
                    seq: joined.seq,
                    snapshot,
                },
                self.on_its_way(joined.id),
            )
        }))
    }

    fn on_its_way(&self, subscription: SubscriptionId) -> OnItsWay {
        OnItsWay::new(subscription, self.writer.feed.clone())
    }

    /// Adds a subscriber who asks for no snapshot.
    pub(super) fn listen(&mut self, subscriber: Arc<dyn Subscriber>) -> (FeedStart, OnItsWay) {
        let joined = self.live.join(subscriber, |_, joined| joined);
        let start = FeedStart {
            epoch: self.writer.feed.epoch(),
            seq: joined.seq,
        };
        (start, self.on_its_way(joined.id))
    }
}
