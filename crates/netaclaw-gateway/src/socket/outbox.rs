//! What is to be sent to one socket, in order. Filled under a session's lock, so nothing here
//! waits; emptied by the socket's sender.

use crate::metrics;
use crate::settings::OutboxLimits;
use netaclaw_engine::{EventKind, ServerEvent};
use netaclaw_protocol::{Refusal, Unavailable};
use serde_json::value::RawValue;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Answers that wait; beyond it no further command of the socket is begun.
const ACK_BYTES_MAX: usize = 8 << 20;

#[derive(Debug)]
pub(super) enum OutgoingFrame {
    Ack {
        id: i64,
        body: Box<RawValue>,
    },
    /// The answer to something that is not a command, or one command too many.
    Refused {
        id: i64,
        body: Box<RawValue>,
    },
    Event(ServerEvent),
}

/// What the sender finds.
#[derive(Debug)]
pub(super) enum Next {
    Parcel(OutgoingFrame),
    /// All is sent, and this is why the socket has to go.
    End(Refusal),
}

#[derive(Debug)]
pub(super) struct Outbox {
    limits: OutboxLimits,
    queue: Mutex<Queue>,
    filled: Notify,
    /// Told whenever something has been taken out.
    taken: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    frames: VecDeque<OutgoingFrame>,
    events: usize,
    event_bytes: usize,
    deltas: usize,
    ack_bytes: usize,
    /// Deltas are dropped until all that waits has been sent.
    shedding: bool,
    /// Why the socket has to go, once what waits has been sent.
    end: Option<Refusal>,
    closed: bool,
    /// A parcel is in the sender's hands.
    sending: bool,
}

impl Outbox {
    pub(super) fn new(limits: OutboxLimits) -> Self {
        Self {
            limits,
            queue: Mutex::default(),
            filled: Notify::new(),
            taken: Notify::new(),
        }
    }

    pub(super) fn push(&self, event: &ServerEvent) {
        let mut queue = self.lock();
        if queue.closed {
            return;
        }
        let is_delta = event.kind == EventKind::Delta;
        if is_delta && queue.shedding {
            metrics::deltas_dropped(1);
            return;
        }
        queue.add(event.clone());
        queue.keep_within(&self.limits);
        drop(queue);
        self.filled.notify_one();
    }

    /// Refuses what was not accepted. A client may send any number of such frames, so the answers
    /// count as events do: a client that does not read them is disconnected.
    pub(super) fn push_refusal(&self, id: i64, body: Box<RawValue>) {
        let mut queue = self.lock();
        if queue.closed {
            return;
        }
        queue.events += 1;
        queue.event_bytes += body.get().len();
        queue.frames.push_back(OutgoingFrame::Refused { id, body });
        queue.keep_within(&self.limits);
        drop(queue);
        self.filled.notify_one();
    }

    /// Answers are never dropped; how many there are is limited by the commands.
    pub(super) fn push_ack(&self, id: i64, body: Box<RawValue>) {
        let mut queue = self.lock();
        if queue.closed {
            return;
        }
        queue.ack_bytes += body.get().len();
        queue.frames.push_back(OutgoingFrame::Ack { id, body });
        drop(queue);
        self.filled.notify_one();
    }

    /// Waits for something to send.
    pub(super) async fn next(&self) -> Next {
        loop {
            let filled = self.filled.notified();
            if let Some(next) = self.try_next() {
                return next;
            }
            filled.await;
        }
    }

    fn try_next(&self) -> Option<Next> {
        let mut queue = self.lock();
        let next = match queue.take() {
            Some(frame) => Some(Next::Parcel(frame)),
            None => queue.end.take().map(Next::End),
        };
        queue.sending = next.is_some();
        drop(queue);
        self.taken.notify_waiters();
        next
    }

    /// Takes nothing more in, and ends the socket after what waits.
    pub(super) fn end(&self, why: Refusal) {
        let mut queue = self.lock();
        if !queue.closed {
            queue.closed = true;
            queue.end = Some(why);
        }
        drop(queue);
        self.filled.notify_one();
    }

    /// Nothing more is accepted.
    pub(super) fn close(&self) {
        *self.lock() = Queue {
            closed: true,
            ..Queue::default()
        };
        self.taken.notify_waiters();
    }

    /// Waits until all has been handed to the transport, or never will be.
    pub(super) async fn flushed(&self) {
        self.taken_until(|queue| queue.frames.is_empty() && !queue.sending)
            .await;
    }

    /// Waits until a further answer has room.
    pub(super) async fn room_for_answers(&self) {
        self.taken_until(|queue| queue.closed || queue.ack_bytes <= ACK_BYTES_MAX)
            .await;
    }

    async fn taken_until(&self, done: impl Fn(&Queue) -> bool) {
        loop {
            let taken = self.taken.notified();
            if done(&self.lock()) {
                return;
            }
            taken.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Counts and parcels change together, without anything that could panic between.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn add(&mut self, event: ServerEvent) {
        self.events += 1;
        self.event_bytes += event.json.get().len();
        self.deltas += usize::from(event.kind == EventKind::Delta);
        self.frames.push_back(OutgoingFrame::Event(event));
    }

    /// Drops deltas if there is too much, and gives the socket up if that does not help.
    fn keep_within(&mut self, limits: &OutboxLimits) {
        if self.is_over(limits) {
            self.shed();
        }
        if self.is_over(limits) {
            metrics::too_slow();
            *self = Self {
                end: Some(Refusal::new(Unavailable::ConnectionTooSlow)),
                closed: true,
                ..Self::default()
            };
        }
    }

    /// The longest event does not count: it may exceed the limit alone, which does not show that
    /// the client is slow.
    fn is_over(&self, limits: &OutboxLimits) -> bool {
        if self.events > limits.events_max {
            return true;
        }
        if self.event_bytes <= limits.bytes_max {
            return false;
        }
        let longest = self.frames.iter().map(event_bytes).max().unwrap_or(0);
        self.event_bytes - longest > limits.bytes_max
    }

    /// Drops every delta that waits: the reliable event at the end carries the whole.
    fn shed(&mut self) {
        metrics::deltas_dropped(self.deltas);
        self.shedding = true;
        self.frames.retain(
            |frame| !matches!(frame, OutgoingFrame::Event(event) if event.kind == EventKind::Delta),
        );
        self.events -= std::mem::take(&mut self.deltas);
        self.event_bytes = self.frames.iter().map(event_bytes).sum();
    }

    fn take(&mut self) -> Option<OutgoingFrame> {
        let frame = self.frames.pop_front()?;
        self.forget(&frame);
        self.shedding &= !self.frames.is_empty();
        Some(frame)
    }

    fn forget(&mut self, frame: &OutgoingFrame) {
        match frame {
            OutgoingFrame::Ack { body, .. } => self.ack_bytes -= body.get().len(),
            OutgoingFrame::Refused { body, .. } => {
                self.events -= 1;
                self.event_bytes -= body.get().len();
            }
            OutgoingFrame::Event(event) => {
                self.events -= 1;
                self.event_bytes -= event.json.get().len();
                self.deltas -= usize::from(event.kind == EventKind::Delta);
            }
        }
    }
}

fn event_bytes(frame: &OutgoingFrame) -> usize {
    match frame {
        OutgoingFrame::Event(event) => event.json.get().len(),
        OutgoingFrame::Refused { body, .. } => body.get().len(),
        OutgoingFrame::Ack { .. } => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netaclaw_engine::EventGroup;

    fn reliable(seq: u64) -> ServerEvent {
        ServerEvent::encode(
            "done",
            &seq,
            EventKind::Reliable { seq },
            EventGroup::Current,
        )
    }

    fn delta() -> ServerEvent {
        ServerEvent::encode("token", &"text", EventKind::Delta, EventGroup::Current)
    }

    fn outbox(events_max: usize) -> Outbox {
        Outbox::new(OutboxLimits {
            events_max,
            ..OutboxLimits::default()
        })
    }

    fn seqs(outbox: &Outbox) -> Vec<u64> {
        let mut seqs = Vec::new();
        while let Some(Next::Parcel(frame)) = outbox.try_next() {
            if let OutgoingFrame::Event(ServerEvent {
                kind: EventKind::Reliable { seq },
                ..
            }) = frame
            {
                seqs.push(seq);
            }
        }
        seqs
    }

    #[test]
    fn under_pressure_deltas_go_and_reliable_events_stay() {
        let outbox = outbox(10);
        outbox.push(&reliable(1));
        for _ in 0..30 {
            outbox.push(&delta());
        }
        outbox.push(&reliable(2));
        outbox.push(&delta());
        assert_eq!(outbox.lock().deltas, 0, "dropped until all is sent");
        assert_eq!(seqs(&outbox), [1, 2]);
        outbox.push(&delta());
        assert_eq!(outbox.lock().deltas, 1, "and then taken again");
    }

    #[test]
    fn too_many_reliable_events_end_the_socket() {
        let outbox = outbox(10);
        for seq in 0..=10 {
            outbox.push(&reliable(seq));
        }
        assert!(matches!(outbox.try_next(), Some(Next::End(_))));
        outbox.push(&reliable(11));
        assert_eq!(outbox.lock().events, 0, "its queue is empty");
    }

    #[test]
    fn refusals_count_as_events_and_answers_do_not() {
        let outbox = outbox(10);
        let body = || RawValue::from_string("{}".to_owned()).unwrap();
        for id in 0..20 {
            outbox.push_ack(id, body());
        }
        for id in 20..30 {
            outbox.push_refusal(id, body());
        }
        for id in 0..30 {
            let Some(Next::Parcel(
                OutgoingFrame::Ack { id: sent, .. } | OutgoingFrame::Refused { id: sent, .. },
            )) = outbox.try_next()
            else {
                panic!("an answer was expected");
            };
            assert_eq!(sent, id);
        }
        assert_eq!(outbox.lock().events, 0);
        assert_eq!(outbox.lock().event_bytes, 0);
        for id in 30..=40 {
            outbox.push_refusal(id, body());
        }
        assert!(matches!(outbox.try_next(), Some(Next::End(_))));
    }

    #[test]
    fn one_event_longer_than_the_limit_is_let_through() {
        let outbox = Outbox::new(OutboxLimits {
            bytes_max: 0,
            ..OutboxLimits::default()
        });
        outbox.push(&reliable(7));
        assert_eq!(seqs(&outbox), [7]);
        outbox.push(&reliable(8));
        outbox.push(&reliable(9));
        assert!(matches!(outbox.try_next(), Some(Next::End(_))));
    }
}
