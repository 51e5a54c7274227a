//! The one emitter of a session: numbers events, keeps the last ones, hands them to subscribers.

use crate::events::event::{EventGroup, ServerEvent, Stamp, TextDelta};
use crate::events::ring::ReplayRing;
use netaclaw_protocol::{
    DeltaEvent, PartKind, Progress, ReliableEvent, SessionId, ToolProcessEvent,
};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::time::Instant;

/// How long text may wait for more of the same part. The first piece never waits.
const MERGE_WINDOW: Duration = Duration::from_millis(16);

/// Somebody who gets the events of a session. Called under the session's lock: it must not block
/// and must not call back.
pub trait Subscriber: Send + Sync {
    fn deliver(&self, event: &ServerEvent);

    /// Whether it wants the events of this group at all.
    fn wants(&self, group: EventGroup) -> bool;
}

/// Names one subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SubscriptionId(u64);

/// Cheap to clone; all clones are the same feed.
#[derive(Clone)]
pub(crate) struct Feed {
    shared: Arc<Mutex<Inner>>,
}

struct Inner {
    stamp: Stamp,
    seq: u64,
    ring: ReplayRing,
    subscribers: HashMap<SubscriptionId, Arc<dyn Subscriber>>,
    next_subscription: u64,
    /// Text that waits for its window to end, in the order it came.
    waiting: Vec<TextDelta>,
    last_text: Option<Instant>,
    timer: bool,
}

/// A subscription on its way to who asked for it. If they are gone before they have it, nobody would
/// ever end it, and the session would stay live for ever: dropped, it ends.
pub(crate) struct OnItsWay {
    id: SubscriptionId,
    feed: Option<Feed>,
}

impl OnItsWay {
    pub(crate) fn new(id: SubscriptionId, feed: Feed) -> Self {
        let feed = Some(feed);
        Self { id, feed }
    }

    /// It has arrived.
    pub(crate) fn keep(mut self) -> SubscriptionId {
        self.feed = None;
        self.id
    }
}

impl Drop for OnItsWay {
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
pub(crate) enum Missed {
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
            waiting: Vec::new(),
            last_text: None,
            timer: false,
        };
        Self {
            shared: Arc::new(Mutex::new(inner)),
        }
    }

    pub(crate) fn epoch(&self) -> String {
        self.lock().stamp.epoch.clone()
    }

    pub(crate) fn emit(&self, event: &ReliableEvent) {
        let mut inner = self.lock();
        // Text that came before must not arrive after.
        inner.send_waiting();
        inner.seq += 1;
        let sent = inner.stamp.reliable(event, inner.seq, now_ms());
        inner.ring.push(sent.clone());
        inner.send(&sent);
        if let Some(legacy) = legacy_of(event) {
            inner.send_delta(&legacy);
        }
    }

    /// Sends an event that may be lost, after the text before it.
    pub(crate) fn emit_delta(&self, event: &DeltaEvent) {
        let mut inner = self.lock();
        inner.send_waiting();
        inner.send_delta(event);
    }

    /// Sends a step, and how far it is for those who ask for no more.
    pub(crate) fn emit_step(&self, step: ToolProcessEvent) {
        let mut inner = self.lock();
        inner.send_waiting();
        for event in step_events(step, inner.has_legacy()) {
            inner.send_delta(&event);
        }
    }

    /// Sends text: at once if it is the first of its part or if none was sent within the window, else
    /// together with what follows.
    pub(crate) fn emit_text(&self, delta: TextDelta) {
        let mut inner = self.lock();
        let now = Instant::now();
        let waits = |last: Instant| now - last < MERGE_WINDOW;
        let first = delta.is_first() || !inner.last_text.is_some_and(waits);
        if first {
            // Text that came before must not arrive after.
            inner.send_waiting();
            inner.last_text = Some(now);
            inner.send_text(delta);
            return;
        }
        let apart = match inner.waiting.last_mut() {
            Some(last) => last.absorb(delta),
            None => Some(delta),
        };
        inner.waiting.extend(apart);
        if !inner.timer {
            inner.timer = true;
            let at = inner.last_text.unwrap_or(now) + MERGE_WINDOW;
            // Owned by nobody but short: it ends within one window and does not keep the feed.
            tokio::spawn(send_later(Arc::downgrade(&self.shared), at));
        }
    }

    /// Adds a subscriber, who gets every event after the number that is returned.
    pub(crate) fn subscribe(&self, subscriber: Arc<dyn Subscriber>) -> Joined {
        let mut inner = self.lock();
        inner.send_waiting();
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
    ) -> Option<(Joined, Missed)> {
        let mut inner = self.lock();
        if epoch != inner.stamp.epoch {
            return None;
        }
        let missed = inner.ring.since(last_seq, inner.seq)?;
        inner.send_waiting();
        for event in &missed {
            subscriber.deliver(event);
        }
        let missed = if missed.is_empty() {
            Missed::Nothing
        } else {
            Missed::Events
        };
        Some((inner.add(Arc::clone(subscriber)), missed))
    }

    /// Sends text to one subscriber only.
    pub(crate) fn send_to(&self, subscriber: &Arc<dyn Subscriber>, delta: TextDelta) {
        let inner = self.lock();
        for event in text_events(delta, subscriber.wants(EventGroup::Legacy)) {
            subscriber.deliver(&inner.stamp.delta(&event, now_ms()));
        }
    }

    /// Sends a step to one subscriber only.
    pub(crate) fn send_step_to(&self, subscriber: &Arc<dyn Subscriber>, step: ToolProcessEvent) {
        let inner = self.lock();
        for event in step_events(step, subscriber.wants(EventGroup::Legacy)) {
            subscriber.deliver(&inner.stamp.delta(&event, now_ms()));
        }
    }

    /// Sends an unnumbered event to one subscriber only.
    pub(crate) fn send_delta_to(&self, subscriber: &Arc<dyn Subscriber>, event: &DeltaEvent) {
        let inner = self.lock();
        subscriber.deliver(&inner.stamp.delta(event, now_ms()));
    }

    pub(crate) fn unsubscribe(&self, id: SubscriptionId) {
        self.lock().subscribers.remove(&id);
    }

    pub(crate) fn subscriber_count(&self) -> usize {
        self.lock().subscribers.len()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A subscriber that panicked has missed an event, which its number tells it.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
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

    fn send_delta(&self, event: &DeltaEvent) {
        let made = self.stamp.delta(event, now_ms());
        self.send(&made);
    }

    fn send_text(&self, delta: TextDelta) {
        for event in text_events(delta, self.has_legacy()) {
            self.send_delta(&event);
        }
    }

    fn send_waiting(&mut self) {
        for delta in std::mem::take(&mut self.waiting) {
            self.send_text(delta);
        }
    }

    fn has_legacy(&self) -> bool {
        self.subscribers
            .values()
            .any(|subscriber| subscriber.wants(EventGroup::Legacy))
    }
}

/// The events that carry a piece of text: the current form, and the older one if asked for.
fn text_events(delta: TextDelta, legacy: bool) -> impl Iterator<Item = DeltaEvent> {
    let (event, older) = match delta {
        TextDelta::Output(output) => (DeltaEvent::ToolResultStreamed(output), None),
        TextDelta::Part(part) => {
            let copy = legacy.then(|| part.clone());
            match part.kind {
                PartKind::Thinking => (
                    DeltaEvent::ThinkingDelta(part),
                    copy.map(DeltaEvent::Thinking),
                ),
                PartKind::Text => (
                    DeltaEvent::AssistantStreamDelta(part),
                    copy.map(DeltaEvent::Token),
                ),
                PartKind::ToolCall => (DeltaEvent::AssistantStreamDelta(part), None),
            }
        }
    };
    std::iter::once(event).chain(older)
}

/// The events that carry a step: the current form, and the older one if asked for.
fn step_events(step: ToolProcessEvent, legacy: bool) -> impl Iterator<Item = DeltaEvent> {
    let event = &step.event;
    let percent = event.percent.filter(|_| legacy);
    let progress = percent.map(|percent| {
        DeltaEvent::Progress(Progress {
            run_id: step.run_id.clone(),
            tool_call_id: step.tool_call_id.clone(),
            operation_id: event.operation_id.clone(),
            stage: event.stage.clone(),
            message: event.message.clone(),
            percent,
            current: event.current,
            total: event.total,
        })
    });
    std::iter::once(DeltaEvent::ToolProcessEvent(Box::new(step))).chain(progress)
}

fn legacy_of(event: &ReliableEvent) -> Option<DeltaEvent> {
    match event {
        ReliableEvent::ToolCallStarted(started) => Some(DeltaEvent::ToolCall(started.clone())),
        ReliableEvent::ToolCallCompleted(done) => Some(DeltaEvent::ToolResult(done.clone())),
        _ => None,
    }
}

async fn send_later(feed: Weak<Mutex<Inner>>, at: Instant) {
    tokio::time::sleep_until(at).await;
    if let Some(feed) = feed.upgrade() {
        let mut inner = feed.lock().unwrap_or_else(PoisonError::into_inner);
        inner.timer = false;
        inner.last_text = Some(Instant::now());
        inner.send_waiting();
    }
}

pub(crate) fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

#[cfg(test)]
mod tests {
    use super::*;
    use netaclaw_protocol::{EntryId, PartDelta, RunId};
    use serde_json::Value;

    #[derive(Default)]
    struct Ear(Mutex<Vec<(u64, String)>>);

    impl Subscriber for Ear {
        fn deliver(&self, event: &ServerEvent) {
            let event: Value = serde_json::from_str(event.json.get()).unwrap();
            let (part, text) = (&event["data"]["part"], &event["data"]["text"]);
            let heard = (part.as_u64().unwrap(), text.as_str().unwrap().to_owned());
            self.0.lock().unwrap().push(heard);
        }

        fn wants(&self, group: EventGroup) -> bool {
            group == EventGroup::Current
        }
    }

    fn piece(part: u32, offset: u64, text: &str) -> TextDelta {
        TextDelta::Part(PartDelta {
            run_id: RunId::new("r"),
            entry_id: EntryId::new("e"),
            part,
            kind: PartKind::Text,
            tool_call_id: None,
            tool_name: None,
            offset,
            text: text.to_owned(),
        })
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_piece_of_every_part_leaves_at_once() {
        let feed = Feed::new(SessionId::new("s"), "epoch".to_owned());
        let ear = Arc::new(Ear::default());
        feed.subscribe(ear.clone());
        let heard = || std::mem::take(&mut *ear.0.lock().unwrap());
        let says = |part, text: &str| (part, text.to_owned());
        feed.emit_text(piece(0, 0, "a"));
        assert_eq!(heard(), [says(0, "a")]);
        feed.emit_text(piece(0, 1, "b"));
        feed.emit_text(piece(0, 2, "c"));
        assert_eq!(heard(), [], "they wait for more");
        feed.emit_text(piece(1, 0, "d"));
        assert_eq!(heard(), [says(0, "bc"), says(1, "d")]);
        feed.emit_text(piece(1, 1, "e"));
        assert_eq!(heard(), []);
        tokio::time::sleep(2 * MERGE_WINDOW).await;
        assert_eq!(heard(), [says(1, "e")]);
    }
}
