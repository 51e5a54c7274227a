//! `execute_skill`: the program of a skill, with every step of it shown.

use crate::context::ToolContext;
use crate::output::ToolOutput;
use crate::skills::{SkillRun, run_skill};
use crate::tool::{Call, TypedTool};
use async_trait::async_trait;
use netaclaw_governance::{Concurrency, EgressTarget, ToolManifest, WorkerUse};
use netaclaw_protocol::{ToolCategory, ToolLabel, ToolRisk, ToolStatus};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The tool's name, which others look for.
pub const EXECUTE_SKILL: &str = "execute_skill";

/// Runs skills that have a program.
#[derive(Clone, Copy, Debug)]
pub struct ExecuteSkill;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecuteSkillInput {
    /// Name of the skill.
    name: String,
    /// Input of the skill, as described by `read_skill`.
    #[serde(default)]
    input: Map<String, Value>,
}

#[async_trait]
impl TypedTool for ExecuteSkill {
    type Input = ExecuteSkillInput;

    fn manifest(&self) -> ToolManifest {
        ToolManifest {
            name: EXECUTE_SKILL.to_owned(),
            label: ToolLabel {
                zh: "运行技能".to_owned(),
                en: "Run skill".to_owned(),
            },
            description: "Runs the program of a skill with an input and returns its result as \
                          JSON. It can take minutes; the user sees its progress. It can write \
                          only to the workspace and to temporary directories, and usually has no \
                          network access."
                .into(),
            guidance: "Read a skill with `read_skill` before you run it with `execute_skill`."
                .to_owned(),
            category: ToolCategory::Skills,
            schema: Value::Null.into(),
            risk: ToolRisk::Exec,
            default_status: ToolStatus::Enabled,
            worker: WorkerUse::Proxy,
            needs: Vec::new(),
            // Every skill has a time of its own.
            timeout: None,
            output_cap: 32 << 10,
            concurrency: Concurrency::Parallel,
            outlet: EgressTarget::Programs,
        }
    }

    /// Some models send an object as a text.
    fn normalize(&self, args: &mut Value) {
        if let Some(input) = args.get_mut("input")
            && let Some(text) = input.as_str()
            && let Ok(object @ Value::Object(_)) = serde_json::from_str(text)
        {
            *input = object;
        }
    }

    async fn run(&self, call: Call<ExecuteSkillInput>, context: ToolContext) -> ToolOutput {
        let tool_call_id = call.tool_call_id().to_owned();
        let ExecuteSkillInput { name, input } = call.into_input();
        let run = SkillRun {
            name,
            input: Value::Object(input),
            tool_call_id,
        };
        run_skill(run, &context.skills, &context).await
    }
}
