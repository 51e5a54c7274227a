//! `read`: a file, as text with line numbers or as a picture.

use super::image::image_type;
use super::lines::{Page, Window, read_page};
use super::looking::LookingTool;
use crate::context::{ImageUse, ToolContext};
use crate::execute::blocking;
use crate::output::ToolOutput;
use crate::tool::{Call, TypedTool};
use crate::workspace::FileStamp;
use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use netaclaw_governance::ToolManifest;
use netaclaw_protocol::ContentBlock;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::fs::File;
use std::io::{self, BufReader, Read as _};
use std::time::Duration;

const LINES_DEFAULT: u64 = 2000;
const LINE_BYTES_MAX: usize = 2000;
/// Enough to know what a file is.
const HEAD_BYTES: u64 = 8 << 10;
/// As base64 this is the five megabytes that suppliers take.
const IMAGE_BYTES_MAX: u64 = 3_750_000;
/// Reserved for the notes below the lines.
const NOTE_BYTES: usize = 400;

/// Reads files of the workspace.
#[derive(Clone, Copy, Debug)]
pub struct Read;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadInput {
    /// Path of the file, relative to the workspace or absolute inside of it.
    path: String,
    /// Number of the first line to return, starting at 1.
    #[serde(default)]
    #[schemars(range(min = 1))]
    offset: Option<u64>,
    /// Number of lines to return. Default: 2000.
    #[serde(default)]
    #[schemars(range(min = 1))]
    limit: Option<u64>,
}

#[async_trait]
impl TypedTool for Read {
    type Input = ReadInput;

    fn manifest(&self) -> ToolManifest {
        LookingTool {
            name: "read",
            label_zh: "读取文件",
            label_en: "Read file",
            description: "Reads a file of the workspace. Returns text with line numbers, which \
                          are not part of the file. Long files are returned in parts; continue \
                          with `offset`. Shows PNG, JPEG, GIF and WebP files as images.",
            guidance: "Use `read` before you describe or change a file.",
            timeout: Duration::from_secs(30),
        }
        .manifest()
    }

    async fn run(&self, call: Call<ReadInput>, context: ToolContext) -> ToolOutput {
        let output_cap = call.output_cap();
        let input = call.into_input();
        blocking(move || look(&input, output_cap, &context)).await
    }
}

fn look(input: &ReadInput, output_cap: usize, context: &ToolContext) -> ToolOutput {
    let file = match context.workspace.open_file(&input.path) {
        Ok(file) => file,
        Err(error) => return ToolOutput::error(error.to_string()),
    };
    let shown = show(file, input, output_cap, context);
    shown.unwrap_or_else(|error| {
        ToolOutput::error(format!(
            "`{}` could not be read: {}.",
            input.path,
            error.kind()
        ))
    })
}

fn show(
    mut file: File,
    input: &ReadInput,
    output_cap: usize,
    context: &ToolContext,
) -> io::Result<ToolOutput> {
    let size = file.metadata()?.len();
    // What is written later is measured against what was seen now.
    let stamp = FileStamp::of_file(&file)?;
    context.workspace.record_read(&input.path, stamp);
    let mut head = Vec::new();
    file.by_ref().take(HEAD_BYTES).read_to_end(&mut head)?;
    if let Some(mime_type) = image_type(&head) {
        return picture(head, file, size, mime_type, context.images);
    }
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        return Ok(unreadable(&input.path, size, "UTF-16 text"));
    }
    if memchr::memchr(0, &head).is_some() {
        return Ok(unreadable(&input.path, size, "a binary file"));
    }
    let window = Window {
        first: input.offset.unwrap_or(1).max(1),
        lines_max: input.limit.unwrap_or(LINES_DEFAULT).max(1),
        bytes_max: output_cap.saturating_sub(NOTE_BYTES),
        line_bytes_max: LINE_BYTES_MAX,
    };
    let reader = BufReader::with_capacity(64 << 10, head.as_slice().chain(file));
    let page = read_page(reader, window, || context.cancel.is_cancelled())?;
    Ok(match page {
        Some(page) => lines(&input.path, size, window.first, &page),
        None => ToolOutput::error("The read was cancelled."),
    })
}

fn unreadable(path: &str, size: u64, what: &str) -> ToolOutput {
    ToolOutput::error(format!(
        "`{path}` is {what} of {size} bytes and cannot be shown as text."
    ))
    .with_details(json!({ "path": path, "bytes": size }))
}

fn picture(
    mut bytes: Vec<u8>,
    rest: File,
    size: u64,
    mime_type: &str,
    images: ImageUse,
) -> io::Result<ToolOutput> {
    let details = json!({ "mimeType": mime_type, "bytes": size });
    if images == ImageUse::Unseen {
        let text = format!(
            "An image ({mime_type}, {size} bytes). The current model does not \
                            support images."
        );
        return Ok(ToolOutput::text(text).with_details(details));
    }
    // The file may have grown since its size was asked for.
    rest.take(IMAGE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > IMAGE_BYTES_MAX {
        let text = format!(
            "An image ({mime_type}, {size} bytes) that is too large to be shown: the limit is \
             {IMAGE_BYTES_MAX} bytes."
        );
        return Ok(ToolOutput::error(text).with_details(details));
    }
    let mut output = ToolOutput::text(format!("An image ({mime_type}, {size} bytes):"));
    output.content.push(ContentBlock::Image {
        data: STANDARD.encode(&bytes),
        mime_type: mime_type.to_owned(),
    });
    Ok(output.with_details(details))
}

fn lines(path: &str, size: u64, first: u64, page: &Page) -> ToolOutput {
    let details = json!({
        "path": path,
        "bytes": size,
        "firstLine": first,
        "lines": page.shown,
        "totalLines": page.total,
    });
    if page.shown == 0 {
        return match page.total {
            Some(0) => ToolOutput::text("(The file is empty.)"),
            total => ToolOutput::error(format!(
                "`{path}` has only {} lines; `offset` {first} is past its end.",
                total.unwrap_or_default()
            )),
        }
        .with_details(details);
    }
    let mut text = page.text.clone();
    for note in notes(first, page) {
        text.push_str(&format!("[{note}]\n"));
    }
    ToolOutput::text(text).with_details(details)
}

fn notes(first: u64, page: &Page) -> Vec<String> {
    let last = first + page.shown - 1;
    let next = last + 1;
    let mut notes = Vec::new();
    match page.total {
        Some(total) if total > last => notes.push(format!(
            "Lines {first} to {last} of {total}. Continue with offset={next}."
        )),
        Some(_) => {}
        None => notes.push(format!(
            "Lines {first} to {last}; many more follow. Continue with offset={next}."
        )),
    }
    if page.cut_lines > 0 {
        notes.push(format!("{} long lines are truncated.", page.cut_lines));
    }
    if page.invalid_utf8 {
        notes.push("The file is not valid UTF-8; invalid bytes are shown as \u{fffd}.".to_owned());
    }
    if page.crlf {
        notes.push("The lines of the file end with CRLF.".to_owned());
    }
    notes
}
