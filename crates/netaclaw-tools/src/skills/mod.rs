//! Skills: folders with instructions that a model reads when it needs them, some with a program
//! that does the work.
//!
//! What is usable is decided in one place, [`SkillDirs`], for lists, prompts and execution. A
//! tool that uses a skill reads the disk ([`SkillDirs::find`]); prompts and lists of tools use a
//! scan ([`SkillDirs::scan`]), which parses only the files that have changed since the one
//! before.

mod events;
mod find;
mod front_matter;
mod requires;
mod run;
mod scan;
mod template;
#[cfg(test)]
mod tests;

pub use find::{SkillDirs, VisionModel, check_skill};
pub use run::{SkillRun, run_skill};
pub use scan::SkillScan;
pub use template::{TemplateError, new_skill};

use netaclaw_protocol::{
    SkillDetail, SkillProblem, SkillProblemView, SkillSource, SkillState, SkillTexts, SkillView,
    ToolLabel,
};
use requires::Requires;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The file that makes a folder a skill.
pub const SKILL_FILE: &str = "SKILL.md";
pub(crate) const TIMEOUT_DEFAULT: Duration = Duration::from_secs(600);
const BODY_BYTES_MAX: u64 = 256 << 10;
const FILES_MAX: usize = 200;

/// A skill as it is on the disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Skill {
    pub name: String,
    pub label: Option<ToolLabel>,
    pub description: String,
    /// By language, for people.
    pub translations: BTreeMap<String, SkillTexts>,
    pub source: SkillSource,
    pub dir: PathBuf,
    pub state: SkillState,
    pub problems: Vec<SkillProblem>,
    pub warnings: Vec<SkillProblem>,
    /// The program that does the work, inside of the folder.
    pub entry: Option<PathBuf>,
    /// The input of the program.
    pub input_schema: Option<Value>,
    pub timeout: Duration,
    /// Variables of the server that the program is given.
    pub env: Vec<String>,
    /// Whether it needs a model with vision.
    pub wants_vision: bool,
    pub(crate) requires: Requires,
}

impl Skill {
    pub fn is_ready(&self) -> bool {
        self.state == SkillState::Ready
    }

    /// Why it cannot be used, in English.
    pub fn reason(&self) -> String {
        let problems = self.problems.iter().map(SkillProblem::to_string);
        problems.collect::<Vec<_>>().join("; ")
    }

    pub fn view(&self) -> SkillView {
        SkillView {
            name: self.name.clone(),
            label: self.label.clone(),
            description: self.description.clone(),
            translations: self.translations.clone(),
            source: self.source,
            state: self.state,
            problems: self.problems.iter().map(SkillProblemView::from).collect(),
            warnings: self.warnings.iter().map(SkillProblemView::from).collect(),
            is_executable: self.entry.is_some(),
            input_schema: self.input_schema.clone(),
            timeout_ms: u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// With its instructions. Blocks.
    pub fn detail(&self) -> SkillDetail {
        SkillDetail {
            skill: self.view(),
            body: self.body(),
            files: self.files(),
        }
    }

    /// The instructions, without the front matter. Blocks.
    pub fn body(&self) -> String {
        let text = read_capped(&self.dir.join(SKILL_FILE)).unwrap_or_default();
        front_matter::split(&text).1.trim().to_owned()
    }

    /// The other files of the skill, relative to the folder. Blocks.
    pub fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        collect(&self.dir, &self.dir, &mut files);
        files.sort();
        files
    }
}

fn collect(root: &Path, dir: &Path, files: &mut Vec<String>) {
    let Ok(items) = std::fs::read_dir(dir) else {
        return;
    };
    for item in items.flatten() {
        if files.len() >= FILES_MAX {
            return;
        }
        let path = item.path();
        let name = item.file_name();
        let name = name.to_string_lossy();
        // Links could lead anywhere, and to themselves.
        match item.file_type() {
            Ok(kind) if kind.is_dir() && name != "__pycache__" && !name.starts_with('.') => {
                collect(root, &path, files);
            }
            Ok(kind) if kind.is_file() && name != SKILL_FILE => {
                let inside = path.strip_prefix(root).unwrap_or(&path);
                files.push(inside.to_string_lossy().into_owned());
            }
            _ => {}
        }
    }
}

/// A file as text, the beginning of it if it is long.
fn read_capped(path: &Path) -> std::io::Result<String> {
    let file = std::fs::File::open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(std::io::ErrorKind::InvalidInput.into());
    }
    let len = found.len().min(BODY_BYTES_MAX);
    // One more, so that the end is found by the same call.
    let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0) + 1);
    file.take(BODY_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
