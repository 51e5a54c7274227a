//! A skill's program, from its start to one typed outcome.
//!
//! It gets its input as one JSON document, writes its result as one to its output, and its progress
//! to its error output. Both pipes are read concurrently, and no faster than their content is
//! processed: a flood waits in the pipe and slows down its source.

mod ending;
mod results;
mod watch;

use super::{Skill, SkillDirs, VisionModel};
use crate::context::ToolContext;
use crate::execute::blocking;
use crate::output::ToolOutput;
use crate::process::Redactor;
use crate::schema::ArgumentCheck;
use crate::spawn::{Program, SpawnError, Started};
use crate::update::{ProcessUpdate, ToolUpdate};
use ending::RunEnd;
use netaclaw_protocol::{ProcessSource, ProcessStatus};
use results::{Results, output, output_dir};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use tempfile::TempDir;
use watch::watch;

/// What to run.
#[derive(Clone, Debug)]
pub struct SkillRun {
    pub name: String,
    pub input: Value,
    pub tool_call_id: String,
}

/// Runs a skill's program and always returns, with exactly one outcome.
pub async fn run_skill(run: SkillRun, places: &SkillDirs, context: &ToolContext) -> ToolOutput {
    let skill = {
        let (places, name) = (places.clone(), run.name.clone());
        match blocking(move || places.ready(&name)).await {
            Ok(skill) => skill,
            Err(why) => return ToolOutput::error(why.to_string()),
        }
    };
    let Some(entry) = skill.entry.clone() else {
        return ToolOutput::error(format!(
            "The skill `{}` has no program to run. Read it with `read_skill` and follow its \
             instructions.",
            skill.name
        ));
    };
    if let Err(why) = check_input(&skill, &run.input) {
        return ToolOutput::error(why);
    }
    emit_start(&skill, context).await;
    let mut ended = match Prepared::new(&skill, &run, places, context).await {
        Err(error) => RunEnd::not_started(&error),
        Ok(prepared) => match start(&skill, &entry, &run, &prepared, context).await {
            Err(error) => RunEnd::not_started(&error),
            Ok(started) => {
                let sandbox = started.process.sandbox();
                let mut ended = watch(started, &run.input, &skill, &prepared, context).await;
                // Later readers of the session need to know whether this may be external content.
                ended.details.insert("sandbox".to_owned(), json!(sandbox));
                ended
            }
        },
    };
    ended.end.task_id = run.input["taskId"].as_str().map(str::to_owned);
    output(&skill, ended, context).await
}

fn check_input(skill: &Skill, input: &Value) -> Result<(), String> {
    let Some(schema) = &skill.input_schema else {
        return Ok(());
    };
    let check = ArgumentCheck::compile(schema)
        .map_err(|why| format!("The skill `{}` is unavailable: {why}.", skill.name))?;
    let fault = check.check(input).err();
    fault.map_or(Ok(()), |fault| {
        Err(format!(
            "The input does not match the schema of the skill `{}`, so the program was not \
             started. {fault}",
            skill.name
        ))
    })
}

async fn emit_start(skill: &Skill, context: &ToolContext) {
    let begun = ProcessUpdate {
        source: ProcessSource::Skill,
        status: ProcessStatus::Started,
        message: skill.name.clone(),
        ..ProcessUpdate::default()
    };
    context
        .updates
        .send_waiting(ToolUpdate::Process(begun))
        .await;
}

/// What runs a file, by its name; `None` if it runs itself.
pub(in crate::skills) fn interpreter(
    entry: &Path,
) -> Option<(&'static str, &'static [&'static str])> {
    match entry.extension()?.to_str()? {
        "py" => Some(("python3", &["-B"])),
        "js" | "mjs" | "cjs" => Some(("node", &[])),
        "sh" => Some(("bash", &[])),
        _ => None,
    }
}

/// The surroundings of one run.
struct Prepared {
    /// Gone with the run.
    scratch: TempDir,
    results: Results,
    variables: BTreeMap<String, String>,
    redactor: Redactor,
}

impl Prepared {
    async fn new(
        skill: &Skill,
        run: &SkillRun,
        places: &SkillDirs,
        context: &ToolContext,
    ) -> Result<Self, SpawnError> {
        let place = context.spawner.scratch();
        let workspace = context.workspace.clone();
        let inside = output_dir(&skill.name, &run.tool_call_id);
        let made = blocking(move || {
            place.make()?;
            let scratch = tempfile::Builder::new()
                .prefix("skill-")
                .tempdir_in(place.dir())?;
            Ok::<_, std::io::Error>((scratch, Results::new(&workspace, inside)?))
        });
        let (scratch, results) = made.await?;
        let passed: Vec<(String, String)> = skill
            .env
            .iter()
            .filter_map(|name| {
                let value = crate::skills::requires::value(&places.environment, name)?;
                Some((name.clone(), value.to_str()?.to_owned()))
            })
            .collect();
        let vision = places.vision.iter().filter(|_| skill.wants_vision);
        let secrets = vision.clone().filter_map(|vision| vision.key.as_ref());
        let secrets = secrets.map(|key| key.expose_secret().to_owned());
        let redactor = Redactor::new(context.workspace.roots())
            .with_root(&skill.dir)
            .with_root(scratch.path())
            .with_secrets(passed.iter().map(|(_, value)| value.clone()).chain(secrets));
        let vision = vision.flat_map(VisionModel::variables);
        Ok(Self {
            scratch,
            results,
            variables: passed.into_iter().chain(vision).collect(),
            redactor,
        })
    }
}

async fn start(
    skill: &Skill,
    entry: &Path,
    run: &SkillRun,
    prepared: &Prepared,
    context: &ToolContext,
) -> Result<Started, SpawnError> {
    if context.cancel.is_cancelled() {
        return Err(SpawnError::Other("the run was stopped".to_owned()));
    }
    let entry = entry.to_string_lossy().into_owned();
    let (program, mut args) = match interpreter(Path::new(&entry)) {
        Some((program, flags)) => (
            program.to_owned(),
            flags.iter().map(|flag| (*flag).to_owned()).collect(),
        ),
        None => (entry.clone(), Vec::new()),
    };
    if program != entry {
        args.push(entry);
    }
    let root = context.workspace.root();
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut env = prepared.variables.clone();
    env.extend([
        // Who the steps belong to is decided here and not by what the program says.
        (
            "NETACLAW_OPERATION_ID".to_owned(),
            crate::process::operation_id(&run.tool_call_id),
        ),
        ("NETACLAW_WORKSPACE".to_owned(), text(root)),
        ("NETACLAW_SKILL_DIR".to_owned(), text(&skill.dir)),
        (
            "NETACLAW_OUTPUT_DIR".to_owned(),
            text(&root.join(&prepared.results.inside)),
        ),
        ("NODE_NO_WARNINGS".to_owned(), "1".to_owned()),
    ]);
    let program = Program {
        program,
        args,
        cwd: prepared.scratch.path().to_owned(),
        env,
        takes_input: true,
        merged: false,
    };
    let readable = vec![skill.dir.clone()];
    context
        .spawner
        .start_reading(program, &context.workspace, readable)
        .await
}
