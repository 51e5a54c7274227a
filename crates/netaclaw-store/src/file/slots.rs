//! A bounded cache of open sessions.

use super::open::{Slot, State};
use netaclaw_session::{SessionId, SessionMeta};
use rustix::process::{Resource, getrlimit};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum number of open sessions, if the process may open enough files; beyond it the least
/// recently used ones are closed and are opened again on demand.
const OPEN_SESSIONS_MAX: u64 = 1024;
/// The divisor for the share of open files that sessions may use. Each session has three: the log,
/// its lock and its journal.
const FILES_PER_SESSION: u64 = 8;
/// Text kept in memory at most, with the same behaviour beyond it.
const OPEN_BYTES_MAX: u64 = 256 << 20;

/// Looked into at every append, hence the fast hash; its seed is random.
type Open = HashMap<SessionId, Arc<Slot>, foldhash::fast::RandomState>;

pub(super) struct Slots {
    open: Mutex<Open>,
    /// Counts uses, to find the least recently used.
    uses: AtomicU64,
    max: usize,
}

impl Slots {
    /// As many as this process can have open besides its connections.
    pub(super) fn new() -> Self {
        let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let max = (files / FILES_PER_SESSION).clamp(1, OPEN_SESSIONS_MAX);
        Self {
            open: Mutex::default(),
            uses: AtomicU64::default(),
            max: usize::try_from(max).expect("at most a thousand"),
        }
    }

    pub(super) fn get(&self, session: &SessionId) -> Option<Arc<Slot>> {
        let slot = Arc::clone(self.lock().get(session)?);
        self.touch(&slot);
        Some(slot)
    }

    /// The session's slot, made if there is none yet.
    pub(super) fn add(&self, session: &SessionId, path: PathBuf) -> Arc<Slot> {
        let mut open = self.lock();
        let slot = open
            .entry(session.clone())
            .or_insert_with(|| Arc::new(Slot::new(session.clone(), path)));
        let slot = Arc::clone(slot);
        self.touch(&slot);
        evict_unused(&mut open, self.max);
        slot
    }

    pub(super) fn remove(&self, session: &SessionId) -> Option<Arc<Slot>> {
        self.lock().remove(session)
    }

    /// Removes this slot, unless another one has taken its place.
    pub(super) fn forget(&self, slot: &Arc<Slot>) {
        let mut open = self.lock();
        if open.get(&slot.id).is_some_and(|at| Arc::ptr_eq(at, slot)) {
            open.remove(&slot.id);
        }
    }

    /// What is known of the sessions this process writes, by their files.
    pub(super) fn written(&self) -> HashMap<PathBuf, SessionMeta> {
        let meta = |slot: &Arc<Slot>| {
            let state = slot.state();
            let state = state.as_ref().filter(|state| state.is_writable())?;
            Some((slot.path.clone(), state.meta(&slot.path)))
        };
        self.lock().values().filter_map(meta).collect()
    }

    fn touch(&self, slot: &Slot) {
        slot.used
            .store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        // The map is a cache of what is on disk.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn evict_unused(slots: &mut Open, max: usize) {
    let bytes = |slot: &Slot| slot.state().as_ref().map_or(0, State::bytes);
    let mut total: u64 = slots.values().map(|slot| bytes(slot)).sum();
    if slots.len() <= max && total <= OPEN_BYTES_MAX {
        return;
    }
    let mut idle: Vec<(u64, SessionId)> = slots
        .values()
        .filter(|slot| Arc::strong_count(slot) == 1)
        .filter(|slot| {
            slot.state()
                .as_ref()
                .is_none_or(|state| state.in_flight.is_none())
        })
        .map(|slot| (slot.used.load(Ordering::Relaxed), slot.id.clone()))
        .collect();
    idle.sort_unstable();
    // Some more than have to go: the next sessions need not look through all of them again.
    let fewer = max - max / 8;
    for (_, session) in idle {
        if slots.len() <= fewer && total <= OPEN_BYTES_MAX {
            return;
        }
        if let Some(slot) = slots.remove(&session) {
            total -= bytes(&slot);
        }
    }
}
