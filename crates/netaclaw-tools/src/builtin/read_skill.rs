//! `read_skill`: the instructions of a skill, or another file of its folder.

use crate::context::ToolContext;
use crate::execute::blocking;
use crate::output::ToolOutput;
use crate::skills::{Skill, SkillDirs};
use crate::tool::{Call, TypedTool};
use crate::workspace::Workspace;
use async_trait::async_trait;
use netaclaw_governance::{Concurrency, EgressTarget, ToolManifest, WorkerUse};
use netaclaw_protocol::{ToolCategory, ToolLabel, ToolRisk, ToolStatus};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::io::Read;
use std::time::Duration;

const FILE_BYTES_MAX: u64 = 256 << 10;

/// Reads skills.
#[derive(Clone, Copy, Debug)]
pub struct ReadSkill;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadSkillInput {
    /// Name of the skill.
    name: String,
    /// File of the skill to read instead of its instructions, relative to its folder.
    #[serde(default)]
    file: Option<String>,
}

#[async_trait]
impl TypedTool for ReadSkill {
    type Input = ReadSkillInput;

    fn manifest(&self) -> ToolManifest {
        ToolManifest {
            name: "read_skill".to_owned(),
            label: ToolLabel {
                zh: "读取技能".to_owned(),
                en: "Read skill".to_owned(),
            },
            description: "Returns the instructions of a skill and the input that its program \
                          expects. Read a skill before you use it."
                .into(),
            guidance: String::new(),
            category: ToolCategory::Skills,
            schema: Value::Null.into(),
            risk: ToolRisk::Read,
            default_status: ToolStatus::Enabled,
            worker: WorkerUse::Local,
            needs: Vec::new(),
            timeout: Some(Duration::from_secs(30)),
            output_cap: 64 << 10,
            concurrency: Concurrency::Parallel,
            outlet: EgressTarget::None,
        }
    }

    async fn run(&self, call: Call<ReadSkillInput>, context: ToolContext) -> ToolOutput {
        let places = context.skills.clone();
        let input = call.into_input();
        match blocking(move || read(&places, &input)).await {
            Ok(text) => ToolOutput::text(text),
            Err(why) => ToolOutput::error(why),
        }
    }
}

fn read(places: &SkillDirs, input: &ReadSkillInput) -> Result<String, String> {
    let skill = places.ready(&input.name);
    let skill = skill.map_err(|why| why.to_string())?;
    match &input.file {
        None => Ok(instructions(&skill)),
        Some(file) => read_file(&skill, file),
    }
}

/// The text for a model that is to use the skill.
pub fn instructions(skill: &Skill) -> String {
    let mut text = skill.body();
    if skill.entry.is_some() {
        text.push_str(&format!(
            "\n\nTo run its program, call `execute_skill` with the name `{}`",
            skill.name
        ));
        match &skill.input_schema {
            Some(schema) => {
                let schema = serde_json::to_string_pretty(schema).unwrap_or_default();
                text.push_str(&format!(
                    " and an `input` that matches this schema:\n{schema}"
                ));
            }
            None => text.push('.'),
        }
    }
    let files = skill.files();
    if !files.is_empty() {
        let files = files.join("\n- ");
        text.push_str(&format!(
            "\n\nIts files, which you can read with `read_skill` and `file`:\n- {files}"
        ));
    }
    text
}

/// Opened beneath the folder, so that no link leads out of it.
fn read_file(skill: &Skill, file: &str) -> Result<String, String> {
    let folder = Workspace::new(&skill.dir, &[])
        .map_err(|_| format!("The skill `{}` no longer exists.", skill.name))?;
    let outside = || format!("`{file}` is not a file of the skill `{}`.", skill.name);
    let opened = folder.open_file(file).map_err(|_| outside())?;
    let mut bytes = Vec::new();
    let read = opened.take(FILE_BYTES_MAX).read_to_end(&mut bytes);
    read.map_err(|_| outside())?;
    String::from_utf8(bytes).map_err(|_| format!("`{file}` is not a text file."))
}
