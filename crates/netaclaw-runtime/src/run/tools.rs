//! Tools that change during a run: the model is offered the current ones, and each change is
//! announced once.

use super::Driver;
use super::setup::definition;
use super::start::current;
use crate::event::RunEvent;
use crate::host::HostError;
use crate::prompt::Prompt;
use netaclaw_governance::ResolvedTools;
use netaclaw_protocol::{DisabledTool, ToolsChanged};

impl Driver<'_> {
    /// Runs before every model call. The tools of the first one were resolved just before.
    pub(super) async fn refresh_tools(&mut self, turn: u32) -> Result<(), HostError> {
        // A model that takes no tools gets none, whatever the agent has; users are warned of it.
        if self.tools_refused.is_some() || !self.input.model.info.tools {
            return Ok(());
        }
        if turn > 1 {
            let cancel = self.input.cancel.clone();
            let current = tokio::select! {
                biased;
                () = cancel.cancelled() => return Ok(()),
                current = current(&*self.input.current_tools) => current,
            };
            match current {
                Ok(tools) if tools.is_same(&self.input.tools) => {}
                Ok(tools) => self.offer(tools),
                // The model continues with its earlier tools. Its calls are decided on one by one,
                // and denied for as long as the tools are unknown.
                Err(error) => {
                    tracing::warn!(%error, "failed to read the tools of the agent");
                    return Ok(());
                }
            }
        }
        self.announce_tools().await
    }

    fn offer(&mut self, tools: ResolvedTools) {
        let input = &mut self.input;
        self.definitions = tools.enabled().map(definition).collect();
        self.prompt = Prompt::new(&input.agent.system_prompt, &input.prompt, &tools);
        input.tools = tools;
    }

    async fn announce_tools(&mut self) -> Result<(), HostError> {
        let tools = &self.input.tools;
        let names: Vec<String> = tools.enabled().map(|tool| tool.name().to_owned()).collect();
        let changed = match &self.told_tools {
            Some(told) if *told == names => return Ok(()),
            Some(told) => tools.since(told),
            None => None,
        };
        self.told_tools = Some(names.clone());
        if let Some(changed) = &changed {
            self.notify_model(&notice(changed)).await?;
        }
        self.host.emit(RunEvent::Tools { names, changed });
        Ok(())
    }
}

fn notice(changed: &ToolsChanged) -> String {
    let mut text = String::from("Your available tools have changed.");
    if !changed.removed.is_empty() {
        let lost = |tool: &DisabledTool| format!("`{}` ({})", tool.tool_name, tool.reason);
        let lost: Vec<String> = changed.removed.iter().map(lost).collect();
        text.push_str(&format!(" Removed: {}.", lost.join(", ")));
    }
    if !changed.added.is_empty() {
        let new: Vec<String> = changed
            .added
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        text.push_str(&format!(" Added: {}.", new.join(", ")));
    }
    text
}
