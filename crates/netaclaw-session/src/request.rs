//! Ids of sessions that a request makes: UUIDs of version 7, so that they sort by their time, in
//! which the request is found again. A repeated request has another time and the same key.

use crate::SessionId;
use std::fmt;

/// Marks an id that a request made, where other ids have random digits.
const MARK: &str = "7ec5";
/// Where the key begins in an id, behind the time.
const KEY_AT: usize = 14;
const ID_LEN: usize = 36;

/// The part of a session's id that the request alone decides.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RequestKey(String);

impl RequestKey {
    /// Of a request with this hash.
    pub fn new(hash: u64) -> Self {
        let (high, low) = (hash >> 48 & 0x3fff, hash & 0xffff_ffff_ffff);
        Self(format!("{MARK}-{:04x}-{low:012x}", 0x8000 | high))
    }

    /// The key in an id; `None` if no request made the id.
    pub fn of(session: &SessionId) -> Option<Self> {
        let id = session.as_str();
        let is_made = id.len() == ID_LEN && id.get(KEY_AT..KEY_AT + MARK.len()) == Some(MARK);
        is_made.then(|| Self(id[KEY_AT..].to_owned()))
    }

    /// The id of a session that the request makes at this time.
    pub fn session_id(&self, now_ms: i64) -> SessionId {
        let ms = u64::try_from(now_ms).unwrap_or_default() & 0xffff_ffff_ffff;
        SessionId::new(format!("{:08x}-{:04x}-{self}", ms >> 16, ms & 0xffff))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RequestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_tells_its_time_and_its_request() {
        for hash in [0, 1, u64::MAX, 0x0123_4567_89ab_cdef] {
            let key = RequestKey::new(hash);
            let ids = [0x0195_f2d1_7c1e, 0x0195_f2d1_7c1f].map(|ms| key.session_id(ms));
            assert!(ids[0].as_str().starts_with("0195f2d1-7c1e-7ec5-"));
            assert!(ids[0].as_str() < ids[1].as_str());
            for id in ids {
                assert_eq!(RequestKey::of(&id), Some(key.clone()));
                assert_eq!(id.as_str().len(), ID_LEN);
                assert!(matches!(&id.as_str()[19..20], "8" | "9" | "a" | "b"));
            }
        }
        assert_ne!(RequestKey::new(1), RequestKey::new(1 << 50));
        for other in [
            "0195f2d1-7c1e-7000-8000-000000000001",
            "my-own",
            "",
            "é".repeat(18).as_str(),
        ] {
            assert_eq!(RequestKey::of(&SessionId::new(other)), None, "{other}");
        }
    }
}
