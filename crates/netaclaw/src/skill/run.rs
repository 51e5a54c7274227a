//! `skill run`: a skill without an agent, with its steps on the error output and its result on the
//! output.

use super::{find_agent, step_line};
use crate::admin::{self, engine_failure};
use crate::app::{App, Outcome};
use crate::assemble::{gate, skill_home};
use crate::error::{Failure, Result};
use crate::terminal::{harmless, one_line};
use clap::Args;
use netaclaw_admin::{AdminStore, nearest};
use netaclaw_agents::{AdminAgentSource, AgentPreviews, ModelSettings, SkillByHand};
use netaclaw_protocol::{ProcessLevel, RuntimeProcessEvent};
use netaclaw_tools::process::{Operation, Redactor};
use netaclaw_tools::{ToolRegistry, ToolUpdate, Updates};
use serde_json::{Map, Value};
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    /// Name or folder of the skill
    skill: String,
    /// Input of the skill as JSON; - reads it from standard input
    #[arg(long, value_name = "JSON", default_value = "{}")]
    input: String,
    /// Workspace; the default is the current directory
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Name of the agent whose skills and limits apply
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
}

pub(super) async fn run(args: RunArgs, app: &mut App) -> Result<Outcome> {
    let lang = app.lang;
    let input = read_input(&args.input, app)?;
    let here = std::env::current_dir()?;
    let workspace = args.workspace.clone().unwrap_or_else(|| here.clone());
    let store = Arc::new(admin::open(app).await?);
    let config = app.config(None)?;
    let agents = AdminAgentSource::new(
        Arc::clone(&store) as Arc<dyn AdminStore>,
        ModelSettings::default(),
        Arc::new(ToolRegistry::builtin()),
        here,
    );
    let gate = Arc::new(gate(app, &config));
    let agents = agents.with_gate(gate).with_skills(skill_home(app, &config));
    if let Err(failure) = find(&args, app, &*store, &agents).await {
        store.close().await;
        return Err(failure);
    }
    let cancel = CancellationToken::new();
    let screen = Arc::new(Mutex::new(Screen::new(&workspace)));
    let shown = Arc::clone(&screen);
    let by_hand = SkillByHand {
        agent: args.agent,
        skill: args.skill,
        input: Value::Object(input),
        workspace,
        updates: Updates::new(move |update| {
            let mut screen = shown.lock().unwrap_or_else(PoisonError::into_inner);
            screen.show(update);
        }),
        cancel: cancel.clone(),
    };
    let running = agents.run_skill_by_hand(by_hand);
    tokio::pin!(running);
    let output = loop {
        tokio::select! {
            output = &mut running => break output,
            _ = tokio::signal::ctrl_c(), if !cancel.is_cancelled() => cancel.cancel(),
        }
    };
    store.close().await;
    let output = output.map_err(|error| engine_failure(lang, error))?;
    screen
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clear();
    writeln!(app.out, "{}", harmless(&output.joined_text()))?;
    Ok(match output.is_error {
        true => Outcome::Failed,
        false => Outcome::Done,
    })
}

/// Refuses an agent or a skill that does not exist. What the engine says about them is for models.
async fn find(
    args: &RunArgs,
    app: &App,
    store: &dyn AdminStore,
    agents: &AdminAgentSource,
) -> Result<()> {
    let lang = app.lang;
    find_agent(app, store, args.agent.as_deref()).await?;
    if Path::new(&args.skill).is_dir() {
        return Ok(());
    }
    let skills = agents.skills(args.agent.as_deref()).await;
    let skills = skills.map_err(|error| engine_failure(lang, error))?;
    let names = skills.iter().map(|skill| skill.name.as_str());
    if names.clone().any(|name| name == args.skill) {
        return Ok(());
    }
    let todo = match nearest(&args.skill, names) {
        Some(meant) => lang.did_you_mean(meant),
        None => lang.see_list_of("skill"),
    };
    let what = lang.skill_named(&args.skill);
    Err(Failure::new(what, lang.does_not_exist(), todo))
}

fn read_input(given: &str, app: &App) -> Result<Map<String, Value>> {
    let mut text = given.to_owned();
    if given == "-" {
        text.clear();
        std::io::stdin().read_to_string(&mut text)?;
    }
    match serde_json::from_str(&text) {
        Ok(Value::Object(input)) => Ok(input),
        _ => {
            let lang = app.lang;
            let (why, todo) = (lang.skill_input_not_json(), lang.skill_see_input());
            Err(Failure::new("--input", why, todo))
        }
    }
}

/// The steps as they come: one line that changes on a terminal, a line each elsewhere.
struct Screen {
    operation: Operation,
    terminal: bool,
    open: bool,
}

impl Screen {
    fn new(workspace: &std::path::Path) -> Self {
        let roots = workspace.canonicalize().into_iter().collect::<Vec<_>>();
        Self {
            operation: Operation::of_call("hand", Redactor::new(&roots)),
            terminal: std::io::stderr().is_terminal(),
            open: false,
        }
    }

    fn show(&mut self, update: ToolUpdate) {
        match update {
            ToolUpdate::Output(text) => {
                self.clear();
                // If the error output is closed, there is nowhere to report it.
                write!(std::io::stderr(), "{}", harmless(&text)).unwrap_or_default();
            }
            ToolUpdate::Process(step) => {
                let now = jiff::Timestamp::now().to_string();
                if let Some(event) = self.operation.step(step, &now) {
                    self.line(&event);
                }
            }
        }
    }

    fn line(&mut self, event: &RuntimeProcessEvent) {
        let line = one_line(&step_line(event), 110);
        let mut err = std::io::stderr();
        let important = event.level >= ProcessLevel::Warning;
        let written = match self.terminal && !important {
            true => write!(err, "\r\u{1b}[2K{line}").and_then(|()| err.flush()),
            false => {
                self.clear();
                writeln!(err, "{line}")
            }
        };
        written.unwrap_or_default();
        self.open = self.terminal && !important;
    }

    fn clear(&mut self) {
        if std::mem::replace(&mut self.open, false) {
            write!(std::io::stderr(), "\r\u{1b}[2K").unwrap_or_default();
        }
    }
}
