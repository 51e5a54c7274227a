//! Whether a session accepts an entry, decided the same way for every provider.

use crate::body::EntryBody;
use crate::error::SessionError;
use crate::provider::{ExpectedLeaf, NewEntry, NewParent};
use crate::tree::SessionTree;
use crate::{FORMAT_VERSION, Header};
use netaclaw_protocol::{EntryId, SessionId, SessionStatus};

/// Refuses to write a session of a newer format: what its lines mean is not known here.
pub fn check_format(header: &Header) -> Result<(), SessionError> {
    let found = header.version();
    match found > FORMAT_VERSION {
        true => Err(SessionError::NewerFormat {
            session: header.id().clone(),
            found,
            supported: FORMAT_VERSION,
        }),
        false => Ok(()),
    }
}

/// Refuses an append to a session of a newer format or to a deleted one, at another leaf than
/// expected, below or about an unknown entry, and with an id that is taken, in this order.
pub fn check_append(
    tree: &SessionTree,
    session: &SessionId,
    new: &NewEntry,
) -> Result<(), SessionError> {
    check_format(tree.header())?;
    if tree.meta().status == Some(SessionStatus::Deleted) {
        return Err(SessionError::NotFound(session.clone()));
    }
    if let ExpectedLeaf::Is(expected) = &new.expected_leaf
        && expected.as_ref() != tree.leaf()
    {
        return Err(SessionError::LeafConflict {
            session: session.clone(),
            expected: expected.clone(),
            actual: tree.leaf().cloned(),
        });
    }
    let known = |entry: &EntryId| match tree.contains(entry) {
        true => Ok(()),
        false => Err(SessionError::EntryNotFound {
            session: session.clone(),
            entry: entry.clone(),
        }),
    };
    if let NewParent::Entry(Some(parent)) = &new.parent {
        known(parent)?;
    }
    if let EntryBody::Label { target_id, .. } = &new.body {
        known(target_id)?;
    }
    match &new.id {
        Some(entry) if tree.contains(entry) => Err(SessionError::DuplicateEntry {
            session: session.clone(),
            entry: entry.clone(),
        }),
        _ => Ok(()),
    }
}
