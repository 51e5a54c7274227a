//! `grep`: lines by their content.

mod hits;
mod line;
mod pattern;

use super::glob::PathGlob;
use super::looking::LookingTool;
use super::names::shown;
use super::search::{PageBounds, progress};
use crate::context::ToolContext;
use crate::execute::blocking;
use crate::output::ToolOutput;
use crate::tool::{Call, TypedTool};
use crate::workspace::{IgnoreFiles, Kind, PathError, Visit, Walk, WalkStart};
use async_trait::async_trait;
use hits::{FileHits, TopFiles};
use line::Searched;
use netaclaw_governance::ToolManifest;
use pattern::{Pattern, PatternOptions};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::path::Path;
use std::time::Duration;

const LIMIT_DEFAULT: usize = 200;
/// Matches held in memory, however many there are.
const HELD_MAX: usize = 5_000;
const CONTEXT_MAX: usize = 20;

/// Searches files of the workspace.
#[derive(Clone, Copy, Debug)]
pub struct Grep;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrepInput {
    /// Regular expression (Rust syntax, without look-around), matched against each line.
    pattern: String,
    /// File or directory to search, relative to the workspace or absolute inside of it. Default:
    /// the workspace.
    #[serde(default)]
    path: Option<String>,
    /// Glob pattern of the files to search, such as `*.rs` or `src/**`; with a leading `!`, of the
    /// files to exclude.
    #[serde(default)]
    glob: Option<String>,
    /// Treat `pattern` as plain text.
    #[serde(default)]
    literal: bool,
    #[serde(default)]
    ignore_case: bool,
    /// Lines to show before and after each match, at most 20.
    #[serde(default)]
    context: Option<usize>,
    /// Return only the paths of files with a match.
    #[serde(default)]
    files_only: bool,
    /// Also search what `.gitignore` and similar files exclude.
    #[serde(default)]
    include_ignored: bool,
    /// Number of matches (with `files_only`: files) to skip.
    #[serde(default)]
    offset: Option<usize>,
    /// Number of matches (with `files_only`: files) to return. Default: 200.
    #[serde(default)]
    #[schemars(range(min = 1))]
    limit: Option<usize>,
}

#[async_trait]
impl TypedTool for Grep {
    type Input = GrepInput;

    fn manifest(&self) -> ToolManifest {
        LookingTool {
            name: "grep",
            label_zh: "搜索内容",
            label_en: "Search content",
            description: "Searches the content of files in the workspace with a regular \
                          expression. Returns the path of each file and below it the lines with \
                          their numbers, followed by `:` for a match and `-` for context. Sorted \
                          by path. Respects `.gitignore`; skips binary files. Long results are \
                          returned in parts; continue with `offset`.",
            guidance: "Use `grep` to find where something is mentioned or used, instead of \
                       reading files one by one.",
            timeout: Duration::from_secs(60),
        }
        .manifest()
    }

    async fn run(&self, call: Call<GrepInput>, context: ToolContext) -> ToolOutput {
        let output_cap = call.output_cap();
        let input = call.into_input();
        blocking(move || grep(&input, output_cap, &context).unwrap_or_else(ToolOutput::error)).await
    }
}

fn grep(input: &GrepInput, output_cap: usize, context: &ToolContext) -> Result<ToolOutput, String> {
    let held = PageBounds::new(input.offset, input.limit.unwrap_or(LIMIT_DEFAULT), HELD_MAX)?;
    let options = PatternOptions {
        literal: input.literal,
        ignore_case: input.ignore_case,
    };
    let search = Search {
        pattern: Pattern::new(&input.pattern, options)?,
        glob: input.glob.as_deref().map(PathGlob::new).transpose()?,
        around: input.context.unwrap_or(0).min(CONTEXT_MAX),
        files_only: input.files_only,
        held: held.until(),
        context,
    };
    let path = input.path.as_deref().filter(|path| !path.is_empty());
    let path = path.unwrap_or(".");
    let (prefix, found) = match context.workspace.open_walk(path) {
        Ok(start) => {
            let walk = Walk {
                start: &start,
                ignore_files: match input.include_ignored {
                    true => IgnoreFiles::PassedOver,
                    false => IgnoreFiles::Honoured,
                },
                cancel: &context.cancel,
                progress: &progress(&context.updates),
            };
            let walked = walk.run(|| search.searcher(Some(&start), &start.prefix));
            let mut found = Found {
                unreadable: walked.unreadable_dirs,
                ..Found::default()
            };
            for searcher in walked.visitors {
                found.add(searcher.found);
            }
            (start.prefix, found)
        }
        Err(PathError::NotDirectory(_)) => (String::new(), search.one_file(path)?),
        Err(error) => return Err(error.to_string()),
    };
    let shown = hits::show(&found.kept, held, &prefix, input.files_only, output_cap);
    Ok(tell(input, held, found, shown, context))
}

/// What is looked for, and how.
struct Search<'a> {
    pattern: Pattern,
    glob: Option<PathGlob>,
    around: usize,
    files_only: bool,
    held: usize,
    context: &'a ToolContext,
}

impl Search<'_> {
    fn searcher<'a>(&'a self, start: Option<&'a WalkStart>, prefix: &'a str) -> Searcher<'a> {
        Searcher {
            search: self,
            start,
            prefix,
            lines: line::LineSearcher::new(&self.pattern, self.around, &self.context.cancel),
            found: Found {
                kept: TopFiles::new(self.held),
                ..Found::default()
            },
        }
    }

    /// A file that was named is searched, whatever ignore files and patterns say.
    fn one_file(&self, path: &str) -> Result<Found, String> {
        let file = self.context.workspace.open_file(path);
        let file = file.map_err(|error| error.to_string())?;
        let mut searcher = self.searcher(None, "");
        searcher.search_file(Path::new(path), file);
        match searcher.found {
            found if found.binary > 0 => {
                Err(format!("`{path}` is a binary file and cannot be searched."))
            }
            found => Ok(found),
        }
    }
}

/// What one thread, or all of them, have found.
#[derive(Debug, Default)]
struct Found {
    kept: TopFiles,
    files_searched: usize,
    binary: usize,
    unreadable: usize,
    long_lines: usize,
}

impl Found {
    fn add(&mut self, other: Self) {
        self.files_searched += other.files_searched;
        self.binary += other.binary;
        self.unreadable += other.unreadable;
        self.long_lines += other.long_lines;
        self.kept.add(other.kept);
    }
}

struct Searcher<'a> {
    search: &'a Search<'a>,
    start: Option<&'a WalkStart>,
    prefix: &'a str,
    lines: line::LineSearcher<'a>,
    found: Found,
}

impl Visit for Searcher<'_> {
    fn visit(&mut self, path: &Path, kind: Kind) {
        let fits = |glob: &PathGlob| glob.fits(self.prefix, path);
        if kind != Kind::File
            || !self.search.glob.as_ref().is_none_or(fits)
            || !self.found.kept.wants(path)
        {
            return;
        }
        match self.start.map(|start| start.open_file(path)) {
            Some(Ok(file)) => self.search_file(path, file),
            _ => self.found.unreadable += 1,
        }
    }
}

impl Searcher<'_> {
    fn search_file(&mut self, path: &Path, file: std::fs::File) {
        let stop_after = match self.search.files_only {
            true => 1,
            // One more than wanted, to detect that there are more.
            false => self.search.held + 1,
        };
        let (searched, lines, matches) = self.lines.search(file, stop_after);
        match searched {
            Searched::Whole => self.found.files_searched += 1,
            Searched::Binary => {
                self.found.binary += 1;
                return;
            }
            Searched::Unreadable => self.found.unreadable += 1,
            Searched::LongLine => self.found.long_lines += 1,
        }
        if matches > 0 {
            self.found.kept.keep(FileHits {
                path: path.to_owned(),
                lines: match self.search.files_only {
                    true => Vec::new(),
                    false => lines,
                },
                matches,
            });
        }
    }
}

fn tell(
    input: &GrepInput,
    held: PageBounds,
    found: Found,
    shown: hits::ResultPage,
    context: &ToolContext,
) -> ToolOutput {
    let what = if input.files_only { "Files" } else { "Matches" };
    let mut text = shown.text;
    let next = held.offset + shown.count;
    if shown.count == 0 {
        text.push_str(match held.offset {
            0 => "No matches.\n",
            _ => "[There are no more.]\n",
        });
    } else if shown.more {
        let first = held.offset + 1;
        text.push_str(&format!(
            "[{what} {first} to {next}; there are more. Continue with offset={next}, or use a \
             more specific pattern.]\n"
        ));
    }
    let called_off = context.cancel.is_cancelled();
    let notes = [
        (found.unreadable, "files or directories could not be read"),
        (
            found.long_lines,
            "files have lines that are too long for this pattern",
        ),
    ];
    for (count, what) in notes.into_iter().filter(|(count, _)| *count > 0) {
        text.push_str(&format!("[{count} {what}.]\n"));
    }
    if called_off {
        text.push_str("[The search was cancelled; there may be more matches.]\n");
    }
    let details = json!({
        "offset": held.offset,
        "shown": shown.count,
        "files": shown.files,
        "more": shown.more,
        "unreadable": found.unreadable,
        "longLines": found.long_lines,
    });
    ToolOutput {
        is_error: called_off,
        ..ToolOutput::text(text).with_details(details)
    }
}

/// A path as it is shown, and as other tools take it.
fn shown_path(prefix: &str, path: &Path) -> String {
    format!("{prefix}{}", shown(path.as_os_str()))
}
