//! The results of a program: its result for the model, images for users, files in the workspace.

use super::ending::RunEnd;
use crate::builtin::image_type;
use crate::context::ToolContext;
use crate::execute::blocking;
use crate::output::ToolOutput;
use crate::process::EndStatus;
use crate::skills::Skill;
use crate::workspace::Workspace;
use base64::Engine;
use netaclaw_protocol::ContentBlock;
use serde_json::{Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};

const IMAGES_MAX: usize = 6;
const IMAGE_BYTES_MAX: u64 = 3 << 20;

/// The text for the model and for users.
pub(super) async fn output(skill: &Skill, ended: RunEnd, context: &ToolContext) -> ToolOutput {
    let RunEnd {
        end,
        result,
        mut details,
        log,
    } = ended;
    details.insert("skill".to_owned(), json!(skill.name));
    let mut text = String::new();
    if end.status != EndStatus::Completed {
        text.push_str(&format!("[{}]\n", end.message));
        let log: Vec<String> = log.into();
        if !log.is_empty() {
            text.push_str("The last lines of its log:\n");
            text.push_str(&log.join("\n"));
            text.push('\n');
        }
    }
    let images = match &result {
        Some(result) if end.status == EndStatus::Completed => images(result, context).await,
        _ => Vec::new(),
    };
    if let Some(result) = &result {
        let whole = serde_json::to_string_pretty(result).unwrap_or_default();
        text.push_str(&whole);
    }
    if text.is_empty() {
        text.push_str("(no output)");
    }
    let mut content = vec![ContentBlock::Text { text }];
    content.extend(images);
    ToolOutput {
        content,
        details: Some(Value::Object(details)),
        is_error: end.status != EndStatus::Completed,
        process_end: Some(end),
    }
}

/// The pictures that a result names, from inside of the workspace.
async fn images(result: &Value, context: &ToolContext) -> Vec<ContentBlock> {
    let named = result.get("images").and_then(Value::as_array);
    let paths: Vec<String> = named
        .into_iter()
        .flatten()
        .filter_map(|image| image.as_str().or_else(|| image.get("path")?.as_str()))
        .take(IMAGES_MAX)
        .map(str::to_owned)
        .collect();
    if paths.is_empty() {
        return Vec::new();
    }
    let workspace = context.workspace.clone();
    let read = move || {
        let read = |path: &String| {
            let file = workspace.open_file(path).ok()?;
            let mut bytes = Vec::new();
            file.take(IMAGE_BYTES_MAX + 1)
                .read_to_end(&mut bytes)
                .ok()?;
            let fits = bytes.len() as u64 <= IMAGE_BYTES_MAX;
            let mime_type = image_type(&bytes).filter(|_| fits)?;
            Some(ContentBlock::Image {
                data: base64::engine::general_purpose::STANDARD.encode(&bytes),
                mime_type: mime_type.to_owned(),
            })
        };
        paths.iter().filter_map(read).collect()
    };
    // Users see them in any case; for a model without vision, the request replaces them by a note.
    blocking(read).await
}

/// The directory for the results of one call. The server creates it: a program may be allowed to
/// write in it and not next to it.
pub(super) struct Results {
    workspace: cap_std::fs::Dir,
    /// Relative to the workspace.
    pub(super) inside: PathBuf,
}

impl Results {
    pub(super) fn new(workspace: &Workspace, inside: PathBuf) -> std::io::Result<Self> {
        let opened = workspace.open_dir(".");
        let workspace = opened.map_err(|_| std::io::ErrorKind::NotFound)?;
        workspace.create_dir_all(&inside)?;
        Ok(Self { workspace, inside })
    }
}

impl Drop for Results {
    /// Where nothing was put, nothing is left.
    fn drop(&mut self) {
        let dirs = self.inside.ancestors();
        for dir in dirs.filter(|dir| !dir.as_os_str().is_empty()) {
            if self.workspace.remove_dir(dir).is_err() {
                return;
            }
        }
    }
}

/// The directory that a call puts its results into, relative to the workspace. Ids of calls come
/// from models, so only what is harmless in a name is used of them.
pub(super) fn output_dir(skill: &str, tool_call_id: &str) -> PathBuf {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let call: String = tool_call_id
        .chars()
        .filter(|c| plain(*c))
        .take(64)
        .collect();
    let call = match call.as_str() {
        "" => "call",
        call => call,
    };
    Path::new("skill-output").join(skill).join(call)
}
