//! `skill new`: the folder of a skill to start from.

use crate::app::{App, Outcome};
use crate::error::{Failure, Result};
use clap::Args;
use netaclaw_store::private;
use netaclaw_tools::skills::{TemplateError, new_skill};
use std::io::Write;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct NewArgs {
    /// Name of the skill
    name: String,
    /// Directory for its folder; the default is DATA_DIR/skills
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// What the skill does and when to use it
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
}

pub(super) fn run(args: &NewArgs, app: &mut App) -> Result<Outcome> {
    let lang = app.lang;
    let parent = match &args.dir {
        Some(dir) => dir.clone(),
        None => {
            // What lies in the data directory is for its owner alone.
            let dir = app.config(None)?.skills_dir();
            private::create_dir_all(&dir)
                .map_err(|error| Failure::io(lang, dir.to_string_lossy(), &error))?;
            dir
        }
    };
    let description = args.description.clone();
    let description = description.unwrap_or_else(|| lang.skill_default_description());
    let made = new_skill(&parent, &args.name, &description);
    let dir = made.map_err(|error| match error {
        TemplateError::BadName(name) => Failure::plain(name, lang.skill_bad_name()),
        TemplateError::Exists(dir) => Failure::plain(dir.to_string_lossy(), lang.file_exists()),
        TemplateError::Io(error) => Failure::io(lang, parent.to_string_lossy(), &error),
    })?;
    if args.dir.is_none() {
        private::restrict(&dir)
            .map_err(|error| Failure::io(lang, dir.to_string_lossy(), &error))?;
    }
    writeln!(app.out, "{}", lang.skill_made(dir.display()))?;
    Ok(Outcome::Done)
}
