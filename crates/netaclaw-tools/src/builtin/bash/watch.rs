//! A running command, from its start to what the model reads of it.

use super::Pipe;
use super::bounded_output::{BoundedOutput, Excerpt};
use super::live::LiveOutput;
use crate::context::ToolContext;
use crate::output::ToolOutput;
use crate::spawn::{ChildEnd, ChildProcess};
use serde_json::json;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::time::{Instant, sleep_until};

const READ_BYTES: usize = 64 << 10;
/// After a cancellation, the call waits only so long for the remaining output. The end of the
/// command continues without the call.
const LAST_WORDS: Duration = Duration::from_millis(300);
/// The same where no caller waits for the call to end.
const END_MAX: Duration = Duration::from_secs(6);

pub(super) struct CommandWatch {
    pub(super) time: Duration,
    pub(super) output_cap: usize,
}

/// Why a command was ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CommandStopCause {
    Cancelled,
    TimedOut,
}

/// Waits for the end of the command.
pub(super) async fn watch(
    mut process: ChildProcess,
    mut output: Pipe,
    watch: CommandWatch,
    context: &ToolContext,
) -> ToolOutput {
    let mut kept = BoundedOutput::new(text_cap(watch.output_cap), context.spawner.scratch());
    let mut live = LiveOutput::new(context.updates.clone());
    let mut buffer = vec![0; READ_BYTES];
    let mut reading = true;
    let mut end: Option<ChildEnd> = None;
    let mut stopped = None;
    let mut give_up = None;
    let begun = Instant::now();
    let deadline = begun + watch.time;
    while reading || end.is_none() {
        tokio::select! {
            read = output.read(&mut buffer), if reading => match read {
                Ok(count @ 1..) => {
                    live.push(&buffer[..count]);
                    kept.push(&buffer[..count]).await;
                }
                _ => reading = false,
            },
            ended = process.wait(), if end.is_none() => {
                end = Some(ended);
                give_up = Some(Instant::now() + END_MAX);
            }
            () = context.cancel.cancelled(), if stopped != Some(CommandStopCause::Cancelled) => {
                process.stop();
                stopped = Some(stopped.unwrap_or(CommandStopCause::Cancelled));
                give_up = Some(Instant::now() + LAST_WORDS);
                if stopped == Some(CommandStopCause::TimedOut) {
                    break;
                }
            }
            () = sleep_until(deadline), if stopped.is_none() && end.is_none() => {
                process.stop();
                stopped = Some(CommandStopCause::TimedOut);
                give_up = Some(Instant::now() + END_MAX);
            }
            () = until(live.due()) => live.flush(),
            () = until(give_up) => break,
        }
    }
    live.flush();
    let duration = end.map_or_else(|| begun.elapsed(), |end| end.after);
    let excerpt = kept.finish().await;
    let details = json!({
        "exitCode": end.and_then(|end| end.code),
        "signal": end.and_then(|end| end.signal),
        "durationMs": u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        "truncated": excerpt.is_cut,
        "outputBytes": excerpt.bytes,
        "timedOut": stopped == Some(CommandStopCause::TimedOut),
        "sandbox": process.sandbox(),
    });
    to_output(excerpt, end, stopped, watch.time).with_details(details)
}

/// Reserved for the notes about the output.
fn text_cap(output_cap: usize) -> usize {
    const NOTE_BYTES: usize = 600;
    output_cap.saturating_sub(NOTE_BYTES).max(1)
}

async fn until(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

fn to_output(
    excerpt: Excerpt,
    end: Option<ChildEnd>,
    stopped: Option<CommandStopCause>,
    time: Duration,
) -> ToolOutput {
    let mut text = excerpt.text;
    let note = note(end, stopped, time);
    match (text.is_empty(), &note) {
        (true, None) => text.push_str("(no output)"),
        (false, Some(_)) if !text.ends_with('\n') => text.push('\n'),
        _ => {}
    }
    match note {
        None => ToolOutput::text(text),
        Some(note) => ToolOutput::error(text + &note),
    }
}

/// What went otherwise than well.
fn note(
    end: Option<ChildEnd>,
    stopped: Option<CommandStopCause>,
    time: Duration,
) -> Option<String> {
    match (stopped, end) {
        (Some(CommandStopCause::TimedOut), _) => Some(format!(
            "[Killed after a timeout of {} s. Set a longer `timeout`, or split the work.]",
            time.as_secs()
        )),
        (Some(CommandStopCause::Cancelled), _) => {
            Some("[Cancelled before it was finished.]".to_owned())
        }
        (
            None,
            Some(ChildEnd {
                crowded: Some(most),
                ..
            }),
        ) => Some(format!(
            "[Killed because it started more than {most} processes and threads.]"
        )),
        (
            None,
            Some(ChildEnd {
                over_quota: Some(most),
                ..
            }),
        ) => Some(format!(
            "[Its temporary files exceeded {} MiB. The command was killed if it still ran, and \
             these files were removed. Write large files to the workspace.]",
            most >> 20
        )),
        (None, Some(ChildEnd { code: Some(0), .. })) => None,
        (
            None,
            Some(ChildEnd {
                code: Some(code), ..
            }),
        ) => Some(format!("[Exit code {code}.]")),
        (
            None,
            Some(ChildEnd {
                signal: Some(signal),
                ..
            }),
        ) => Some(format!("[Killed by signal {signal}.]")),
        (None, _) => Some("[Its exit status is unknown.]".to_owned()),
    }
}
