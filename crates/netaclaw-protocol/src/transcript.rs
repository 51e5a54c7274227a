//! The content of a session, over REST.

use crate::{EntryId, ModelRef};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

#[derive(Clone, Debug, Serialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "view", rename_all = "snake_case")]
pub enum SessionMessages {
    /// All entries of the active path.
    Full(EntryPage),
    /// The context that the model receives.
    Compacted(ContextMessages),
}

/// A part of the active path, oldest first.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct EntryPage {
    #[schema(value_type = Vec<Object>)]
    #[cfg_attr(feature = "typescript", ts(as = "Vec<crate::Entry>"))]
    pub items: Vec<Box<RawValue>>,
    /// Number of entries on the whole path.
    pub total: u64,
    /// The number of `items`, from the first one on, that are compacted: the model receives the
    /// summary of the last compaction instead.
    pub folded_count: u64,
    /// The value of `before` for older entries; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<EntryId>,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ContextMessages {
    /// Oldest first. Process events and notes about subagents are not among their details.
    #[schema(value_type = Vec<Object>)]
    #[cfg_attr(feature = "typescript", ts(as = "Vec<crate::EntryMessage>"))]
    pub items: Vec<Box<RawValue>>,
    /// Number of messages in the whole context.
    pub total: u64,
    pub source_entry_ids: Vec<EntryId>,
    /// The value of `before` for older messages; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<EntryId>,
    pub thinking_level: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
}

/// The structure of a session tree, with short previews.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SessionTreeView {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaf_entry_id: Option<EntryId>,
    /// In the order they were appended.
    pub entries: Vec<TreeEntry>,
    /// Lines of the session that could not be read.
    pub skipped_lines: u32,
}

/// One entry of the tree. Labels and names are not entries here: a label is shown at its target,
/// and its children belong to the entry above it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct TreeEntry {
    pub id: EntryId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<EntryId>,
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    pub timestamp: String,
    /// The beginning of its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The tools that an answer calls, or the tool whose result this is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_names: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}
