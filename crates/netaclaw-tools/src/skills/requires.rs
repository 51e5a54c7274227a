//! The requirements of a skill: programs, variables, platforms.

use super::front_matter::texts_of;
use netaclaw_protocol::SkillProblem;
use serde_json::{Map, Value};
use std::ffi::{OsStr, OsString};
use std::path::Path;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Requires {
    pub(crate) bins: Vec<String>,
    /// One of these is enough.
    pub(crate) any_bins: Vec<String>,
    pub(crate) env: Vec<String>,
}

/// What there is: the variables of the server.
pub(crate) type Variables = [(OsString, OsString)];

impl Requires {
    pub(super) fn read(metadata: &Map<String, Value>) -> Self {
        let Some(Value::Object(requires)) = metadata.get("requires") else {
            return Self::default();
        };
        Self {
            bins: texts_of(requires, "bins"),
            any_bins: texts_of(requires, "anyBins"),
            env: texts_of(requires, "env"),
        }
    }

    /// What is missing, each by its name.
    pub(crate) fn missing(&self, variables: &Variables) -> Vec<SkillProblem> {
        let path = value(variables, "PATH").unwrap_or_default();
        let is_there = |bin: &String| has_program(path, bin);
        let mut missing = Vec::new();
        for bin in self.bins.iter().filter(|bin| !is_there(bin)) {
            missing.push(SkillProblem::ProgramMissing {
                program: bin.clone(),
            });
        }
        if !self.any_bins.is_empty() && !self.any_bins.iter().any(is_there) {
            missing.push(SkillProblem::AllProgramsMissing {
                programs: self.any_bins.clone(),
            });
        }
        let unset = |name: &&String| value(variables, name).is_none_or(OsStr::is_empty);
        for name in self.env.iter().filter(unset) {
            missing.push(SkillProblem::VariableMissing { name: name.clone() });
        }
        missing
    }
}

pub(super) fn value<'a>(variables: &'a Variables, name: &str) -> Option<&'a OsStr> {
    let mut all = variables.iter();
    let found = all.find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_os_str())
}

pub(super) fn has_program(path: &OsStr, name: &str) -> bool {
    if name.contains('/') {
        return is_program(Path::new(name));
    }
    std::env::split_paths(path).any(|dir| is_program(&dir.join(name)))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let found = path.metadata();
    found.is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
