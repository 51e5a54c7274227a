//! Where new ids and the time come from.

use netaclaw_session::{EntryId, SessionId};
use uuid::Uuid;

/// A session id: UUID v7, so that ids sort by the time they were made.
pub fn new_session_id() -> SessionId {
    SessionId::new(Uuid::now_v7().to_string())
}

/// An entry id: eight random hex digits. The caller checks that it is free in its session.
pub fn new_entry_id() -> EntryId {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    // An id is not a secret, so it need not be hard to guess.
    let random = fastrand::u32(..);
    let digits: [u8; 8] = std::array::from_fn(|at| HEX[(random >> (28 - 4 * at)) as usize & 15]);
    EntryId::new(std::str::from_utf8(&digits).expect("hex digits are ASCII"))
}
