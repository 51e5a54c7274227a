//! `memory_search`: what is remembered from earlier sessions.

use crate::context::ToolContext;
use crate::output::ToolOutput;
use crate::service::{MemoryError, MemoryFact, Provenance};
use crate::tool::{Call, TypedTool};
use async_trait::async_trait;
use netaclaw_governance::{Concurrency, EgressTarget, ToolManifest, WorkerUse};
use netaclaw_protocol::{ToolCategory, ToolLabel, ToolRisk, ToolStatus};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

const LIMIT_DEFAULT: usize = 20;
const LIMIT_MAX: usize = 100;

/// Finds what was remembered.
#[derive(Clone, Copy, Debug)]
pub struct MemorySearch;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemorySearchInput {
    /// Keywords of the fact, in any language.
    query: String,
    /// Number of facts to return, at most 100. Default: 20.
    #[serde(default)]
    #[schemars(range(min = 1))]
    limit: Option<usize>,
}

#[async_trait]
impl TypedTool for MemorySearch {
    type Input = MemorySearchInput;

    fn manifest(&self) -> ToolManifest {
        ToolManifest {
            name: "memory_search".to_owned(),
            label: ToolLabel {
                zh: "搜索记忆".to_owned(),
                en: "Search memory".to_owned(),
            },
            description: "Searches the memories from earlier sessions with this user. Returns \
                          each with its id and the day it was saved, most relevant first."
                .into(),
            guidance: "Use `memory_search` if something may have come up in earlier sessions and \
                       is not among the memories you were given."
                .to_owned(),
            category: ToolCategory::Memory,
            schema: Value::Null.into(),
            risk: ToolRisk::Read,
            default_status: ToolStatus::Enabled,
            worker: WorkerUse::Proxy,
            needs: Vec::new(),
            timeout: Some(Duration::from_secs(30)),
            output_cap: 40 << 10,
            concurrency: Concurrency::Parallel,
            outlet: EgressTarget::None,
        }
    }

    async fn run(&self, call: Call<MemorySearchInput>, context: ToolContext) -> ToolOutput {
        let provenance = Provenance::of(call.limits());
        let input = call.into_input();
        let limit = input.limit.unwrap_or(LIMIT_DEFAULT).clamp(1, LIMIT_MAX);
        match context.memory.search(&input.query, provenance).await {
            Ok(facts) => show(&facts, limit),
            Err(MemoryError::Refused(reason)) => ToolOutput::error(format!("{reason}.")),
            Err(MemoryError::Unavailable) => ToolOutput::error("The memory is unavailable."),
        }
    }
}

fn show(facts: &[MemoryFact], limit: usize) -> ToolOutput {
    let details = json!({ "shown": facts.len().min(limit), "total": facts.len() });
    if facts.is_empty() {
        return ToolOutput::text("No memories match.").with_details(details);
    }
    let mut text: String = facts
        .iter()
        .take(limit)
        .map(|fact| {
            let pending = if fact.pending { ", pending" } else { "" };
            format!("- {} (id {}, {}{pending})\n", fact.text, fact.id, fact.day)
        })
        .collect();
    if facts.len() > limit {
        let more = facts.len() - limit;
        text.push_str(&format!("[{more} more; use a more specific query.]\n"));
    }
    ToolOutput::text(text).with_details(details)
}
