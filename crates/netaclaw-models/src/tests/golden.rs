//! Streams as suppliers send them, and the events that they become.
//!
//! `tests/golden/` holds a stream for each habit worth remembering and next to it the events in a
//! readable form. `NETACLAW_UPDATE_GOLDEN=1` writes the events anew.

use crate::answer::{Answer, AnswerMeta};
use crate::anthropic::MessagesDecoder;
use crate::catalogue;
use crate::client::{ModelEvent, StreamPart};
use crate::error::{Detail, ModelError};
use crate::http::{Decoder, Progress};
use crate::openai::ChatDecoder;
use bytes::Bytes;
use futures::executor::block_on;
use futures::{StreamExt, stream};
use netaclaw_protocol::{ContentBlock, StopReason, Supplier};
use sse_stream::SseByteStream;
use std::convert::Infallible;
use std::fmt::Write;
use std::path::{Path, PathBuf};

#[test]
fn recorded_streams_become_the_expected_events() {
    let update = std::env::var_os("NETACLAW_UPDATE_GOLDEN").is_some();
    let mut seen = 0;
    for path in streams() {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let events = sketch(&decode(name, &bytes, bytes.len()));
        // Whatever the pieces it arrives in; a single byte cuts through every character.
        for size in [1, 2, 3, 5, 7, 16, 61] {
            let again = sketch(&decode(name, &bytes, size));
            assert_eq!(events, again, "{name} by {size}");
        }
        let expected = path.with_extension("events");
        if update {
            std::fs::write(&expected, &events).unwrap();
        }
        let golden = std::fs::read_to_string(&expected).unwrap_or_default();
        assert_eq!(events, golden, "{name}");
        seen += 1;
    }
    assert!(seen > 20, "the golden files are not where they should be");
}

fn streams() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "sse"))
        .collect();
    paths.sort();
    paths
}

/// The first word of a name is the supplier.
fn decode(name: &str, bytes: &[u8], size: usize) -> Vec<ModelEvent> {
    let supplier = match name.split('-').next() {
        Some("anthropic") => return run(MessagesDecoder::default(), bytes, size),
        Some("openai") => Supplier::Openai,
        Some("azure") => Supplier::Azure,
        Some("deepseek") => Supplier::Deepseek,
        Some("zhipu") => Supplier::Zhipu,
        Some("tongyi") => Supplier::Tongyi,
        Some("minimax") => Supplier::Minimax,
        Some("ollama") => Supplier::Ollama,
        Some("compatible") => Supplier::Compatible,
        other => panic!("whose habit is {other:?}?"),
    };
    let quirks = &catalogue::supplier(supplier).quirks;
    run(ChatDecoder::new(quirks), bytes, size)
}

fn run(mut decoder: impl Decoder, bytes: &[u8], size: usize) -> Vec<ModelEvent> {
    let mut answer = Answer::new(AnswerMeta {
        api: "test",
        provider: "p".into(),
        model: "m".into(),
        price: None,
        unseen_images: 0,
    });
    let chunks = bytes.chunks(size.max(1)).map(Bytes::copy_from_slice);
    let chunks = chunks.chain([Bytes::from_static(b"\n\n")]);
    let body = stream::iter(chunks.map(Ok::<_, Infallible>));
    let mut events = SseByteStream::new(body);
    let mut shown = Vec::new();
    let outcome = block_on(async {
        while let Some(event) = events.next().await {
            let event = event.map_err(|e| ModelError::Protocol(Detail::text(e.to_string())))?;
            let data = event.data.as_deref().unwrap_or_default();
            let progress = decoder.event(event.event.as_deref(), data, &mut answer)?;
            // Unread events would be merged with the next ones.
            shown.extend(std::iter::from_fn(|| answer.next_event()));
            if progress == Progress::Complete {
                break;
            }
        }
        decoder.end(&mut answer)
    });
    if let Err(error) = outcome {
        answer.fail(error.sealed(None));
    }
    shown.extend(std::iter::from_fn(|| answer.next_event()));
    shown
}

/// One line for each event.
fn sketch(events: &[ModelEvent]) -> String {
    let mut out = String::new();
    for event in events {
        match event {
            ModelEvent::AnswerStart(_) => Ok(()),
            ModelEvent::PartStart { index, part } => match part {
                StreamPart::Text => writeln!(out, "{index} text"),
                StreamPart::Thinking => writeln!(out, "{index} thinking"),
                StreamPart::ToolCall { id, name } => {
                    writeln!(out, "{index} call {name} {}", known(id))
                }
            },
            ModelEvent::PartDelta { index, delta } => writeln!(out, "{index} + {delta:?}"),
            ModelEvent::PartEnd { index, block } => match block {
                ContentBlock::Thinking {
                    thinking_signature,
                    redacted,
                    ..
                } => {
                    let signature = thinking_signature.as_deref().unwrap_or("none");
                    let kind = if *redacted { "redacted" } else { "signed" };
                    writeln!(out, "{index} end, {kind} {signature}")
                }
                ContentBlock::ToolCall { arguments, .. } => {
                    writeln!(out, "{index} end, {arguments}")
                }
                _ => writeln!(out, "{index} end"),
            },
            ModelEvent::Usage(usage) => writeln!(
                out,
                "usage {} in, {} out, {} read, {} written",
                usage.input, usage.output, usage.cache_read, usage.cache_write
            ),
            ModelEvent::Done(message) => {
                writeln!(out, "done, {}", stop(message.stop_reason))
            }
            ModelEvent::Failed { error, partial } => {
                writeln!(out, "failed, {} parts kept: {error}", partial.content.len())
            }
            other => writeln!(out, "{other:?}"),
        }
        .unwrap();
    }
    out
}

/// Ids that were generated here are different every time.
fn known(id: &str) -> &str {
    match id.strip_prefix("call_") {
        Some(hex) if hex.len() == 16 => "(made up)",
        _ => id,
    }
}

fn stop(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Stop => "stop",
        StopReason::Length => "length",
        StopReason::ToolUse => "tool use",
        StopReason::Error => "error",
        StopReason::Aborted => "aborted",
    }
}
