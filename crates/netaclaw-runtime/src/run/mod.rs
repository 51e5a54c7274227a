//! Carries out what the machine decides.

mod calls;
mod finish;
mod live;
mod model_call;
mod result;
mod serve;
mod services;
mod setup;
mod start;
mod steps;
mod tools;

pub use finish::NOTICE_ENTRY;

use crate::host::{HostError, RunHost};
use crate::input::RunInput;
use crate::machine::{Effect, End, Input};
use crate::prompt::Prompt;
use crate::report::RunReport;
use calls::Calls;
use model_call::FinalAnswer;
use netaclaw_models::{ModelError, ToolDefinition};
use netaclaw_protocol::{ForeignContent, LocalizedError, Usage};
use services::SharedTodo;

/// Runs an agent to its end. Everything it says and does goes to the host; what is returned is
/// only how it ended.
///
/// Stopping is cancelling the token of the input: the model's stream and every tool end within a
/// second, and every call still gets its result. Dropping the future instead leaves the chain as
/// a crash would.
#[tracing::instrument(skip_all, fields(run.id = %input.run_id))]
pub async fn run_agent(input: RunInput, host: &mut dyn RunHost) -> RunReport {
    let (mut driver, mut state, mut effects) = Driver::begin(input, host);
    loop {
        let inputs = match driver.carry_out(effects, state.turn()).await {
            EffectOutcome::Ended(end) => return driver.report(end),
            EffectOutcome::Inputs(inputs) => inputs,
        };
        effects = Vec::new();
        for input in inputs {
            let (after, more) = state.step(input);
            state = after;
            effects.extend(more);
        }
    }
}

/// A running run.
struct Driver<'h> {
    host: &'h mut dyn RunHost,
    input: RunInput,
    prompt: Prompt,
    definitions: Vec<ToolDefinition>,
    /// The tools that were last announced to the model; `None` if none were.
    told_tools: Option<Vec<String>>,
    todo: SharedTodo,
    /// What the model had read from outside when it was asked last.
    foreign: ForeignContent,
    /// The answer of this turn, until it is stored.
    answer: Option<FinalAnswer>,
    /// The calls of the last answer.
    calls: Calls,
    usage: Usage,
    turns: u32,
    tools_refused: Option<LocalizedError>,
    stop_told: bool,
    unreadable_told: bool,
    model_error: Option<ModelError>,
    /// The channel and the model that answered last, or did not: a fallback may have stepped in.
    asked: (String, String),
    host_error: Option<HostError>,
}

enum EffectOutcome {
    Inputs(Vec<Input>),
    Ended(End),
}

impl Driver<'_> {
    /// Executes effects in order until one of them has an input for the machine; if none has, waits
    /// for the running calls.
    async fn carry_out(&mut self, effects: Vec<Effect>, turn: u32) -> EffectOutcome {
        for effect in effects {
            if let Effect::End(end) = effect {
                return EffectOutcome::Ended(end);
            }
            match self.effect(effect, turn).await {
                Ok(None) => {}
                Ok(Some(input)) => return EffectOutcome::Inputs(self.after_stop(input)),
                Err(error) => return self.host_failed(error),
            }
        }
        match self.next_of_calls().await {
            Ok(input) => EffectOutcome::Inputs(vec![input]),
            Err(error) => self.host_failed(error),
        }
    }

    async fn effect(&mut self, effect: Effect, turn: u32) -> Result<Option<Input>, HostError> {
        match effect {
            Effect::CallModel => {
                let answered = self.call_model(turn).await?;
                return Ok(Some(Input::Answered(answered)));
            }
            Effect::AppendAnswer => self.append_answer().await?,
            Effect::StartCall(call) => self.start_call(call).await,
            Effect::SkipCall(call) => self.skip_call(call).await,
            Effect::AppendResult(call) => self.append_result(call).await?,
            Effect::InsertSteering => {
                let count = self.host.insert_steering().await?;
                return Ok(Some(Input::SteeringInserted { count }));
            }
            Effect::HandleOverflow => {
                let overflow = self.handle_overflow(turn).await?;
                return Ok(Some(Input::OverflowHandled(overflow)));
            }
            Effect::OfferNoTools => self.offer_no_tools(),
            Effect::Warn(pattern) => self.warn(pattern).await?,
            Effect::End(_) => unreachable!("the end is not carried out"),
        }
        Ok(None)
    }

    /// A stop that came in the meantime is reported first, so that nothing new begins.
    fn after_stop(&mut self, input: Input) -> Vec<Input> {
        let news = self.input.cancel.is_cancelled() && !self.stop_told;
        self.stop_told |= news;
        news.then_some(Input::Stop)
            .into_iter()
            .chain([input])
            .collect()
    }

    fn host_failed(&mut self, error: HostError) -> EffectOutcome {
        let cause = std::error::Error::source(&error);
        tracing::error!(%error, ?cause, "the session failed; the run ends");
        self.host_error = Some(error);
        EffectOutcome::Inputs(vec![Input::HostFailed])
    }
}
