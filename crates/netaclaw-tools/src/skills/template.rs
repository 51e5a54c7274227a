//! The beginning of a new skill: something that runs and shows how it is done.

use super::SKILL_FILE;
use std::io;
use std::path::{Path, PathBuf};

const ENTRY: &str = "scripts/main.py";

const ENTRY_TEXT: &str = r#"import json, sys


def step(message, **more):
    """Tells people where the work is."""
    event = {"type": "process_event", "message": message, **more}
    print(json.dumps(event), file=sys.stderr, flush=True)


given = json.load(sys.stdin)
names = given.get("names", [])
for number, name in enumerate(names, start=1):
    step(f"Greeting {name}", stage="greet", current=number, total=len(names))
print(json.dumps({"ok": True, "greetings": [f"Hello, {name}!" for name in names]}))
"#;

#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    #[error("{0:?} is not a valid skill name: use lower-case letters, digits and hyphens")]
    BadName(String),
    #[error("{} already exists", .0.display())]
    Exists(PathBuf),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Makes the folder of a new skill in `parent` and returns it. Blocks.
pub fn new_skill(parent: &Path, name: &str, description: &str) -> Result<PathBuf, TemplateError> {
    if !super::find::is_name(name) {
        return Err(TemplateError::BadName(name.to_owned()));
    }
    let dir = parent.join(name);
    if dir.exists() {
        return Err(TemplateError::Exists(dir));
    }
    std::fs::create_dir_all(dir.join("scripts"))?;
    std::fs::write(dir.join(ENTRY), ENTRY_TEXT)?;
    std::fs::write(dir.join(SKILL_FILE), instructions(name, description))?;
    Ok(dir)
}

fn instructions(name: &str, description: &str) -> String {
    // As a text in double quotes JSON is YAML too.
    let description = serde_json::Value::from(description);
    format!(
        r#"---
name: {name}
description: {description}
metadata:
  entry: {ENTRY}
  timeoutSeconds: 60
  requires:
    bins: [python3]
  input:
    type: object
    properties:
      names:
        type: array
        items: {{ type: string }}
        description: Whom to greet.
    required: [names]
---

# {name}

Call `execute_skill` with `names`, a list of names. The result has one greeting for each of them
under `greetings`. Show them to the user as a list.
"#
    )
}
