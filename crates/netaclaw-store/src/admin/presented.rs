//! Tokens that somebody has presented: what is known of them, and when they were used.

use super::unchanged::{Mark, Unchanged};
use netaclaw_protocol::{Token, TokenId, User};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Writing down every use would cost more than it tells: a first use is written at once, later ones
/// of all tokens together, and no more often than this.
const LAST_USED_EXACT_MS: i64 = 60_000;

/// A token as it is stored, with whom it lets in.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) token: Token,
    pub(super) hash: Vec<u8>,
    pub(super) user: User,
}

#[derive(Debug, Default)]
pub(super) struct Presented {
    known: Unchanged<TokenId, Arc<Known>>,
    uses: Mutex<Uses>,
}

#[derive(Debug, Default)]
struct Uses {
    /// Not written down yet.
    last: HashMap<TokenId, i64>,
    written_ms: i64,
}

impl Presented {
    pub(super) fn get(&self, mark: Option<Mark>, id: &TokenId) -> Option<Arc<Known>> {
        self.known.get(mark, id)
    }

    pub(super) fn keep(&self, mark: Option<Mark>, known: &Arc<Known>) {
        self.known
            .keep(mark, known.token.id.clone(), Arc::clone(known));
    }

    /// Notes that a token is used, and returns the uses that are to be written down now.
    pub(super) fn used(&self, token: &mut Token, now_ms: i64) -> Vec<(TokenId, i64)> {
        let before = token.last_used_at;
        if before.is_some_and(|at| at >= now_ms - LAST_USED_EXACT_MS) {
            return Vec::new();
        }
        token.last_used_at = Some(now_ms);
        let mut uses = self.lock();
        uses.last.insert(token.id.clone(), now_ms);
        match before.is_none() || uses.written_ms < now_ms - LAST_USED_EXACT_MS {
            true => {
                uses.written_ms = now_ms;
                uses.last.drain().collect()
            }
            false => Vec::new(),
        }
    }

    /// What is still to be written down, when there is no later.
    pub(super) fn take_uses(&self) -> Vec<(TokenId, i64)> {
        self.lock().last.drain().collect()
    }

    /// Adds what is not written down yet to what was read.
    pub(super) fn complete(&self, tokens: &mut [Token]) {
        let uses = self.lock();
        for token in tokens {
            token.last_used_at = token.last_used_at.max(uses.last.get(&token.id).copied());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Uses> {
        // A map is whole between any two of its operations.
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn token(id: &str, last_used_at: Option<i64>) -> Token {
        let token = json!({"id": id, "userId": "u", "label": "", "scope": "full", "expiresAt": null,
            "revokedAt": null, "lastUsedAt": last_used_at, "rev": 1, "createdAt": 0, "updatedAt": 0});
        serde_json::from_value(token).unwrap()
    }

    const MINUTE: i64 = LAST_USED_EXACT_MS;

    #[test]
    fn a_first_use_is_written_at_once_and_later_ones_together() {
        let presented = Presented::default();
        let now = 10 * MINUTE;
        let mut first = token("a", None);
        let written = presented.used(&mut first, now);
        assert_eq!(written, [(TokenId::new("a"), now)]);
        assert_eq!(first.last_used_at, Some(now));

        let soon = now + MINUTE / 2;
        let mut fresh = token("a", Some(now));
        assert!(presented.used(&mut fresh, soon).is_empty());
        let mut others = ["b", "c"].map(|id| token(id, Some(now - 2 * MINUTE)));
        for other in &mut others {
            assert!(presented.used(other, soon).is_empty(), "they wait");
            assert_eq!(other.last_used_at, Some(soon));
        }
        let mut read = [token("b", Some(now - 2 * MINUTE)), token("d", None)];
        presented.complete(&mut read);
        assert_eq!(
            [read[0].last_used_at, read[1].last_used_at],
            [Some(soon), None]
        );

        let later = now + MINUTE + 1;
        let mut written = presented.used(&mut token("d", Some(now - MINUTE)), later);
        written.sort();
        let expected = [("b", soon), ("c", soon), ("d", later)];
        assert_eq!(written, expected.map(|(id, at)| (TokenId::new(id), at)));
        assert!(presented.take_uses().is_empty());
    }
}
