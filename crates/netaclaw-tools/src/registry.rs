//! The registry of tools.

use crate::builtin::{
    Bash, Clarify, Edit, ExecuteSkill, Find, Grep, ListSkills, Ls, MemorySave, MemorySearch, Read,
    ReadSkill, Todo, WebFetch, Write,
};
use crate::schema::ArgumentCheck;
use crate::tool::Tool;
use netaclaw_governance::ToolManifest;
use serde_json::Value;
use std::sync::{Arc, OnceLock};

/// Tools by name, each with its manifest and its schema compiled at most once.
#[derive(Clone, Default)]
pub struct ToolRegistry {
    tools: Vec<Registered>,
}

#[derive(Clone)]
pub(crate) struct Registered {
    pub(crate) tool: Arc<dyn Tool>,
    manifest: Arc<ToolManifest>,
    check: Arc<OnceLock<ArgumentCheck>>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    #[error("two tools are named `{0}`")]
    Duplicate(String),
    #[error("the schema of `{name}` is not valid: {problem}")]
    BadSchema { name: String, problem: String },
}

impl ToolRegistry {
    /// No tools yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The tools that come with NetaClaw.
    pub fn builtin() -> Self {
        let mut registry = Self::new();
        let tools: [Arc<dyn Tool>; 15] = [
            Arc::new(Read),
            Arc::new(Ls),
            Arc::new(Find),
            Arc::new(Grep),
            Arc::new(Edit),
            Arc::new(Write),
            Arc::new(Bash),
            Arc::new(WebFetch::new()),
            Arc::new(Todo),
            Arc::new(Clarify),
            Arc::new(MemorySave),
            Arc::new(MemorySearch),
            Arc::new(ListSkills),
            Arc::new(ReadSkill),
            Arc::new(ExecuteSkill),
        ];
        for tool in tools {
            let manifest = tool.manifest();
            // Their schemas are our own, and tested. Compiled at the start of every server, they
            // would bring in megabytes of code that most never need.
            registry.push(tool, manifest, OnceLock::new());
        }
        registry
    }

    pub fn add(&mut self, tool: Arc<dyn Tool>) -> Result<(), RegistryError> {
        let manifest = tool.manifest();
        if self.find(&manifest.name).is_some() {
            return Err(RegistryError::Duplicate(manifest.name));
        }
        let check = ArgumentCheck::compile(&manifest.schema).map_err(|problem| {
            RegistryError::BadSchema {
                name: manifest.name.clone(),
                problem,
            }
        })?;
        self.push(tool, manifest, OnceLock::from(check));
        Ok(())
    }

    fn push(
        &mut self,
        tool: Arc<dyn Tool>,
        manifest: ToolManifest,
        check: OnceLock<ArgumentCheck>,
    ) {
        self.tools.push(Registered {
            tool,
            manifest: Arc::new(manifest),
            check: Arc::new(check),
        });
    }

    /// The manifests, in the order tools were added.
    pub fn catalogue(&self) -> Vec<Arc<ToolManifest>> {
        self.tools
            .iter()
            .map(|tool| tool.manifest.clone())
            .collect()
    }

    /// Whether arguments fit a tool; `Err` is for the model to read.
    pub fn check_args(&self, tool_name: &str, args: &Value) -> Result<(), String> {
        match self.find(tool_name) {
            Some(tool) => tool.check_args(args),
            None => Err(not_installed(tool_name)),
        }
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Registered> {
        self.tools.iter().find(|tool| tool.manifest.name == name)
    }
}

impl Registered {
    pub(crate) fn check_args(&self, args: &Value) -> Result<(), String> {
        let mut args = args.clone();
        self.tool.normalize(&mut args);
        let check = self.check.get_or_init(|| {
            let compiled = ArgumentCheck::compile(&self.manifest.schema);
            compiled.expect("schemas of built-in tools are valid, and others were compiled before")
        });
        check.check(&args)
    }
}

pub(crate) fn not_installed(name: &str) -> String {
    format!("The tool `{name}` is not installed.")
}

impl std::fmt::Debug for ToolRegistry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.tools.iter().map(|tool| &tool.manifest.name))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeSet;

    /// What the registry takes for granted.
    #[test]
    fn built_in_tools_have_names_of_their_own_and_valid_schemas() {
        let registry = ToolRegistry::builtin();
        let names: BTreeSet<_> = registry.tools.iter().map(|t| &t.manifest.name).collect();
        assert_eq!(names.len(), registry.tools.len());
        for tool in &registry.tools {
            let name = &tool.manifest.name;
            assert!(
                ArgumentCheck::compile(&tool.manifest.schema).is_ok(),
                "{name}"
            );
            assert!(tool.check_args(&json!([])).is_err(), "{name} takes objects");
        }
    }
}
