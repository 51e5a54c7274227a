//! `list_skills`: which skills there are, and which cannot be used and why.

use crate::context::ToolContext;
use crate::execute::blocking;
use crate::output::ToolOutput;
use crate::skills::Skill;
use crate::tool::{Call, TypedTool};
use async_trait::async_trait;
use netaclaw_governance::{Concurrency, EgressTarget, ToolManifest, WorkerUse};
use netaclaw_protocol::{SkillState, ToolCategory, ToolLabel, ToolRisk, ToolStatus};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

/// Lists skills.
#[derive(Clone, Copy, Debug)]
pub struct ListSkills;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListSkillsInput {}

#[async_trait]
impl TypedTool for ListSkills {
    type Input = ListSkillsInput;

    fn manifest(&self) -> ToolManifest {
        ToolManifest {
            name: "list_skills".to_owned(),
            label: ToolLabel {
                zh: "列出技能".to_owned(),
                en: "List skills".to_owned(),
            },
            description: "Lists the available skills: packaged instructions, some with a program. \
                          Also lists unavailable skills, with the reason."
                .into(),
            guidance: String::new(),
            category: ToolCategory::Skills,
            schema: Value::Null.into(),
            risk: ToolRisk::Read,
            default_status: ToolStatus::Enabled,
            worker: WorkerUse::Local,
            needs: Vec::new(),
            timeout: Some(Duration::from_secs(30)),
            output_cap: 32 << 10,
            concurrency: Concurrency::Parallel,
            outlet: EgressTarget::None,
        }
    }

    async fn run(&self, _call: Call<ListSkillsInput>, context: ToolContext) -> ToolOutput {
        let places = context.skills.clone();
        let skills = blocking(move || places.find()).await;
        let shown =
            |skill: &&Skill| !matches!(skill.state, SkillState::Shadowed | SkillState::NotChosen);
        let lines: Vec<String> = skills.iter().filter(shown).map(line).collect();
        match lines.is_empty() {
            true => ToolOutput::text("There are no skills."),
            false => ToolOutput::text(lines.join("\n")),
        }
    }
}

fn line(skill: &Skill) -> String {
    let Skill {
        name, description, ..
    } = skill;
    if !skill.is_ready() {
        return format!("- {name}: unavailable, because {}.", skill.reason());
    }
    let description: Vec<&str> = description.split_whitespace().collect();
    let how = match skill.entry {
        Some(_) => " (has a program: `execute_skill`)",
        None => "",
    };
    format!("- {name}{how}: {}", description.join(" "))
}
