//! The log of a new session, the same in every store.

use crate::{new_entry_id, now_ms};
use netaclaw_session::{
    EntryBody, NewHeader, NewSession, SessionId, SessionLog, encode_entry, encode_header,
    format_timestamp,
};

/// The header, and the title as the first entry if there is one.
pub(crate) fn new_log(new: NewSession, id: &SessionId) -> SessionLog {
    let timestamp = format_timestamp(now_ms());
    let header = encode_header(&NewHeader {
        id,
        timestamp: &timestamp,
        cwd: &new.cwd,
        parent_session: None,
        parent_session_id: new.parent_session_id.as_ref(),
        agent_id: new.agent_id.as_deref(),
        user_id: new.user_id.as_deref(),
        metadata: new.metadata,
    });
    let title = new.title.filter(|title| !title.trim().is_empty());
    let name = title.map(|name| {
        let body = EntryBody::SessionInfo { name };
        encode_entry(&body, &new_entry_id(), None, &timestamp)
    });
    SessionLog::new(header, name.into_iter().collect())
}
