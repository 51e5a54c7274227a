//! An index of session ids, so that a new session does not have to scan all files.

use foldhash::fast::RandomState;
use netaclaw_session::{RequestKey, SessionId};
use std::collections::HashSet;
use std::hash::BuildHasher;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A few bytes for each session. A match may be a session that was removed or one with the same
/// hash, so it has to be verified; a miss is final but for files that another program has created
/// since.
#[derive(Default)]
pub(super) struct Ids {
    hasher: RandomState,
    known: Mutex<KnownHashes>,
}

#[derive(Default)]
struct KnownHashes {
    /// Set when the files that there were at the start have been seen.
    all: bool,
    hashes: HashSet<u64, RandomState>,
}

impl Ids {
    pub(super) fn add(&self, id: &SessionId) {
        let hash = self.hash(id);
        self.lock().hashes.insert(hash);
    }

    /// Takes in the ids of the files that are there.
    pub(super) fn add_all(&self, ids: impl IntoIterator<Item = SessionId>) {
        let hashes = ids.into_iter().map(|id| self.hash(&id));
        let mut known = self.lock();
        known.hashes.extend(hashes);
        known.all = true;
    }

    /// Whether there may be such a session. `None` until [`Ids::add_all`].
    pub(super) fn may_hold(&self, id: &SessionId) -> Option<bool> {
        let hash = self.hash(id);
        let known = self.lock();
        known.all.then(|| known.hashes.contains(&hash))
    }

    /// Of what no two sessions share.
    fn hash(&self, id: &SessionId) -> u64 {
        match RequestKey::of(id) {
            Some(request) => self.hasher.hash_one(request),
            None => self.hasher.hash_one(id),
        }
    }

    fn lock(&self) -> MutexGuard<'_, KnownHashes> {
        // A set is whole between any two of its operations.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
