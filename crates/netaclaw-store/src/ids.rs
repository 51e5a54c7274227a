//! Where new ids and the time come from.

use jiff::Timestamp;
use netaclaw_session::{EntryId, SessionId};
use uuid::Uuid;

/// A session id: UUID v7, so that ids sort by the time they were made.
pub fn new_session_id() -> SessionId {
    SessionId::new(Uuid::now_v7().to_string())
}

/// An entry id: eight random hex digits. The caller checks that it is free in its session.
pub fn new_entry_id() -> EntryId {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let random = Uuid::new_v4().into_bytes();
    let mut digits = [0; 8];
    for (at, byte) in random[..4].iter().enumerate() {
        digits[2 * at] = HEX[usize::from(byte >> 4)];
        digits[2 * at + 1] = HEX[usize::from(byte & 15)];
    }
    EntryId::new(std::str::from_utf8(&digits).expect("hex digits are ASCII"))
}

/// Unix time in milliseconds.
pub fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}
