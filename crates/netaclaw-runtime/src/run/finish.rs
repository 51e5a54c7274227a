//! The notice to a looping model, and the end of a run.

use super::Driver;
use crate::event::RunEvent;
use crate::host::HostError;
use crate::machine::End;
use crate::report::{EndReason, RunReport, StuckPattern};
use netaclaw_protocol::{RunOutcome, RunTrouble, Usage};
use netaclaw_session::{EntryBody, raw_json};

/// The `customType` of messages that NetaClaw itself says to the model.
pub const NOTICE_ENTRY: &str = "netaclaw.notice";

impl Driver<'_> {
    /// Sends a system notice to the model.
    pub(super) async fn notify_model(&mut self, words: &str) -> Result<(), HostError> {
        let text = format!("[System notice, not from the user] {words}");
        let body = EntryBody::CustomMessage {
            custom_type: NOTICE_ENTRY.to_owned(),
            content: raw_json(&text),
            display: true,
            details: None,
        };
        self.host.append(None, body).await?;
        Ok(())
    }

    pub(super) async fn warn(&mut self, pattern: StuckPattern) -> Result<(), HostError> {
        self.notify_model(&notice(pattern)).await?;
        let repeating = RunTrouble::Repeating { pattern };
        self.host.emit(RunEvent::Warning(repeating.into()));
        Ok(())
    }

    pub(super) fn add_usage(&mut self, usage: &Usage) {
        self.usage += usage;
    }

    pub(super) fn report(self, end: End) -> RunReport {
        let turns_max = self.input.agent.limits.turns;
        let (outcome, reason) = match end {
            End::Completed { cut } => (RunOutcome::Completed, cut.then_some(EndReason::AnswerCut)),
            End::Stopped => (RunOutcome::Stopped, None),
            End::TurnLimit => (RunOutcome::Error, Some(EndReason::TurnLimit(turns_max))),
            End::Stuck(pattern) => (RunOutcome::Error, Some(EndReason::Stuck(pattern))),
            End::ContextTooLong => {
                let error = self.model_error.map(EndReason::ContextTooLong);
                (RunOutcome::Error, error)
            }
            End::ModelFailed => (RunOutcome::Error, self.model_error.map(EndReason::Model)),
            End::HostFailed => (RunOutcome::Error, self.host_error.map(EndReason::Host)),
        };
        let (channel, model) = &self.asked;
        let trouble = reason
            .as_ref()
            .map(|reason| Box::new(reason.trouble(channel, model)));
        RunReport {
            outcome,
            reason,
            trouble,
            usage: self.usage,
            turns: self.turns,
            tools_refused: self.tools_refused,
        }
    }
}

fn notice(pattern: StuckPattern) -> String {
    let what = match pattern {
        StuckPattern::SameResults => {
            "You have made the same tool call several times with the same result."
        }
        StuckPattern::SameFailure => {
            "You have made the same tool call several times, and it failed each time."
        }
        StuckPattern::EmptyAnswers => "Your last answers were empty.",
    };
    format!("{what} Do something else, or tell the user what prevents you from continuing.")
}
