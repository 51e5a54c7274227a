//! When tokens were last used, written together and seldom.

use netaclaw_protocol::{Token, TokenId};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// As exact as it is known when a token was used last.
const EXACT_MS: i64 = 60_000;
/// Recording every use would be expensive, and all tokens would have to be read again: uses are
/// written together, and no more often than this.
const WRITTEN_EVERY_MS: i64 = 10 * 60_000;

#[derive(Debug)]
pub(super) struct TokenUses(Mutex<Uses>);

#[derive(Debug)]
struct Uses {
    /// Not written down yet.
    last: HashMap<TokenId, i64>,
    written_ms: i64,
}

impl TokenUses {
    pub(super) fn new(now_ms: i64) -> Self {
        let uses = Uses {
            last: HashMap::new(),
            written_ms: now_ms,
        };
        Self(Mutex::new(uses))
    }

    /// Notes that a token is used, and returns the uses that are to be written down now.
    pub(super) fn used(&self, token: &mut Token, now_ms: i64) -> Vec<(TokenId, i64)> {
        let before = token.last_used_at;
        if before.is_some_and(|at| at >= now_ms - EXACT_MS) {
            return Vec::new();
        }
        token.last_used_at = Some(now_ms);
        let mut uses = self.lock();
        uses.last.insert(token.id.clone(), now_ms);
        match uses.written_ms < now_ms - WRITTEN_EVERY_MS {
            true => {
                uses.written_ms = now_ms;
                uses.last.drain().collect()
            }
            false => Vec::new(),
        }
    }

    /// The uses that are not written yet, for the shutdown.
    pub(super) fn take(&self) -> Vec<(TokenId, i64)> {
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
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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

    #[test]
    fn uses_are_written_together_and_seldom() {
        const LONG: i64 = WRITTEN_EVERY_MS;
        let start = 10 * LONG;
        let token_uses = TokenUses::new(start);
        let soon = start + LONG / 2;
        let mut fresh = token("a", Some(soon - EXACT_MS));
        assert!(token_uses.used(&mut fresh, soon).is_empty());
        assert_eq!(fresh.last_used_at, Some(soon - EXACT_MS), "exact enough");
        let mut others = [token("b", Some(start - LONG)), token("c", None)];
        for other in &mut others {
            assert!(token_uses.used(other, soon).is_empty(), "they wait");
            assert_eq!(other.last_used_at, Some(soon));
        }
        let mut read = [token("b", Some(start - LONG)), token("d", None)];
        token_uses.complete(&mut read);
        let seen = read.map(|token| token.last_used_at);
        assert_eq!(seen, [Some(soon), None]);

        let later = start + LONG + 1;
        let mut written = token_uses.used(&mut token("d", None), later);
        written.sort();
        let expected = [("b", soon), ("c", soon), ("d", later)];
        assert_eq!(written, expected.map(|(id, at)| (TokenId::new(id), at)));
        assert!(token_uses.take().is_empty());
    }
}
