//! Time as it crosses the wire.

use std::time::{SystemTime, UNIX_EPOCH};

/// Unix time in milliseconds, as every `…At` and `timestamp` of the protocol counts it. Zero on a
/// machine whose clock stands before 1970.
pub fn now_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as i64)
}
