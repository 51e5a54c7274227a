//! How a program ended: exactly one outcome.

use super::watch::{OutputSoFar, RESULT_BYTES_MAX};
use crate::process::{EndStatus, ProcessEnd};
use crate::skills::Skill;
use crate::spawn::{ChildEnd, SpawnError};
use netaclaw_protocol::CallEnd;
use serde_json::{Map, Value, json};
use std::collections::VecDeque;

/// The stage of the last step of a program that took too long.
const TIMEOUT_STAGE: &str = "skill-timeout";

/// An error that a program reports is a sentence; the result has the rest.
const SAID_CHARS_MAX: usize = 1_000;

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
                CallEnd::ProgramNotStarted {
                    error: error.to_string(),
                },
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
    let said_error = result
        .as_ref()
        .and_then(|result| result.get("error")?.as_str())
        .map(|said| written.redactor.text(said))
        .map(|said| said.chars().take(SAID_CHARS_MAX).collect::<String>());
    let says_no = result.as_ref().is_some_and(|result| result["ok"] == false);
    let said = said_error.clone();
    let (ending, end_reason) = match (stopped, end) {
        (Some(SkillStopCause::Cancelled), _) => ("cancelled", CallEnd::Stopped),
        (Some(SkillStopCause::TimedOut), _) => {
            let limit_ms = u64::try_from(skill.timeout.as_millis()).unwrap_or(u64::MAX);
            ("timed_out", CallEnd::ProgramTimedOut { limit_ms })
        }
        (
            None,
            Some(ChildEnd {
                crowded: Some(max), ..
            }),
        ) => ("crowded", CallEnd::TooManyProcesses { max }),
        (
            None,
            Some(ChildEnd {
                over_quota: Some(most),
                ..
            }),
        ) => {
            let max_mib = most >> 20;
            ("over_quota", CallEnd::TemporaryFilesTooLarge { max_mib })
        }
        (
            None,
            Some(ChildEnd {
                signal: Some(signal),
                ..
            }),
        ) => ("signal", CallEnd::ProgramKilled { signal, said }),
        (
            None,
            Some(ChildEnd {
                code: Some(exit_code @ 1..),
                ..
            }),
        ) => ("exit_code", CallEnd::ProgramFailed { exit_code, said }),
        (None, None) | (None, Some(ChildEnd { code: None, .. })) => {
            ("unknown", CallEnd::ExitStatusUnknown)
        }
        _ if written.result_dropped > 0 => {
            let max_mib = RESULT_BYTES_MAX >> 20;
            ("bad_result", CallEnd::ResultTooLarge { max_mib })
        }
        _ if result.is_none() && text.is_empty() => ("bad_result", CallEnd::ResultMissing),
        _ if result.is_none() => ("bad_result", CallEnd::ResultNotJson),
        _ if says_no => ("failed", CallEnd::FailureReported),
        _ => ("completed", CallEnd::Done),
    };
    let status = match end_reason {
        CallEnd::Done => EndStatus::Completed,
        CallEnd::Stopped => EndStatus::Cancelled,
        _ => EndStatus::Failed,
    };
    let last = match (end_reason, said_error) {
        // The program says it better.
        (CallEnd::FailureReported, Some(said)) => ProcessEnd::reported(status, said),
        (reason, _) => ProcessEnd::new(status, reason),
    };
    let mut details = details_of(ending, end);
    if written.lines.dropped > 0 {
        details.insert("logBytesDropped".to_owned(), json!(written.lines.dropped));
    }
    let timed_out = stopped == Some(SkillStopCause::TimedOut);
    RunEnd {
        end: ProcessEnd {
            stage: timed_out.then(|| TIMEOUT_STAGE.to_owned()),
            ..last
        },
        result,
        details,
        log: written.log,
    }
}
