//! Detects external content on the path of a session.
//!
//! The result depends on the entries alone, so it is the same after a restart, in a fork and in
//! another process. Everything on the path counts, also what a compaction replaces: a summary of
//! external content is external content. Other branches do not count, unless a summary of a branch
//! brought their content here, which the summary records (`FOREIGN_MARK`).
//!
//! Files of the workspace are not external: they are the user's, and what a session writes there
//! needs approval.

use netaclaw_protocol::{ForeignContent, ForeignKind, ForeignSource};
use netaclaw_session::{Entry, EntryId, EntryKind, Role, SessionTree};
use serde::Deserialize;
use serde_json::Value;
use std::sync::{Mutex, PoisonError};

/// In the details of a branch summary: what the branch had read from outside.
pub(crate) const FOREIGN_MARK: &str = "foreign";

/// Tools whose results come from the user, the session or the workspace. Results of tools that are
/// not listed here count as external.
const LOCAL_TOOLS: [&str; 12] = [
    "clarify",
    "edit",
    "find",
    "grep",
    "list_skills",
    "ls",
    "memory_save",
    "memory_search",
    "read",
    "read_skill",
    "todo",
    "write",
];
/// Tools whose results are local as long as their programs could not use the network.
const PROGRAM_TOOLS: [&str; 2] = ["bash", netaclaw_tools::EXECUTE_SKILL];
const WEB_TOOL: &str = "web_fetch";

/// Sources that are named; further ones do not change what is decided.
const SOURCES_MAX: usize = 8;
/// Names come from outside as well.
const NAME_CHARS_MAX: usize = 100;

/// Remembers what was found at one place of a session. Entries never change, so the next look
/// reads only what was appended since; another branch, or a log that another program has replaced,
/// is read from its root.
#[derive(Debug, Default)]
pub(crate) struct ForeignContentCache {
    known: Mutex<Option<CachedContent>>,
}

#[derive(Debug)]
struct CachedContent {
    position: usize,
    tip: EntryId,
    content: ForeignContent,
}

impl ForeignContentCache {
    /// What the path to `tip` holds.
    pub(crate) fn at(&self, tree: &SessionTree, tip: Option<&EntryId>) -> ForeignContent {
        let position = tip.and_then(|tip| Some((tree.index().position(tip)?, tip)));
        let Some((position, tip)) = position else {
            return ForeignContent::default();
        };
        let mut kept = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.take().filter(|known| known.is_in(tree));
        let content = on_path(tree, tip, known);
        *kept = Some(CachedContent {
            position,
            tip: tip.clone(),
            content: content.clone(),
        });
        content
    }
}

impl CachedContent {
    fn is_in(&self, tree: &SessionTree) -> bool {
        let entry = tree.entries().get(self.position);
        entry.is_some_and(|entry| *entry.id() == self.tip)
    }
}

/// Walks from `tip` to the root, or to the place that is known already.
fn on_path(tree: &SessionTree, tip: &EntryId, known: Option<CachedContent>) -> ForeignContent {
    let mut path = Vec::new();
    let mut at = tree.get(tip);
    let mut content = ForeignContent::default();
    while let Some(entry) = at {
        if let Some(known) = known.as_ref().filter(|known| known.tip == *entry.id()) {
            content = known.content.clone();
            break;
        }
        if path.len() > tree.entries().len() {
            // A circle. What cannot be read may be anything.
            add(&mut content, source(ForeignKind::Other, "damaged session"));
            break;
        }
        path.push(entry);
        at = entry.parent_id().and_then(|parent| tree.get(parent));
    }
    for entry in path.into_iter().rev() {
        if content.0.len() >= SOURCES_MAX {
            break;
        }
        for source in sources_of(entry) {
            add(&mut content, source);
        }
    }
    content
}

fn add(content: &mut ForeignContent, source: ForeignSource) {
    if content.0.len() < SOURCES_MAX && !content.0.contains(&source) {
        content.0.push(source);
    }
}

fn source(kind: ForeignKind, name: &str) -> ForeignSource {
    let name = name.chars().filter(|c| !c.is_control());
    ForeignSource {
        kind,
        name: name.take(NAME_CHARS_MAX).collect(),
    }
}

/// What one entry brings into the context from outside.
fn sources_of(entry: &Entry) -> Vec<ForeignSource> {
    let other = |name: &str| vec![source(ForeignKind::Other, name)];
    match (entry.kind(), entry.role()) {
        (EntryKind::Message, Role::ToolResult) => of_result(entry).into_iter().collect(),
        (EntryKind::Message, Role::User) => of_user(entry),
        (EntryKind::Message, Role::Assistant | Role::System) => Vec::new(),
        // Other programs have more roles, for example for output of commands.
        (EntryKind::Message, Role::Other) => match entry.message_json() {
            Some(_) => other("other program"),
            None => Vec::new(),
        },
        (EntryKind::CustomMessage, _) => {
            let written_by = entry.text_field("customType").unwrap_or_default();
            match written_by.starts_with("netaclaw.") {
                true => Vec::new(),
                false => other(&written_by),
            }
        }
        (EntryKind::BranchSummary, _) => {
            let details = entry.field("details");
            let details = details.and_then(|json| serde_json::from_str::<Value>(json).ok());
            let mark = details.and_then(|details| details.get(FOREIGN_MARK).cloned());
            match mark.and_then(|mark| serde_json::from_value::<ForeignContent>(mark).ok()) {
                Some(content) => content.0,
                // Of another program or release: its content is unknown.
                None => other("branch summary"),
            }
        }
        _ => Vec::new(),
    }
}

/// What the run adds to the details of every result, also of a call that never ran.
const OWN_DETAILS: [&str; 8] = [
    "allowedBy",
    "blockedReason",
    "durationMs",
    "ending",
    "policySources",
    "runtimeRoute",
    "toolLabel",
    "workerRoutingHint",
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolResult {
    tool_name: String,
    #[serde(default)]
    is_error: bool,
    #[serde(default)]
    details: Value,
}

impl ToolResult {
    /// Refused, invalid or overtaken by a stop: what the model reads was written here.
    fn never_ran(&self) -> bool {
        let own = |name: &String| OWN_DETAILS.contains(&name.as_str());
        let details = self.details.as_object();
        self.is_error && details.is_some_and(|details| details.keys().all(own))
    }
}

fn of_result(entry: &Entry) -> Option<ForeignSource> {
    let result = serde_json::from_str::<ToolResult>(entry.message_json()?);
    let Ok(result) = result else {
        return Some(source(ForeignKind::Other, ""));
    };
    let tool = result.tool_name.as_str();
    if LOCAL_TOOLS.contains(&tool) || result.never_ran() {
        return None;
    }
    let details = &result.details;
    if tool == WEB_TOOL {
        let url = details["url"].as_str().unwrap_or_default();
        return Some(source(ForeignKind::Web, &host_of(url)));
    }
    if PROGRAM_TOOLS.contains(&tool) {
        let had_network = details["sandbox"]["network"] != Value::Bool(false);
        return had_network.then(|| source(ForeignKind::Program, tool));
    }
    Some(match details["server"].as_str() {
        Some(server) => source(ForeignKind::Mcp, server),
        None => source(ForeignKind::Other, tool),
    })
}

/// For display; the decision depends only on whether there is a page.
fn host_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    rest[..end].to_owned()
}

fn of_user(entry: &Entry) -> Vec<ForeignSource> {
    #[derive(Deserialize)]
    struct Message {
        content: Content,
        #[serde(default)]
        netaclaw: AttachmentMark,
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Content {
        Blocks(Vec<Block>),
        Text(#[expect(dead_code, reason = "that it is a text is enough")] String),
    }
    #[derive(Deserialize)]
    struct Block {
        #[serde(rename = "type")]
        kind: String,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct AttachmentMark {
        attachments: Vec<Attached>,
    }
    #[derive(Deserialize)]
    struct Attached {
        name: String,
    }
    let Some(json) = entry.message_json() else {
        return Vec::new();
    };
    let file = |name: &str| source(ForeignKind::File, name);
    let Ok(message) = serde_json::from_str::<Message>(json) else {
        // `null` is shown as an empty text.
        return match json.contains("\"content\":null") {
            true => Vec::new(),
            false => vec![file("")],
        };
    };
    if !message.netaclaw.attachments.is_empty() {
        let files = message.netaclaw.attachments.iter();
        return files.map(|attached| file(&attached.name)).collect();
    }
    match message.content {
        Content::Text(_) => Vec::new(),
        Content::Blocks(blocks) => match blocks.iter().all(|block| block.kind == "text") {
            true => Vec::new(),
            false => vec![file("")],
        },
    }
}

#[cfg(test)]
mod tests;
