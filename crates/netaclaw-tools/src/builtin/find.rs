//! `find`: files and directories by their names.

use super::glob::PathGlob;
use super::looking::LookingTool;
use super::names::shown;
use super::search::{PageBounds, progress};
use crate::context::ToolContext;
use crate::execute::blocking;
use crate::output::ToolOutput;
use crate::tool::{Call, TypedTool};
use crate::workspace::{IgnoreFiles, Kind, Visit, Walk, Walked};
use async_trait::async_trait;
use netaclaw_governance::ToolManifest;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};
use std::time::Duration;

const LIMIT_DEFAULT: usize = 500;
/// Paths held in memory, however many there are.
const HELD_MAX: usize = 20_000;

/// Finds files of the workspace.
#[derive(Clone, Copy, Debug)]
pub struct Find;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindInput {
    /// Glob pattern, such as `*.rs`, `src/**/*.test.ts` or `*.{yml,yaml}`. Without a slash it
    /// matches names anywhere below `path`, with a slash whole paths.
    pattern: String,
    /// Directory to search, relative to the workspace or absolute inside of it. Default: the
    /// workspace.
    #[serde(default)]
    path: Option<String>,
    /// Type of the results. Default: `any`.
    #[serde(default)]
    kind: KindInput,
    /// Include what `.gitignore` and similar files exclude.
    #[serde(default)]
    include_ignored: bool,
    /// Number of results to skip.
    #[serde(default)]
    offset: Option<usize>,
    /// Number of results to return. Default: 500.
    #[serde(default)]
    #[schemars(range(min = 1))]
    limit: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum KindInput {
    #[default]
    Any,
    File,
    Directory,
}

#[async_trait]
impl TypedTool for Find {
    type Input = FindInput;

    fn manifest(&self) -> ToolManifest {
        LookingTool {
            name: "find",
            label_zh: "查找文件",
            label_en: "Find files",
            description: "Finds files and directories in the workspace by a glob pattern. Returns \
                          paths sorted by path; directories end with a slash. Respects \
                          `.gitignore`; includes hidden files. Long results are returned in \
                          parts; continue with `offset`.",
            guidance: "Use `find` if you know part of a file's name, and `grep` if you know part \
                       of its content.",
            timeout: Duration::from_secs(60),
        }
        .manifest()
    }

    async fn run(&self, call: Call<FindInput>, context: ToolContext) -> ToolOutput {
        let output_cap = call.output_cap();
        let input = call.into_input();
        blocking(move || find(&input, output_cap, &context).unwrap_or_else(ToolOutput::error)).await
    }
}

fn find(input: &FindInput, output_cap: usize, context: &ToolContext) -> Result<ToolOutput, String> {
    let held = PageBounds::new(input.offset, input.limit.unwrap_or(LIMIT_DEFAULT), HELD_MAX)?;
    let glob = PathGlob::new(&input.pattern)?;
    // A slash at the end asks for directories.
    let kind = match input.pattern.ends_with('/') {
        true => KindInput::Directory,
        false => input.kind,
    };
    let path = input.path.as_deref().filter(|path| !path.is_empty());
    let start = context.workspace.open_walk(path.unwrap_or("."));
    let start = start.map_err(|error| error.to_string())?;
    let walk = Walk {
        start: &start,
        ignore_files: match input.include_ignored {
            true => IgnoreFiles::PassedOver,
            false => IgnoreFiles::Honoured,
        },
        cancel: &context.cancel,
        progress: &progress(&context.updates),
    };
    let walked = walk.run(|| Finder {
        glob: &glob,
        prefix: &start.prefix,
        kind,
        held: held.until(),
        first: BinaryHeap::new(),
        total: 0,
    });
    Ok(show(walked, held, &start.prefix, output_cap))
}

/// One thread's share of what was found.
struct Finder<'a> {
    glob: &'a PathGlob,
    prefix: &'a str,
    kind: KindInput,
    held: usize,
    /// The first of the order so far, with the last of them on top.
    first: BinaryHeap<(PathBuf, bool)>,
    total: usize,
}

impl Visit for Finder<'_> {
    fn visit(&mut self, path: &Path, kind: Kind) {
        let is_dir = kind == Kind::Directory;
        let wanted = match self.kind {
            KindInput::Any => true,
            KindInput::File => kind == Kind::File,
            KindInput::Directory => is_dir,
        };
        if !wanted || !self.glob.fits(self.prefix, path) {
            return;
        }
        self.total += 1;
        let is_full = self.first.len() >= self.held;
        if is_full
            && self
                .first
                .peek()
                .is_some_and(|(last, _)| path > last.as_path())
        {
            return;
        }
        self.first.push((path.to_owned(), is_dir));
        if is_full {
            self.first.pop();
        }
    }
}

fn show(
    walked: Walked<Finder<'_>>,
    held: PageBounds,
    prefix: &str,
    output_cap: usize,
) -> ToolOutput {
    let total: usize = walked.visitors.iter().map(|finder| finder.total).sum();
    let mut paths: Vec<(PathBuf, bool)> = Vec::new();
    for finder in walked.visitors {
        paths.extend(finder.first);
    }
    paths.sort_unstable();
    paths.truncate(held.until());
    let (mut text, mut count) = (String::new(), 0);
    for (path, is_dir) in paths.iter().skip(held.offset) {
        let slash = if *is_dir { "/" } else { "" };
        let line = format!("{prefix}{}{slash}\n", shown(path.as_os_str()));
        // Room is left for the notes below.
        if text.len() + line.len() + 400 > output_cap && count > 0 {
            break;
        }
        text.push_str(&line);
        count += 1;
    }
    let next = held.offset + count;
    if total == 0 {
        text.push_str("No matches.\n");
    } else if count == 0 {
        text.push_str(&format!("[There are only {total} results.]\n"));
    } else if next < total {
        let first = held.offset + 1;
        text.push_str(&format!(
            "[Results {first} to {next} of {total}. Continue with offset={next}.]\n"
        ));
    }
    if walked.unreadable_dirs > 0 {
        let dirs = walked.unreadable_dirs;
        text.push_str(&format!("[{dirs} directories could not be read.]\n"));
    }
    if walked.called_off {
        text.push_str("[The search was cancelled; there may be more results.]\n");
    }
    let details = json!({
        "offset": held.offset,
        "shown": count,
        "total": total,
        "unreadableDirectories": walked.unreadable_dirs,
    });
    let output = ToolOutput::text(text).with_details(details);
    ToolOutput {
        is_error: walked.called_off,
        ..output
    }
}
