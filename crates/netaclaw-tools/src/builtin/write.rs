//! `write`: a file as a whole.

use super::diff::Change;
use crate::context::ToolContext;
use crate::execute::blocking;
use crate::output::ToolOutput;
use crate::tool::{Call, TypedTool};
use crate::workspace::{MissingDirs, WriteError};
use async_trait::async_trait;
use netaclaw_governance::{Concurrency, EgressTarget, ToolManifest, WorkerUse};
use netaclaw_protocol::{ToolCategory, ToolLabel, ToolRisk, ToolStatus};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io;
use std::time::Duration;

/// Longer files are replaced without a diff.
const DIFF_BYTES_MAX: u64 = 4 << 20;

/// Writes files of the workspace.
#[derive(Clone, Copy, Debug)]
pub struct Write;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteInput {
    /// Path of the file, relative to the workspace or absolute inside of it. Missing directories
    /// are created.
    path: String,
    /// Complete new content of the file.
    content: String,
}

#[async_trait]
impl TypedTool for Write {
    type Input = WriteInput;

    fn manifest(&self) -> ToolManifest {
        ToolManifest {
            name: "write".to_owned(),
            label: ToolLabel {
                zh: "写入文件".to_owned(),
                en: "Write file".to_owned(),
            },
            description: "Creates a file in the workspace, or replaces its whole content. Refuses \
                          to replace a file that was changed since you read it; read it again in \
                          that case."
                .into(),
            guidance: "Use `write` for new files and complete rewrites, and `edit` for smaller \
                       changes."
                .to_owned(),
            category: ToolCategory::Files,
            schema: Value::Null.into(),
            risk: ToolRisk::Write,
            default_status: ToolStatus::Enabled,
            worker: WorkerUse::Local,
            needs: Vec::new(),
            timeout: Some(Duration::from_secs(60)),
            output_cap: 4 << 10,
            // Two writes to one file must happen in the order they were asked for.
            concurrency: Concurrency::Exclusive,
            outlet: EgressTarget::None,
        }
    }

    async fn run(&self, call: Call<WriteInput>, context: ToolContext) -> ToolOutput {
        let folder = call.limits().folder().map(str::to_owned);
        let input = call.into_input();
        blocking(move || {
            write(&input, folder.as_deref(), &context).unwrap_or_else(|problem| problem.into())
        })
        .await
    }
}

/// Why nothing was written, as text for the model.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error(
        "`{0}` was changed by another program or user since you last read or wrote it. Nothing \
         was written; read it again first."
    )]
    Stale(String),
    #[error("`{path}` could not be read: {problem}. Nothing was written.")]
    Unreadable {
        path: String,
        problem: io::ErrorKind,
    },
    #[error("The write was cancelled. Nothing was written.")]
    CalledOff,
}

impl From<Problem> for ToolOutput {
    fn from(problem: Problem) -> Self {
        Self::error(problem.to_string())
    }
}

fn write(
    input: &WriteInput,
    folder: Option<&str>,
    context: &ToolContext,
) -> Result<ToolOutput, Problem> {
    if context.cancel.is_cancelled() {
        return Err(Problem::CalledOff);
    }
    let workspace = &context.workspace;
    let place = workspace
        .place_in(&input.path, MissingDirs::Create, folder)
        .map_err(WriteError::from)?;
    let mut existing = place.existing().map_err(WriteError::from)?;
    let before = match &mut existing {
        None => PreviousContent::Nothing,
        Some(old) => {
            if workspace.changed_since_seen(&input.path, old.stamp()) {
                return Err(Problem::Stale(input.path.clone()));
            }
            let read = old.read(DIFF_BYTES_MAX);
            match read.map_err(|error| Problem::Unreadable {
                path: input.path.clone(),
                problem: error.kind(),
            })? {
                Some(bytes) => PreviousContent::Content(bytes),
                None => PreviousContent::Long,
            }
        }
    };
    let new = input.content.as_bytes();
    if matches!(&before, PreviousContent::Content(old) if old == new) {
        let text = format!("`{}` already had this content.", input.path);
        let details = json!({ "path": input.path, "change": "none", "bytes": new.len() });
        return Ok(ToolOutput::text(text).with_details(details));
    }
    let stamp = place.put(new, existing.as_ref())?;
    workspace.record_read(&input.path, stamp);
    Ok(to_output(input, &before))
}

/// What was there.
enum PreviousContent {
    Nothing,
    Content(Vec<u8>),
    /// Too long to be compared.
    Long,
}

fn to_output(input: &WriteInput, before: &PreviousContent) -> ToolOutput {
    let (path, new) = (&input.path, input.content.as_bytes());
    let bytes = new.len();
    let change = match before {
        PreviousContent::Nothing => "created",
        PreviousContent::Content(_) | PreviousContent::Long => "replaced",
    };
    let mut details = json!({ "path": path, "change": change, "bytes": bytes });
    let mut text = match before {
        PreviousContent::Nothing => {
            let change = Change::between(b"", new);
            change.tell(&mut details);
            format!("Created `{path}` ({} lines, {bytes} bytes).", change.added)
        }
        PreviousContent::Content(old) if memchr::memchr(0, old).is_none() => {
            let change = Change::between(old, new);
            change.tell(&mut details);
            format!("Replaced `{path}` ({}, {bytes} bytes).", change.counts())
        }
        PreviousContent::Content(_) | PreviousContent::Long => {
            format!("Replaced `{path}` ({bytes} bytes).")
        }
    };
    if let PreviousContent::Content(old) = before
        && memchr::memmem::find(old, b"\r\n").is_some()
        && !input.content.contains("\r\n")
    {
        text.push_str(" Its lines ended with CRLF before and now end with LF.");
    }
    ToolOutput::text(text).with_details(details)
}
