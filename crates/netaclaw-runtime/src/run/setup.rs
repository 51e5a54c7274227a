//! The beginning of a run.

use super::Driver;
use super::calls::{Calls, OpenCall};
use super::services::SharedTodo;
use crate::event::RunEvent;
use crate::host::RunHost;
use crate::input::{ModelAccess, PendingCalls, RunInput};
use crate::machine::{CallFacts, Effect, State};
use crate::prompt::Prompt;
use crate::trouble::{tools_refused, works_without_tools};
use netaclaw_governance::ResolvedTool;
use netaclaw_models::ToolDefinition;
use netaclaw_protocol::{ForeignContent, LocalizedError, RunTrouble, Usage};

impl<'h> Driver<'h> {
    pub(super) fn begin(input: RunInput, host: &'h mut dyn RunHost) -> (Self, State, Vec<Effect>) {
        let definitions: Vec<_> = input.tools.enabled().map(definition).collect();
        let prompt = Prompt::new(&input.agent.system_prompt, &input.prompt, &input.tools);
        for warning in warnings(&input) {
            host.emit(RunEvent::Warning(warning));
        }
        let (turns_max, offers_tools) = (input.agent.limits.turns, !definitions.is_empty());
        let mut driver = Self {
            calls: Calls::none(&input.cancel),
            asked: (input.model.provider.clone(), input.model.info.name.clone()),
            told_tools: input.told_tools.clone(),
            host,
            input,
            prompt,
            definitions,
            todo: SharedTodo::default(),
            foreign: ForeignContent::default(),
            answer: None,
            usage: Usage::default(),
            turns: 0,
            tools_refused: None,
            stop_told: false,
            unreadable_told: false,
            model_error: None,
            host_error: None,
        };
        let (state, effects) = match driver.input.pending.take() {
            None => State::start(turns_max, offers_tools),
            Some(pending) => {
                State::resume_calls(turns_max, offers_tools, driver.resume_calls(pending))
            }
        };
        (driver, state, effects)
    }

    fn resume_calls(&mut self, pending: PendingCalls) -> Vec<CallFacts> {
        self.todo.set(pending.todo);
        self.foreign = pending.foreign;
        let calls = pending.calls.iter().filter_map(OpenCall::read).collect();
        self.open_calls(pending.entry_id, calls, false)
    }

    /// The supplier reports what was unknown: the model takes no tools. The request is repeated
    /// without.
    pub(super) fn offer_no_tools(&mut self) {
        self.definitions.clear();
        self.prompt = self.prompt.clone().without_tools();
        let (channel, model) = &self.asked;
        let warning = match &self.model_error {
            Some(error) => tools_refused(error, channel, model),
            None => works_without_tools(channel, model),
        };
        self.tools_refused = Some(warning.clone());
        self.host.emit(RunEvent::Warning(warning));
    }
}

pub(super) fn definition(tool: &ResolvedTool) -> ToolDefinition {
    ToolDefinition {
        name: tool.name().to_owned(),
        description: tool.manifest().description.clone(),
        schema: tool.model_schema(),
    }
}

fn warnings(input: &RunInput) -> Vec<LocalizedError> {
    let mut warnings = Vec::new();
    let ModelAccess {
        info,
        provider,
        tools_refused,
        ..
    } = &input.model;
    if !info.tools && input.tools.all().next().is_some() {
        // In the same words as when it happened: it is the same warning.
        let warning = tools_refused.clone();
        warnings.push(warning.unwrap_or_else(|| works_without_tools(provider, &info.name)));
    }
    let unknown = input.tools.warnings().iter().map(|w| w.message.as_str());
    let unknown: Vec<&str> = unknown.collect();
    if !unknown.is_empty() {
        let detail = unknown.join("; ");
        warnings.push(RunTrouble::UnknownTools { detail }.into());
    }
    let mut cautions = input.tools.enabled().filter_map(ResolvedTool::caution);
    warnings.extend(cautions.next().map(|caution| {
        let caution = caution.to_owned();
        LocalizedError::from(RunTrouble::NoSandbox { caution })
    }));
    warnings
}
