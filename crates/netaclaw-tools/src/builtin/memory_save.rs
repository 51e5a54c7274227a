//! `memory_save`: a fact for later sessions.

use crate::context::ToolContext;
use crate::output::ToolOutput;
use crate::service::{MemoryError, Provenance};
use crate::tool::{Call, TypedTool};
use async_trait::async_trait;
use netaclaw_governance::{Concurrency, EgressTarget, ToolManifest, WorkerUse};
use netaclaw_protocol::{ToolCategory, ToolLabel, ToolRisk, ToolStatus};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

/// Remembers facts about the user and their work.
#[derive(Clone, Copy, Debug)]
pub struct MemorySave;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemorySaveInput {
    /// One fact, as a sentence that can be understood without this session; at most 500
    /// characters.
    text: String,
    /// Id of the fact that this one replaces, as returned by `memory_search`.
    #[serde(default)]
    replaces: Option<String>,
}

#[async_trait]
impl TypedTool for MemorySave {
    type Input = MemorySaveInput;

    fn manifest(&self) -> ToolManifest {
        ToolManifest {
            name: "memory_save".to_owned(),
            label: ToolLabel {
                zh: "记住".to_owned(),
                en: "Remember".to_owned(),
            },
            description: "Saves a short fact for later sessions with this user, or corrects a \
                          saved one. The user can see, change and delete saved facts."
                .into(),
            guidance: "Use `memory_save` if the user states something that will still matter in \
                       later sessions, such as a name, a preference or a decision. Never save \
                       passwords, keys or temporary facts."
                .to_owned(),
            category: ToolCategory::Memory,
            schema: Value::Null.into(),
            // It changes only the agent's own memories, which its user can undo.
            risk: ToolRisk::Read,
            default_status: ToolStatus::Enabled,
            worker: WorkerUse::Proxy,
            needs: Vec::new(),
            timeout: Some(Duration::from_secs(30)),
            output_cap: 4 << 10,
            concurrency: Concurrency::Parallel,
            outlet: EgressTarget::Memory,
        }
    }

    async fn run(&self, call: Call<MemorySaveInput>, context: ToolContext) -> ToolOutput {
        let provenance = Provenance::of(call.limits());
        let input = call.into_input();
        let replaces = input.replaces.filter(|id| !id.is_empty());
        let saved = context
            .memory
            .save(&input.text, replaces.as_deref(), provenance)
            .await;
        match saved {
            Ok(fact) => {
                let text = match fact.pending {
                    false => format!("Saved: {} (id {})", fact.text, fact.id),
                    true => format!(
                        "Saved as pending: {} (id {}). This session has read external content, so \
                         later sessions use it only after the user has confirmed it on the memory \
                         page.",
                        fact.text, fact.id
                    ),
                };
                let details = json!({ "id": fact.id, "text": fact.text, "pending": fact.pending });
                ToolOutput::text(text).with_details(details)
            }
            Err(MemoryError::Refused(reason)) => {
                ToolOutput::error(format!("Nothing was saved: {reason}."))
            }
            Err(MemoryError::Unavailable) => ToolOutput::error("The memory is unavailable."),
        }
    }
}
