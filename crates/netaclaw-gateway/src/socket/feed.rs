//! The subscription of one socket to one session.

use super::outbox::Outbox;
use netaclaw_engine::{EventGroup, EventKind, ServerEvent, Subscriber};
use netaclaw_protocol::BadRequest;
use serde_json::value::RawValue;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Which events a client receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Groups {
    pub(super) current: bool,
    pub(super) legacy: bool,
}

impl Groups {
    pub(super) const ALL: Self = Self {
        current: true,
        legacy: true,
    };

    /// Reads `auth.events`.
    pub(super) fn read(names: &[String]) -> Result<Self, BadRequest> {
        let mut groups = Self {
            current: false,
            legacy: false,
        };
        for name in names {
            match name.as_str() {
                "current" => groups.current = true,
                "legacy" => groups.legacy = true,
                other => {
                    let name = other.to_owned();
                    return Err(BadRequest::UnknownEvents { name });
                }
            }
        }
        Ok(groups)
    }
}

impl Groups {
    /// Every client receives numbered events: a missing number would look like a loss.
    fn take(self, event: &ServerEvent) -> bool {
        match event.group {
            EventGroup::Current => self.current || event.kind != EventKind::Delta,
            EventGroup::Legacy => self.legacy,
        }
    }
}

/// Receives the events of one session for one socket. They are held back until the answer to
/// `session_open` is queued, so that the client receives the answer first.
pub(super) struct SessionFeed {
    outbox: Arc<Outbox>,
    groups: Groups,
    state: Mutex<State>,
}

enum State {
    Holding(Vec<ServerEvent>),
    Live,
    Closed,
}

impl SessionFeed {
    pub(super) fn holding(outbox: Arc<Outbox>, groups: Groups) -> Self {
        Self {
            outbox,
            groups,
            state: Mutex::new(State::Holding(Vec::new())),
        }
    }

    /// Sends the answer, then the held events, then all others as they come.
    pub(super) fn release(&self, ack: Option<(i64, Box<RawValue>)>) {
        let mut state = self.lock();
        if let Some((id, body)) = ack {
            self.outbox.push_ack(id, body);
        }
        if let State::Holding(held) = &mut *state {
            for event in held.drain(..) {
                self.outbox.push(&event);
            }
            *state = State::Live;
        }
    }

    /// Nothing more is delivered, whatever the engine still sends.
    pub(super) fn close(&self) {
        *self.lock() = State::Closed;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is replaced as a whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscriber for SessionFeed {
    fn deliver(&self, event: &ServerEvent) {
        if !self.groups.take(event) {
            return;
        }
        match &mut *self.lock() {
            State::Holding(held) => held.push(event.clone()),
            State::Live => self.outbox.push(event),
            State::Closed => {}
        }
    }

    fn wants(&self, group: EventGroup) -> bool {
        match group {
            // The numbered events among them are for all clients.
            EventGroup::Current => true,
            EventGroup::Legacy => self.groups.legacy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_read_and_unknown_ones_named() {
        let read = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            Groups::read(&names)
        };
        assert_eq!(read(&["current", "legacy"]), Ok(Groups::ALL));
        assert!(!read(&["current"]).unwrap().legacy);
        let name = "new".to_owned();
        assert_eq!(read(&["new"]), Err(BadRequest::UnknownEvents { name }));
    }
}
