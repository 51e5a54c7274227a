//! A program while it runs: both pipes read at the same time, until one thing ends it.

use super::Prepared;
use super::ending::{RunEnd, SkillStopCause, judge};
use crate::context::ToolContext;
use crate::process::Redactor;
use crate::skills::Skill;
use crate::skills::events::{LineSplitter, StderrLine};
use crate::spawn::{ChildEnd, ChildOutput, Started};
use crate::update::{ProcessUpdate, ToolUpdate};
use serde_json::Value;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::time::{Instant, sleep_until};

/// A result that is longer is none.
pub(super) const RESULT_BYTES_MAX: usize = 4 << 20;
const READ_BYTES: usize = 64 << 10;
/// How long the rest of the pipes is waited for once the program is gone.
const END_MAX: Duration = Duration::from_secs(6);
/// The same after a stop, when the caller waits only for the end.
const LAST_WORDS: Duration = Duration::from_millis(300);
/// Lines of the log that are kept for a program that failed.
const LOG_LINES: usize = 20;
const LOG_LINE_CHARS: usize = 500;

/// What the program has written so far.
pub(super) struct OutputSoFar {
    pub(super) result: Vec<u8>,
    pub(super) result_dropped: u64,
    pub(super) lines: LineSplitter,
    pub(super) log: VecDeque<String>,
    pub(super) redactor: Redactor,
}

impl OutputSoFar {
    fn take_result(&mut self, bytes: &[u8]) {
        let room = RESULT_BYTES_MAX - self.result.len();
        let kept = bytes.len().min(room);
        self.result.extend_from_slice(&bytes[..kept]);
        self.result_dropped += (bytes.len() - kept) as u64;
    }

    /// Waits until these bytes have been processed.
    async fn take_errors(&mut self, bytes: Option<&[u8]>, context: &ToolContext) {
        let mut lines = Vec::new();
        match bytes {
            Some(bytes) => self.lines.push(bytes, |line| lines.push(line)),
            None => self.lines.finish(|line| lines.push(line)),
        }
        let mut shown = String::new();
        for line in lines {
            match line {
                StderrLine::Event(update) => {
                    flush(&mut shown, context);
                    let update = self.masked(*update);
                    context
                        .updates
                        .send_waiting(ToolUpdate::Process(update))
                        .await;
                }
                StderrLine::Log(text) => {
                    let text = self.redactor.text(&text);
                    shown.push_str(&text);
                    shown.push('\n');
                    self.keep(&text);
                }
            }
        }
        flush(&mut shown, context);
    }

    /// Values given in confidence are taken out here, where they are known.
    fn masked(&self, mut update: ProcessUpdate) -> ProcessUpdate {
        let mask = |text: String| self.redactor.text(&text);
        update.message = self.redactor.text(&update.message);
        update.detail = update.detail.map(mask);
        update.stage = update.stage.map(mask);
        update.task_id = update.task_id.map(mask);
        update.payload = self.redactor.payload(std::mem::take(&mut update.payload));
        update
    }

    fn keep(&mut self, text: &str) {
        if self.log.len() == LOG_LINES {
            self.log.pop_front();
        }
        self.log
            .push_back(text.chars().take(LOG_LINE_CHARS).collect());
    }
}

fn flush(shown: &mut String, context: &ToolContext) {
    if !shown.is_empty() {
        let text = std::mem::take(shown);
        context.updates.send(ToolUpdate::Output(text));
    }
}

pub(super) async fn watch(
    started: Started,
    input: &Value,
    skill: &Skill,
    prepared: &Prepared,
    context: &ToolContext,
) -> RunEnd {
    let Started {
        mut process,
        input: stdin,
        output,
    } = started;
    let ChildOutput::Separate {
        mut stdout,
        mut stderr,
    } = output
    else {
        unreachable!("two pipes were asked for");
    };
    let mut written = OutputSoFar {
        result: Vec::new(),
        result_dropped: 0,
        lines: LineSplitter::default(),
        log: VecDeque::new(),
        redactor: prepared.redactor.clone(),
    };
    let (mut out_buffer, mut err_buffer) = (vec![0; READ_BYTES], vec![0; READ_BYTES]);
    let (mut out_open, mut err_open) = (true, true);
    let mut end: Option<ChildEnd> = None;
    let mut stopped = None;
    let mut give_up = None;
    let deadline = Instant::now() + skill.timeout;
    let mut feeding = Box::pin(feed(stdin, input.to_string()));
    let mut fed = false;
    while out_open || err_open || end.is_none() {
        tokio::select! {
            () = &mut feeding, if !fed => fed = true,
            read = stdout.read(&mut out_buffer), if out_open => match read {
                Ok(count @ 1..) => written.take_result(&out_buffer[..count]),
                _ => out_open = false,
            },
            read = stderr.read(&mut err_buffer), if err_open => match read {
                Ok(count @ 1..) => {
                    let taking = written.take_errors(Some(&err_buffer[..count]), context);
                    tokio::select! {
                        () = taking => {}
                        // The receiver of the steps is gone with the run.
                        () = context.cancel.cancelled() => {}
                    }
                }
                _ => err_open = false,
            },
            ended = process.wait(), if end.is_none() => {
                end = Some(ended);
                give_up = Some(Instant::now() + END_MAX);
            }
            () = context.cancel.cancelled(), if stopped != Some(SkillStopCause::Cancelled) => {
                process.stop();
                stopped = Some(SkillStopCause::Cancelled);
                give_up = Some(Instant::now() + LAST_WORDS);
            }
            () = sleep_until(deadline), if stopped.is_none() && end.is_none() => {
                process.stop();
                stopped = Some(SkillStopCause::TimedOut);
                give_up = Some(Instant::now() + END_MAX);
            }
            () = until(give_up) => break,
        }
    }
    if stopped != Some(SkillStopCause::Cancelled) {
        written.take_errors(None, context).await;
    }
    judge(skill, written, end, stopped)
}

/// A program that does not read its input is free not to.
async fn feed(pipe: Option<pipe::Sender>, input: String) {
    if let Some(mut pipe) = pipe
        && let Err(error) = pipe.write_all(input.as_bytes()).await
    {
        tracing::debug!(%error, "failed to write the input of a skill");
    }
}

async fn until(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}
