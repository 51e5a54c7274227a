//! How a program ended: exactly one outcome.

use super::watch::{OutputSoFar, RESULT_BYTES_MAX};
use crate::process::{EndStatus, ProcessEnd};
use crate::skills::Skill;
use crate::spawn::{ChildEnd, SpawnError};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;

/// The stage of the last step of a program that took too long.
const TIMEOUT_STAGE: &str = "skill-timeout";

/// Why a program was ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SkillStopCause {
    Cancelled,
    TimedOut,
}

/// The outcome, before it is reported.
pub(super) struct RunEnd {
    pub(super) end: ProcessEnd,
    /// What the program wrote as its result, if it could be read.
    pub(super) result: Option<Value>,
    pub(super) details: Map<String, Value>,
    pub(super) log: VecDeque<String>,
}

impl RunEnd {
    pub(super) fn not_started(error: &SpawnError) -> Self {
        if let SpawnError::Io(cause) = error {
            tracing::warn!(%cause, "failed to start the program of a skill");
        }
        Self {
            end: ProcessEnd::new(
                EndStatus::Failed,
                format!("The program was not started: {error}."),
            ),
            result: None,
            details: details_of("not_started", None),
            log: VecDeque::new(),
        }
    }
}

fn details_of(ending: &str, end: Option<ChildEnd>) -> Map<String, Value> {
    let mut details = Map::new();
    details.insert("skillEnding".to_owned(), json!(ending));
    if let Some(end) = end {
        details.insert("exitCode".to_owned(), json!(end.code));
        details.insert("signal".to_owned(), json!(end.signal));
    }
    details
}

pub(super) fn judge(
    skill: &Skill,
    written: OutputSoFar,
    end: Option<ChildEnd>,
    stopped: Option<SkillStopCause>,
) -> RunEnd {
    let text = String::from_utf8_lossy(&written.result);
    let text = written.redactor.values(text.trim());
    let result: Option<Value> = match written.result_dropped {
        0 => serde_json::from_str(&text).ok(),
        _ => None,
    };
    let failed = EndStatus::Failed;
    let said_error = result
        .as_ref()
        .and_then(|result| result.get("error")?.as_str())
        .map(|said| written.redactor.text(said));
    let says_no = result.as_ref().is_some_and(|result| result["ok"] == false);
    let because = said_error
        .clone()
        .map_or(String::new(), |said| format!(" {said}"));
    let (ending, status, message) = match (stopped, end) {
        (Some(SkillStopCause::Cancelled), _) => {
            ("cancelled", EndStatus::Cancelled, "Stopped.".to_owned())
        }
        (Some(SkillStopCause::TimedOut), _) => {
            let ms = skill.timeout.as_millis();
            (
                "timed_out",
                failed,
                format!("Execution timed out after {ms} ms, and the program was killed."),
            )
        }
        (
            None,
            Some(ChildEnd {
                crowded: Some(most),
                ..
            }),
        ) => (
            "crowded",
            failed,
            format!("It was killed because it started more than {most} processes and threads."),
        ),
        (
            None,
            Some(ChildEnd {
                over_quota: Some(most),
                ..
            }),
        ) => (
            "over_quota",
            failed,
            format!(
                "Its temporary files exceeded {} MiB. The program was killed if it still ran, and \
                 these files were removed.",
                most >> 20
            ),
        ),
        (
            None,
            Some(ChildEnd {
                signal: Some(signal),
                ..
            }),
        ) => (
            "signal",
            failed,
            format!("The program was killed by signal {signal}.{because}"),
        ),
        (
            None,
            Some(ChildEnd {
                code: Some(code @ 1..),
                ..
            }),
        ) => (
            "exit_code",
            failed,
            format!("The program failed with exit code {code}.{because}"),
        ),
        (None, None) | (None, Some(ChildEnd { code: None, .. })) => (
            "unknown",
            failed,
            "The exit status of the program is unknown.".to_owned(),
        ),
        _ if written.result_dropped > 0 => {
            let most = RESULT_BYTES_MAX >> 20;
            (
                "bad_result",
                failed,
                format!("The result is longer than {most} MiB."),
            )
        }
        _ if result.is_none() && text.is_empty() => (
            "bad_result",
            failed,
            "The program ended without writing a result.".to_owned(),
        ),
        _ if result.is_none() => (
            "bad_result",
            failed,
            "The result is not valid JSON.".to_owned(),
        ),
        _ if says_no => {
            let said = said_error.unwrap_or_else(|| "The program reported a failure.".to_owned());
            ("failed", failed, said)
        }
        _ => ("completed", EndStatus::Completed, "Done.".to_owned()),
    };
    let mut details = details_of(ending, end);
    if written.lines.dropped > 0 {
        details.insert("logBytesDropped".to_owned(), json!(written.lines.dropped));
    }
    let timed_out = stopped == Some(SkillStopCause::TimedOut);
    RunEnd {
        end: ProcessEnd {
            stage: timed_out.then(|| TIMEOUT_STAGE.to_owned()),
            ..ProcessEnd::new(status, message)
        },
        result,
        details,
        log: written.log,
    }
}
