//! Opens a session for a client: snapshot or replay, then events.

use super::LiveSession;
use crate::error::EngineError;
use crate::events::feed::{MissedEvents, PendingSubscription, Subscriber};
use crate::events::snapshot;
use crate::session::command::Join;
use netaclaw_protocol::{FeedStart, OpenMode, Opened};
use netaclaw_session::Flush;
use std::sync::Arc;

impl LiveSession {
    /// Joins a client. While this holds the writer no entry is added, and text that streams waits
    /// for the same lock, so that the answer and the events after it fit together.
    pub(super) async fn join(
        &mut self,
        join: Join,
    ) -> Result<(Opened, PendingSubscription), EngineError> {
        // Before, because others are asked for them, and a run must not wait for that.
        let (tree, meta) = (self.writer.tree().await?, self.writer.meta().await?);
        let model_in_use = self.numbers.prepare(&tree, &meta).await;
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
                MissedEvents::Nothing => OpenMode::Live,
                MissedEvents::Events => OpenMode::Replay,
            };
            return Ok((
                Opened {
                    mode,
                    epoch,
                    seq: joined.seq,
                    snapshot: None,
                },
                self.writer.feed.pending(joined.id),
            ));
        }
        let tree = self.writer.tree().await?;
        let meta = self.writer.meta().await?;
        let durable = &writing.state.durable;
        Ok(self.live.join(subscriber, |live, joined| {
            let snapshot = snapshot::build(&tree, meta, live, durable, model_in_use);
            let snapshot = Some(Box::new(snapshot));
            let mode = OpenMode::Snapshot;
            (
                Opened {
                    mode,
                    epoch,
                    seq: joined.seq,
                    snapshot,
                },
                self.writer.feed.pending(joined.id),
            )
        }))
    }

    /// Adds a subscriber who asks for no snapshot.
    pub(super) fn listen(
        &mut self,
        subscriber: Arc<dyn Subscriber>,
    ) -> (FeedStart, PendingSubscription) {
        let joined = self.live.join(subscriber, |_, joined| joined);
        let start = FeedStart {
            epoch: self.writer.feed.epoch(),
            seq: joined.seq,
        };
        (start, self.writer.feed.pending(joined.id))
    }
}
