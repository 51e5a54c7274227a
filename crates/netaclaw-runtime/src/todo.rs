//! The to-do list as entries of the session: it follows the path, so that switching branches
//! switches the list for users and model alike.

use netaclaw_protocol::TodoList;
use netaclaw_session::{Entry, EntryBody, EntryKind, raw_json};

/// The `customType` of the entries that hold the list.
pub const TODO_ENTRY: &str = "todo";

/// The list in force at the end of a path, given from root to leaf. An entry that cannot be read
/// is passed over, as a damaged list is worse than an older one.
pub fn todo_on_path<'a>(path: impl DoubleEndedIterator<Item = &'a Entry>) -> TodoList {
    path.rev()
        .filter(|entry| entry.kind() == EntryKind::Custom)
        .filter(|entry| entry.text_field("customType").as_deref() == Some(TODO_ENTRY))
        .find_map(|entry| serde_json::from_str(entry.field("data")?).ok())
        .unwrap_or_default()
}

pub(crate) fn todo_entry(list: &TodoList) -> EntryBody {
    EntryBody::Custom {
        custom_type: TODO_ENTRY.to_owned(),
        data: Some(raw_json(list)),
    }
}
