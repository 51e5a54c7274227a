//! The one emitter of a session: numbers events, keeps the last ones, hands them to subscribers.

use crate::events::event::{EventGroup, ServerEvent, Stamp, TypedEvent};
use crate::events::legacy;
use crate::events::ring::ReplayRing;
use crate::events::steps::StepBuffer;
use crate::events::text::TextBuffer;
use netaclaw_protocol::{
    DeltaEvent, ReliableEvent, SessionId, ThinkingDone, ToolProcessEvent, now_ms,
};
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::time::Instant;

/// A receiver of a session's events. Called under the session's lock: it must not block and must
/// not call back.
pub trait Subscriber: Send + Sync {
    /// Takes the encoded event, to send it to a client.
    fn deliver(&self, event: &ServerEvent);

    /// Takes the same event before that, to read it in this process. Not called for what a returning
    /// subscriber had missed.
    fn observe(&self, _event: TypedEvent<'_>) {}

    /// Whether it subscribes to the events of this group.
    fn wants(&self, group: EventGroup) -> bool;
}

/// Names one subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SubscriptionId(u64);

/// Cheap to clone; all clones are the same feed.
#[derive(Clone)]
pub(crate) struct Feed {
    shared: Arc<Shared>,
}

struct Shared {
    inner: Mutex<Inner>,
    /// Notified when an event is queued that is due before all others in the queue.
    due_earlier: Notify,
}

struct Inner {
    stamp: Stamp,
    seq: u64,
    ring: ReplayRing,
    subscribers: HashMap<SubscriptionId, Arc<dyn Subscriber>>,
    next_subscription: u64,
    text: TextBuffer,
    /// Steps of calls that are not sent yet.
    steps: StepBuffer,
}

/// A subscription that its client has not received yet. If the client disconnects before, nothing
/// else would end the subscription, and the session would stay live: dropped, it ends.
pub(crate) struct PendingSubscription {
    id: SubscriptionId,
    feed: Option<Feed>,
}

impl PendingSubscription {
    /// It has arrived.
    pub(crate) fn keep(mut self) -> SubscriptionId {
        self.feed = None;
        self.id
    }
}

impl Drop for PendingSubscription {
    fn drop(&mut self) {
        if let Some(feed) = &self.feed {
            feed.unsubscribe(self.id);
        }
    }
}

/// A subscription and the number of the last event before it.
pub(crate) struct Joined {
    pub(crate) id: SubscriptionId,
    pub(crate) seq: u64,
}

/// What a client that comes back had missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissedEvents {
    Nothing,
    Events,
}

impl Feed {
    pub(crate) fn new(session_id: SessionId, epoch: String) -> Self {
        let inner = Inner {
            stamp: Stamp { session_id, epoch },
            seq: 0,
            ring: ReplayRing::default(),
            subscribers: HashMap::new(),
            next_subscription: 0,
            text: TextBuffer::default(),
            steps: StepBuffer::default(),
        };
        Self {
            shared: Arc::new(Shared {
                inner: Mutex::new(inner),
                due_earlier: Notify::new(),
            }),
        }
    }

    pub(crate) fn epoch(&self) -> String {
        self.lock().stamp.epoch.clone()
    }

    pub(crate) fn emit(&self, event: &ReliableEvent) {
        let mut inner = self.lock();
        if let ReliableEvent::ToolCallCompleted(done) = event
            && let Some(step) = inner.steps.finish(&done.tool_call_id)
        {
            inner.send_step(step);
        }
        // Text that came before must not arrive after.
        inner.send_text();
        inner.seq += 1;
        let sent = inner.stamp.reliable(event, inner.seq, now_ms());
        inner.ring.push(sent.clone());
        inner.observe(TypedEvent::Reliable(event));
        inner.send(&sent);
        if inner.has_legacy()
            && let Some(legacy) = legacy::of_reliable(event)
        {
            inner.send(&inner.stamp.legacy(&legacy, now_ms()));
        }
    }

    /// Sends an event that may be lost, after the text before it.
    pub(crate) fn emit_delta(&self, event: DeltaEvent) {
        let mut inner = self.lock();
        inner.send_text();
        inner.send_delta(event);
    }

    /// Sends that a part of an answer has thought, and in the older form all that it thought.
    pub(crate) fn emit_thought(&self, done: ThinkingDone, text: impl FnOnce() -> String) {
        let mut inner = self.lock();
        inner.send_text();
        if inner.has_legacy() {
            let whole = legacy::of_thought(&done, text());
            inner.send(&inner.stamp.legacy(&whole, now_ms()));
        }
        inner.send_delta(DeltaEvent::ThinkingDone(done));
    }

    /// Sends a step, or holds it back for the next one if steps come too fast.
    pub(crate) fn emit_step(&self, step: ToolProcessEvent) {
        self.change(|inner| {
            for step in inner.steps.push(step, Instant::now()) {
                inner.send_step(step);
            }
        });
    }

    /// Sends the steps that were held back, of all calls: they have ended.
    pub(crate) fn finish_steps(&self) {
        let mut inner = self.lock();
        for step in inner.steps.flush() {
            inner.send_step(step);
        }
    }

    /// Sends text: at once if it is the first of its part or if none was sent within the window,
    /// else together with what follows.
    pub(crate) fn emit_text(&self, text: DeltaEvent) {
        self.change(|inner| {
            for text in inner.text.push(text, Instant::now()) {
                inner.send_delta(text);
            }
        });
    }

    /// Sends what waits when it is due. Every run does this concurrently with its work; what still
    /// waits when a run has ended is sent before the event about its end.
    pub(crate) async fn send_when_due(&self) -> Infallible {
        loop {
            let due = self.lock().next_due();
            let is_due = async {
                match due {
                    Some(due) => tokio::time::sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = is_due => self.lock().send_due(Instant::now()),
                () = self.shared.due_earlier.notified() => {}
            }
        }
    }

    /// Adds a subscriber, who gets every event after the number that is returned.
    pub(crate) fn subscribe(&self, subscriber: Arc<dyn Subscriber>) -> Joined {
        let mut inner = self.lock();
        inner.send_text();
        inner.add(subscriber)
    }

    /// Adds a subscriber who has seen the events up to `last_seq` and gets the rest at once. In
    /// one step, so that nothing falls in between. `None` if too much was missed, or in another
    /// epoch.
    pub(crate) fn resume(
        &self,
        epoch: &str,
        last_seq: u64,
        subscriber: &Arc<dyn Subscriber>,
    ) -> Option<(Joined, MissedEvents)> {
        let mut inner = self.lock();
        if epoch != inner.stamp.epoch {
            return None;
        }
        let missed = inner.ring.since(last_seq, inner.seq)?;
        inner.send_text();
        for event in &missed {
            subscriber.deliver(event);
        }
        let missed = if missed.is_empty() {
            MissedEvents::Nothing
        } else {
            MissedEvents::Events
        };
        Some((inner.add(Arc::clone(subscriber)), missed))
    }

    /// Sends an event that may be lost to one subscriber only.
    pub(crate) fn send_to(&self, subscriber: &dyn Subscriber, event: DeltaEvent) {
        let inner = self.lock();
        subscriber.observe(TypedEvent::Delta(&event));
        for sent in inner.encode(event, subscriber.wants(EventGroup::Legacy)) {
            subscriber.deliver(&sent);
        }
    }

    pub(crate) fn pending(&self, id: SubscriptionId) -> PendingSubscription {
        let feed = Some(self.clone());
        PendingSubscription { id, feed }
    }

    pub(crate) fn unsubscribe(&self, id: SubscriptionId) {
        self.lock().subscribers.remove(&id);
    }

    pub(crate) fn subscriber_count(&self) -> usize {
        self.lock().subscribers.len()
    }

    /// Changes what waits, and wakes the sender if something is due earlier now.
    fn change(&self, change: impl FnOnce(&mut Inner)) {
        let mut inner = self.lock();
        let before = inner.next_due();
        change(&mut inner);
        let after = inner.next_due();
        if after.is_some_and(|after| before.is_none_or(|before| after < before)) {
            self.shared.due_earlier.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A subscriber that panicked has missed an event, which it detects by its number.
        let inner = self.shared.inner.lock();
        inner.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn add(&mut self, subscriber: Arc<dyn Subscriber>) -> Joined {
        self.next_subscription += 1;
        let id = SubscriptionId(self.next_subscription);
        self.subscribers.insert(id, subscriber);
        Joined { id, seq: self.seq }
    }

    fn send(&self, event: &ServerEvent) {
        for subscriber in self.subscribers.values() {
            if subscriber.wants(event.group) {
                subscriber.deliver(event);
            }
        }
    }

    fn observe(&self, event: TypedEvent<'_>) {
        for subscriber in self.subscribers.values() {
            subscriber.observe(event);
        }
    }

    fn send_delta(&self, event: DeltaEvent) {
        self.observe(TypedEvent::Delta(&event));
        for sent in self.encode(event, self.has_legacy()) {
            self.send(&sent);
        }
    }

    /// The event, and its older form if one is asked for and exists.
    fn encode(&self, event: DeltaEvent, legacy: bool) -> impl Iterator<Item = ServerEvent> {
        let now_ms = now_ms();
        let current = self.stamp.delta(&event, now_ms);
        let older = legacy.then(|| legacy::of_delta(event)).flatten();
        let older = older.map(|older| self.stamp.legacy(&older, now_ms));
        std::iter::once(current).chain(older)
    }

    fn send_text(&mut self) {
        for text in self.text.take() {
            self.send_delta(text);
        }
    }

    /// Sends a step, after the text that came before it.
    fn send_step(&mut self, step: ToolProcessEvent) {
        self.send_text();
        self.send_delta(DeltaEvent::ToolProcessEvent(Box::new(step)));
    }

    fn next_due(&self) -> Option<Instant> {
        let due = [self.text.next_due(), self.steps.next_due()];
        due.into_iter().flatten().min()
    }

    fn send_due(&mut self, now: Instant) {
        for text in self.text.take_due(now) {
            self.send_delta(text);
        }
        for step in self.steps.due(now) {
            self.send_step(step);
        }
    }

    fn has_legacy(&self) -> bool {
        self.subscribers
            .values()
            .any(|subscriber| subscriber.wants(EventGroup::Legacy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::text::part_event;
    use netaclaw_protocol::{Done, EntryId, PartDelta, PartKind, RunId, RunOutcome};
    use serde_json::Value;
    use std::pin::pin;
    use std::time::Duration;

    #[derive(Default)]
    struct Received {
        events: Mutex<Vec<String>>,
        legacy: bool,
    }

    impl Received {
        fn take(&self) -> Vec<String> {
            std::mem::take(&mut *self.events.lock().unwrap())
        }
    }

    impl Subscriber for Received {
        fn deliver(&self, event: &ServerEvent) {
            let payload: Value = serde_json::from_str(event.json.get()).unwrap();
            let text = payload["data"]["text"].as_str().unwrap_or_default();
            let line = format!("{} {text}", event.name);
            self.events.lock().unwrap().push(line.trim_end().to_owned());
        }

        fn wants(&self, group: EventGroup) -> bool {
            group == EventGroup::Current || self.legacy
        }
    }

    fn piece(offset: u64, text: &str) -> DeltaEvent {
        part_event(PartDelta {
            run_id: RunId::new("r"),
            entry_id: EntryId::new("e"),
            part: 0,
            kind: PartKind::Text,
            tool_call_id: None,
            tool_name: None,
            offset,
            text: text.to_owned(),
        })
    }

    fn done() -> ReliableEvent {
        ReliableEvent::Done(Done {
            run_id: RunId::new("r"),
            outcome: RunOutcome::Completed,
            reason: None,
            trouble: None,
        })
    }

    #[tokio::test(start_paused = true)]
    async fn text_that_waits_is_sent_when_it_is_due_or_before_the_next_event() {
        let feed = Feed::new(SessionId::new("s"), "epoch".to_owned());
        let received = Arc::new(Received::default());
        feed.subscribe(received.clone());
        let mut sender = pin!(feed.send_when_due());
        feed.emit_text(piece(0, "a"));
        feed.emit_text(piece(1, "b"));
        assert_eq!(received.take(), ["assistant_stream_delta a"]);
        let begun = Instant::now();
        let waited = tokio::time::timeout(Duration::from_millis(16), sender.as_mut());
        assert!(waited.await.is_err());
        assert_eq!(received.take(), ["assistant_stream_delta b"]);
        assert!(begun.elapsed() <= Duration::from_millis(17));
        feed.emit_text(piece(2, "c"));
        feed.emit(&done());
        assert_eq!(received.take(), ["assistant_stream_delta c", "done"]);
    }

    #[test]
    fn older_forms_follow_the_event_for_clients_that_want_them() {
        let feed = Feed::new(SessionId::new("s"), "epoch".to_owned());
        let current = Arc::new(Received::default());
        let both = Arc::new(Received {
            legacy: true,
            ..Received::default()
        });
        feed.subscribe(current.clone());
        feed.subscribe(both.clone());
        feed.emit_text(piece(0, "a"));
        assert_eq!(current.take(), ["assistant_stream_delta a"]);
        assert_eq!(both.take(), ["assistant_stream_delta a", "token a"]);
        let returning: Arc<dyn Subscriber> = both.clone();
        feed.send_to(&*returning, piece(0, "a"));
        assert_eq!(both.take(), ["assistant_stream_delta a", "token a"]);
    }
}
