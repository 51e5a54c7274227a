//! Finds skills and decides which can be used.

use super::front_matter::{FrontMatter, label_of, texts_of, translations_of};
use super::requires::{Requires, has_program, value};
use super::scan::{FrontMatterCache, FrontMatterReader, SkillScan};
use super::{SKILL_FILE, Skill, TIMEOUT_DEFAULT};
use netaclaw_protocol::{NotReady, SkillProblem, SkillSource, SkillState};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The maximum number of folders in one directory; the scan reports when there are more.
const FOLDERS_MAX: usize = 500;
const TIMEOUT_MAX_SECONDS: u64 = 24 * 3600;
/// Where a workspace keeps its skills.
const IN_WORKSPACE: [&str; 2] = [".agents/skills", ".claude/skills"];
/// The server's own variables, which skills do not get.
const OWN_VARIABLES: &str = "NETACLAW_";
/// What the server itself hands to a skill that asks for it.
const VISION_VARIABLES: [&str; 3] = [
    "NETACLAW_VISION_URL",
    "NETACLAW_VISION_MODEL",
    "NETACLAW_VISION_KEY",
];

/// Where the skills of one agent are looked for. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct SkillDirs {
    /// Directories that the agent names.
    pub agent: Vec<PathBuf>,
    /// That of the server's data.
    pub data: Option<PathBuf>,
    pub workspace: Option<PathBuf>,
    /// Where those lie that come with NetaClaw.
    pub shipped: Option<PathBuf>,
    /// The names the agent uses; empty, all of them.
    pub chosen: Vec<String>,
    /// The variables of the server, which programs may need.
    pub environment: Arc<Vec<(OsString, OsString)>>,
    /// A model that sees, for programs that ask for one and may use the network.
    pub vision: Option<VisionModel>,
}

/// How a program reaches a model that sees, in the form of OpenAI's chat API.
#[derive(Clone, Debug)]
pub struct VisionModel {
    pub url: String,
    pub model: String,
    pub key: Option<SecretString>,
}

impl VisionModel {
    pub(super) fn variables(&self) -> Vec<(String, String)> {
        let key = self.key.as_ref().map(|key| key.expose_secret().to_owned());
        let values = [
            self.url.clone(),
            self.model.clone(),
            key.unwrap_or_default(),
        ];
        let names = VISION_VARIABLES.map(str::to_owned);
        names.into_iter().zip(values).collect()
    }
}

impl SkillDirs {
    /// Every skill there is, usable or not: first those that come first in the index. Blocks.
    pub fn find(&self) -> Vec<Skill> {
        self.look(&mut FrontMatterReader {
            before: &FrontMatterCache::default(),
            now: FrontMatterCache::default(),
        })
    }

    /// The same, where it was scanned before. Blocks.
    pub fn scan(&self, before: &SkillScan) -> SkillScan {
        let mut fronts = FrontMatterReader {
            before: &before.files,
            now: FrontMatterCache::default(),
        };
        let skills = self.look(&mut fronts);
        SkillScan {
            skills: match skills == *before.skills {
                true => Arc::clone(&before.skills),
                false => Arc::new(skills),
            },
            files: Arc::new(fronts.now),
        }
    }

    fn look(&self, fronts: &mut FrontMatterReader<'_>) -> Vec<Skill> {
        let mut skills: Vec<Skill> = self
            .places()
            .into_iter()
            .flat_map(|(source, dir)| in_place(source, &dir, fronts))
            .collect();
        let mut taken = HashSet::new();
        for skill in &mut skills {
            self.judge(skill, &mut taken);
        }
        skills
    }

    /// The usable skill of this name, or why there is none, which models read as well. Blocks.
    pub fn ready(&self, name: &str) -> Result<Skill, NotReady> {
        let skills = self.find();
        let mut named = skills.iter().filter(|skill| skill.name == name);
        if let Some(ready) = named.clone().find(|skill| skill.is_ready()) {
            return Ok(ready.clone());
        }
        if let Some(skill) = named.next() {
            return Err(NotReady::SkillNotUsable {
                name: name.to_owned(),
                problems: skill.problems.clone(),
            });
        }
        let ready = skills.iter().filter(|skill| skill.is_ready());
        Err(NotReady::SkillMissing {
            name: name.to_owned(),
            ready: ready.map(|skill| skill.name.clone()).collect(),
        })
    }

    fn places(&self) -> Vec<(SkillSource, PathBuf)> {
        let agent = self
            .agent
            .iter()
            .map(|dir| (SkillSource::Agent, dir.clone()));
        let data = self.data.iter().map(|dir| (SkillSource::Data, dir.clone()));
        let workspace = self.workspace.iter().flat_map(|root| {
            IN_WORKSPACE.map(|inside| (SkillSource::Workspace, root.join(inside)))
        });
        let shipped = self.shipped.iter();
        let shipped = shipped.map(|dir| (SkillSource::Shipped, dir.clone()));
        agent.chain(data).chain(workspace).chain(shipped).collect()
    }

    /// Says of a skill whether it can be used, and why not.
    fn judge(&self, skill: &mut Skill, taken: &mut HashSet<String>) {
        if !skill.problems.is_empty() {
            skill.state = SkillState::Invalid;
            return;
        }
        if !taken.insert(skill.name.clone()) {
            skill.state = SkillState::Shadowed;
            skill.problems.push(SkillProblem::Shadowed);
            return;
        }
        if !self.chosen.is_empty() && !self.chosen.contains(&skill.name) {
            skill.state = SkillState::NotChosen;
            skill.problems.push(SkillProblem::NotSelected);
            return;
        }
        skill.problems = self.missing(skill);
        skill.state = match skill.problems.is_empty() {
            true => SkillState::Ready,
            false => SkillState::Unavailable,
        };
    }

    /// What of its needs is not there. Asked for lists, and again before a start.
    pub(crate) fn missing(&self, skill: &Skill) -> Vec<SkillProblem> {
        let mut missing = skill.requires.missing(&self.environment);
        if let Some(entry) = &skill.entry
            && let Some((program, _)) = super::run::interpreter(entry)
            && !skill.requires.bins.iter().any(|bin| bin == program)
        {
            let path = value(&self.environment, "PATH").unwrap_or_default();
            if !has_program(path, program) {
                missing.push(SkillProblem::InterpreterMissing {
                    program: program.to_owned(),
                });
            }
        }
        missing
    }
}

fn in_place(source: SkillSource, dir: &Path, fronts: &mut FrontMatterReader<'_>) -> Vec<Skill> {
    // A directory that the agent names may be a skill itself.
    if dir.join(SKILL_FILE).is_file() {
        return vec![skill_in(source, dir.to_owned(), fronts)];
    }
    let Ok(items) = std::fs::read_dir(dir) else {
        return Vec::new();
    };
    let mut dirs: Vec<PathBuf> = items
        .flatten()
        .map(|item| item.path())
        .filter(|path| path.join(SKILL_FILE).is_file())
        .collect();
    dirs.sort();
    if dirs.len() > FOLDERS_MAX {
        let count = dirs.len();
        tracing::warn!(count, "one folder contains more skills than NetaClaw reads");
        dirs.truncate(FOLDERS_MAX);
    }
    let skills = dirs.into_iter().map(|dir| skill_in(source, dir, fronts));
    skills.collect()
}

fn skill_in(source: SkillSource, dir: PathBuf, fronts: &mut FrontMatterReader<'_>) -> Skill {
    let dir = dir.canonicalize().unwrap_or(dir);
    let folder = dir
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let folder = folder.unwrap_or_default();
    let front = fronts.front(&dir.join(SKILL_FILE));
    let FrontMatter {
        name,
        description,
        metadata,
        input,
        problems,
        warnings,
    } = &*front;
    let mut skill = Skill {
        name: folder.clone(),
        label: label_of(metadata),
        description: description.clone(),
        translations: translations_of(metadata),
        source,
        state: SkillState::Invalid,
        problems: problems.clone(),
        warnings: warnings.clone(),
        entry: None,
        input_schema: None,
        timeout: TIMEOUT_DEFAULT,
        env: Vec::new(),
        wants_vision: false,
        requires: Requires::read(metadata),
        dir,
    };
    skill.set_name(name.clone(), &folder);
    skill.set_timeout(metadata);
    skill.set_env(metadata);
    skill.set_entry(metadata, input.as_ref());
    skill
}

/// Reads one folder, for authors of a skill. Blocks.
pub fn check_skill(dir: &Path, environment: Vec<(OsString, OsString)>) -> Option<Skill> {
    let dir = dir.canonicalize().ok()?;
    if !dir.join(SKILL_FILE).is_file() {
        return None;
    }
    let places = SkillDirs {
        agent: vec![dir],
        environment: Arc::new(environment),
        ..SkillDirs::default()
    };
    places.find().into_iter().next()
}

impl Skill {
    fn set_name(&mut self, name: Option<String>, folder: &str) {
        match name {
            Some(name) if is_name(&name) => {
                if name != folder {
                    self.warnings.push(SkillProblem::NameDiffers {
                        name: name.clone(),
                        folder: folder.to_owned(),
                    });
                }
                self.name = name;
            }
            Some(name) => self.warnings.push(SkillProblem::NameNotValid { name }),
            // What cannot be read has no name either.
            None if !self.problems.is_empty() => {}
            None => self.warnings.push(SkillProblem::NameMissing),
        }
    }

    fn set_timeout(&mut self, metadata: &Map<String, Value>) {
        let Some(given) = metadata.get("timeoutSeconds") else {
            return;
        };
        match given.as_u64() {
            Some(seconds @ 1..=TIMEOUT_MAX_SECONDS) => {
                self.timeout = Duration::from_secs(seconds);
            }
            _ => self.warnings.push(SkillProblem::TimeoutNotValid {
                max_seconds: TIMEOUT_MAX_SECONDS,
            }),
        }
    }

    /// The content of a workspace may come from anywhere, and gets no variables of the server.
    fn set_env(&mut self, metadata: &Map<String, Value>) {
        let mut wanted = texts_of(metadata, "env");
        let trusted = self.source != SkillSource::Workspace;
        let asked = wanted.len();
        wanted.retain(|name| !VISION_VARIABLES.contains(&name.as_str()));
        self.wants_vision = trusted && wanted.len() < asked;
        let (given, refused): (Vec<String>, Vec<String>) = wanted
            .into_iter()
            .partition(|name| trusted && !name.starts_with(OWN_VARIABLES));
        self.env = given;
        if !refused.is_empty() {
            self.warnings
                .push(SkillProblem::VariablesRefused { names: refused });
        }
    }

    fn set_entry(&mut self, metadata: &Map<String, Value>, input: Option<&Result<Value, String>>) {
        let Some(entry) = metadata.get("entry") else {
            return;
        };
        match entry_in(&self.dir, entry) {
            Ok(entry) => self.entry = Some(entry),
            Err(fault) => self.problems.push(fault),
        }
        match input {
            None => {}
            Some(Ok(schema)) => self.input_schema = Some(schema.clone()),
            Some(Err(why)) => self
                .problems
                .push(SkillProblem::InputNotValid { error: why.clone() }),
        }
    }
}

/// The program inside of the folder, also after its links.
fn entry_in(dir: &Path, entry: &Value) -> Result<PathBuf, SkillProblem> {
    let outside = || SkillProblem::EntryNotInFolder;
    let entry = entry.as_str().ok_or_else(outside)?;
    let is_inside = |component| matches!(component, Component::Normal(_) | Component::CurDir);
    if entry.is_empty() || !Path::new(entry).components().all(is_inside) {
        return Err(outside());
    }
    let missing = || SkillProblem::EntryMissing {
        entry: entry.to_owned(),
    };
    let real = dir.join(entry).canonicalize().map_err(|_| missing())?;
    if !real.starts_with(dir) {
        return Err(outside());
    }
    match real.is_file() {
        true => Ok(real),
        false => Err(missing()),
    }
}

pub(super) fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !name.is_empty() && name.len() <= 64 && name.chars().all(plain)
}
