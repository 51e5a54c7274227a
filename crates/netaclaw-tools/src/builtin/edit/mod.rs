//! `edit`: exact replacements in a file.
//!
//! Texts are searched in the file as it is now, so it does not matter when it was read: a text that
//! the model recalls wrongly is not found, and nothing is changed.

mod nearest;
mod replace;

use super::diff::Change;
use crate::context::ToolContext;
use crate::execute::blocking;
use crate::output::ToolOutput;
use crate::tool::{Call, TypedTool};
use crate::workspace::{MissingDirs, PathError, WriteError};
use async_trait::async_trait;
use netaclaw_governance::{Concurrency, EgressTarget, ToolManifest, WorkerUse};
use netaclaw_protocol::{ToolCategory, ToolLabel, ToolRisk, ToolStatus};
use replace::{ReplaceError, replace};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::io;
use std::time::Duration;

/// Files are held in memory while they are edited.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Changes files of the workspace.
#[derive(Clone, Copy, Debug)]
pub struct Edit;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditInput {
    /// Path of the file, relative to the workspace or absolute inside of it.
    path: String,
    /// Replacements. All `old_text` values are matched against the file as it is before the first
    /// replacement, and must not overlap. Either all replacements are made or none.
    #[schemars(length(min = 1))]
    edits: Vec<Replacement>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Replacement {
    /// Text to replace, exactly as in the file, including spaces and line breaks. It must occur
    /// exactly once; include as many surrounding lines as necessary.
    old_text: String,
    /// Replacement; empty to delete the text.
    new_text: String,
    /// Replace all occurrences.
    #[serde(default)]
    replace_all: bool,
}

#[async_trait]
impl TypedTool for Edit {
    type Input = EditInput;

    fn manifest(&self) -> ToolManifest {
        ToolManifest {
            name: "edit".to_owned(),
            label: ToolLabel {
                zh: "修改文件".to_owned(),
                en: "Edit file".to_owned(),
            },
            description: "Replaces exact texts in a file of the workspace, one or several in one \
                          call. Keeps line endings and a byte order mark."
                .into(),
            guidance: "Use `edit` to change files: read the file first, copy the old text \
                       exactly, without line numbers, and put all changes of one file into one \
                       call."
                .to_owned(),
            category: ToolCategory::Files,
            schema: Value::Null.into(),
            risk: ToolRisk::Write,
            default_status: ToolStatus::Enabled,
            worker: WorkerUse::Local,
            needs: Vec::new(),
            timeout: Some(Duration::from_secs(60)),
            output_cap: 8 << 10,
            // Two edits of one file must happen in the order they were asked for.
            concurrency: Concurrency::Exclusive,
            outlet: EgressTarget::None,
        }
    }

    fn normalize(&self, args: &mut Value) {
        normalize(args);
    }

    async fn run(&self, call: Call<EditInput>, context: ToolContext) -> ToolOutput {
        let folder = call.limits().folder().map(str::to_owned);
        let input = call.into_input();
        blocking(move || {
            edit(&input, folder.as_deref(), &context)
                .unwrap_or_else(|error| ToolOutput::error(error.to_string()))
        })
        .await
    }
}

/// What models call the texts that they know from elsewhere.
const OTHER_NAMES: [(&str, &str); 7] = [
    ("oldText", "old_text"),
    ("old_string", "old_text"),
    ("old_str", "old_text"),
    ("newText", "new_text"),
    ("new_string", "new_text"),
    ("new_str", "new_text"),
    ("replaceAll", "replace_all"),
];

/// Models send a single edit next to the path, under names of other tools, or as text.
fn normalize(args: &mut Value) {
    let Value::Object(members) = args else { return };
    rename(members);
    if let Some(path) = members.remove("file_path") {
        members.entry("path").or_insert(path);
    }
    if let Some(Value::String(text)) = members.get("edits")
        && let Ok(edits @ Value::Array(_)) = serde_json::from_str(text)
    {
        members.insert("edits".to_owned(), edits);
    }
    if members.contains_key("old_text") && !members.contains_key("edits") {
        let mut single = Map::new();
        for name in ["old_text", "new_text", "replace_all"] {
            single.extend(members.remove_entry(name));
        }
        members.insert("edits".to_owned(), json!([single]));
    }
    if let Some(Value::Array(edits)) = members.get_mut("edits") {
        for edit in edits.iter_mut().filter_map(Value::as_object_mut) {
            rename(edit);
        }
    }
}

fn rename(members: &mut Map<String, Value>) {
    for (other, name) in OTHER_NAMES {
        if !members.contains_key(name)
            && let Some(value) = members.remove(other)
        {
            members.insert(name.to_owned(), value);
        }
    }
}

/// Why nothing was changed, as text for the model.
#[derive(Debug, thiserror::Error)]
enum EditError {
    #[error(transparent)]
    Path(#[from] PathError),
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error("`{path}` could not be read: {problem}. Nothing was changed.")]
    Unreadable {
        path: String,
        problem: io::ErrorKind,
    },
    #[error(
        "`{path}` has {bytes} bytes; files larger than {FILE_BYTES_MAX} bytes cannot be \
             edited."
    )]
    TooLong { path: String, bytes: u64 },
    #[error("`{0}` is not a text file and cannot be edited.")]
    NotText(String),
    #[error("{problem} Nothing was changed in `{path}`.")]
    Replace { path: String, problem: ReplaceError },
    #[error("The edit was cancelled. Nothing was changed.")]
    CalledOff,
}

fn edit(
    input: &EditInput,
    folder: Option<&str>,
    context: &ToolContext,
) -> Result<ToolOutput, EditError> {
    if context.cancel.is_cancelled() {
        return Err(EditError::CalledOff);
    }
    let path = &input.path;
    let workspace = &context.workspace;
    let place = workspace.place_in(path, MissingDirs::Refuse, folder)?;
    let mut file = place
        .existing()?
        .ok_or_else(|| PathError::NotFound(path.clone()))?;
    let read = file.read(FILE_BYTES_MAX);
    let old = read
        .map_err(|error| EditError::Unreadable {
            path: path.clone(),
            problem: error.kind(),
        })?
        .ok_or_else(|| EditError::TooLong {
            path: path.clone(),
            bytes: file.bytes(),
        })?;
    if memchr::memchr(0, &old).is_some() {
        return Err(EditError::NotText(path.clone()));
    }
    let replaced = replace(&old, &input.edits);
    let replaced = replaced.map_err(|problem| EditError::Replace {
        path: path.clone(),
        problem,
    })?;
    let stamp = place.put(&replaced.bytes, Some(&file))?;
    context.workspace.record_read(path, stamp);
    let change = Change::between(&old, &replaced.bytes);
    let mut details = json!({
        "path": path,
        "change": "edited",
        "bytes": replaced.bytes.len(),
        "replacements": replaced.count,
    });
    change.tell(&mut details);
    let times = match replaced.count {
        1 => "1 replacement".to_owned(),
        count => format!("{count} replacements"),
    };
    let text = format!(
        "Edited `{path}`: {times}, {}, the first at line {}.",
        change.counts(),
        change.first_line
    );
    Ok(ToolOutput::text(text).with_details(details))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_other_tools_are_understood() {
        let wanted = json!({"path": "a", "edits": [{"old_text": "x", "new_text": "y"}]});
        for mut args in [
            json!({"path": "a", "old_text": "x", "new_text": "y"}),
            json!({"file_path": "a", "old_string": "x", "new_string": "y"}),
            json!({"path": "a", "edits": [{"oldText": "x", "newText": "y"}]}),
            json!({"path": "a", "edits": "[{\"old_str\":\"x\",\"new_str\":\"y\"}]"}),
        ] {
            normalize(&mut args);
            assert_eq!(args, wanted);
        }
    }
}
