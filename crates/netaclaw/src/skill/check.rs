//! `skill check`: reports what is missing in the folder of a skill.

use crate::app::{App, Outcome};
use crate::error::{Failure, Result, in_language};
use clap::Args;
use netaclaw_tools::skills::check_skill;
use std::io::Write;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// Folder of the skill
    dir: PathBuf,
}

pub(super) fn run(args: &CheckArgs, app: &mut App) -> Result<Outcome> {
    let lang = app.lang;
    let Some(skill) = check_skill(&args.dir, app.env.all.clone()) else {
        let what = args.dir.to_string_lossy();
        return Err(Failure::new(
            what,
            lang.skill_no_file(),
            lang.skill_name_folder(),
        ));
    };
    for problem in &skill.problems {
        writeln!(
            app.out,
            "{}",
            lang.skill_problem(in_language(lang, problem.words()))
        )?;
    }
    for warning in &skill.warnings {
        writeln!(
            app.out,
            "{}",
            lang.skill_warning(in_language(lang, warning.words()))
        )?;
    }
    if !skill.is_ready() {
        return Ok(Outcome::Failed);
    }
    writeln!(app.out, "{}", lang.skill_good(&skill.name))?;
    if let Some(schema) = &skill.input_schema {
        let schema = serde_json::to_string_pretty(schema).map_err(std::io::Error::from)?;
        writeln!(app.out, "{schema}")?;
    }
    Ok(Outcome::Done)
}
