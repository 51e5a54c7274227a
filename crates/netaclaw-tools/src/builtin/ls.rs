//! `ls`: what is in a directory.

use super::looking::LookingTool;
use super::names::shown;
use crate::context::ToolContext;
use crate::execute::blocking;
use crate::output::ToolOutput;
use crate::tool::{Call, TypedTool};
use async_trait::async_trait;
use cap_std::fs::{Dir, DirEntry, FileType};
use netaclaw_governance::ToolManifest;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::collections::BinaryHeap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::time::Duration;

const LIMIT_DEFAULT: usize = 500;
/// Entries held in memory, however many the directory has.
const HELD_MAX: usize = 20_000;

/// Lists directories of the workspace.
#[derive(Clone, Copy, Debug)]
pub struct Ls;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LsInput {
    /// Path of the directory, relative to the workspace or absolute inside of it. Default: the
    /// workspace.
    #[serde(default)]
    path: Option<String>,
    /// Number of entries to skip.
    #[serde(default)]
    offset: Option<usize>,
    /// Number of entries to return. Default: 500.
    #[serde(default)]
    #[schemars(range(min = 1))]
    limit: Option<usize>,
}

#[async_trait]
impl TypedTool for Ls {
    type Input = LsInput;

    fn manifest(&self) -> ToolManifest {
        LookingTool {
            name: "ls",
            label_zh: "列出目录",
            label_en: "List directory",
            description: "Lists a directory of the workspace: first directories, which end with a \
                          slash, then files with their sizes in bytes, both sorted by name. Long \
                          listings are returned in parts; continue with `offset`.",
            guidance: "Use `ls` to find out which files exist instead of guessing names.",
            timeout: Duration::from_secs(30),
        }
        .manifest()
    }

    async fn run(&self, call: Call<LsInput>, context: ToolContext) -> ToolOutput {
        let output_cap = call.output_cap();
        let input = call.into_input();
        blocking(move || list(&input, output_cap, &context)).await
    }
}

fn list(input: &LsInput, output_cap: usize, context: &ToolContext) -> ToolOutput {
    let path = input.path.as_deref().filter(|path| !path.is_empty());
    let path = path.unwrap_or(".");
    let dir = match context.workspace.open_dir(path) {
        Ok(dir) => dir,
        Err(error) => return ToolOutput::error(error.to_string()),
    };
    let (offset, limit) = (
        input.offset.unwrap_or(0),
        input.limit.unwrap_or(LIMIT_DEFAULT).max(1),
    );
    let held = offset.saturating_add(limit);
    if held > HELD_MAX {
        let text = format!("The sum of `offset` and `limit` must not exceed {HELD_MAX}.");
        return ToolOutput::error(text);
    }
    match first_names(&dir, held, context) {
        Ok(Some((names, total))) => show(path, &dir, &names, total, offset, output_cap),
        Ok(None) => ToolOutput::error("The listing was cancelled."),
        Err(error) => ToolOutput::error(format!("`{path}` cannot be listed: {}.", error.kind())),
    }
}

/// A name with its place in the order: directories first.
type Placed = (bool, OsString);

/// The first entries of the order and how many there are in all. `None` if it was called off.
fn first_names(
    dir: &Dir,
    held: usize,
    context: &ToolContext,
) -> io::Result<Option<(Vec<Placed>, usize)>> {
    let mut first: BinaryHeap<Placed> = BinaryHeap::with_capacity(held + 1);
    let mut total = 0;
    for entry in dir.entries()? {
        if context.cancel.is_cancelled() {
            return Ok(None);
        }
        total += 1;
        first.push(placed(&entry?));
        if first.len() > held {
            first.pop();
        }
    }
    Ok(Some((first.into_sorted_vec(), total)))
}

fn placed(entry: &DirEntry) -> Placed {
    let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
    (!is_dir, entry.file_name())
}

fn show(
    path: &str,
    dir: &Dir,
    names: &[Placed],
    total: usize,
    offset: usize,
    output_cap: usize,
) -> ToolOutput {
    let mut text = String::new();
    let mut shown = 0;
    for (_, name) in names.iter().skip(offset) {
        let line = line(dir, name);
        // Room is left for the note below.
        if text.len() + line.len() + 200 > output_cap && shown > 0 {
            break;
        }
        text.push_str(&line);
        shown += 1;
    }
    let next = offset + shown;
    let details = json!({ "path": path, "offset": offset, "shown": shown, "total": total });
    if total == 0 {
        text.push_str("(The directory is empty.)");
    } else if shown == 0 {
        text.push_str(&format!("[There are only {total} entries.]"));
    } else if next < total {
        let first = offset + 1;
        text.push_str(&format!(
            "[Entries {first} to {next} of {total}. Continue with offset={next}.]"
        ));
    }
    ToolOutput::text(text).with_details(details)
}

fn line(dir: &Dir, name: &OsStr) -> String {
    let name_shown = shown(name);
    let Ok(metadata) = dir.symlink_metadata(name) else {
        return format!("{name_shown}  (cannot be read)\n");
    };
    let kind: FileType = metadata.file_type();
    if kind.is_dir() {
        format!("{name_shown}/\n")
    } else if kind.is_symlink() {
        match dir.read_link_contents(name) {
            Ok(target) => format!("{name_shown} -> {}\n", shown(target.as_os_str())),
            Err(_) => format!("{name_shown} -> ?\n"),
        }
    } else if kind.is_file() {
        format!("{name_shown}  {}\n", metadata.len())
    } else {
        format!("{name_shown}  (special)\n")
    }
}
