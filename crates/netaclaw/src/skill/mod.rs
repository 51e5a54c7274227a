//! `netaclaw skill …`: for people who write skills and for those who run them by hand.

mod check;
mod list;
mod new;
mod run;
mod text;

use crate::admin::failure;
use crate::app::{App, Outcome};
use crate::error::Result;
use clap::Subcommand;
use netaclaw_admin::AdminStore;
use netaclaw_protocol::RuntimeProcessEvent;

#[derive(Debug, Subcommand)]
pub(crate) enum SkillCommand {
    /// List the skills of an agent, and why some are unavailable
    List(list::ListArgs),
    /// Create a new skill from a working example
    New(new::NewArgs),
    /// Check a skill folder and list what to fix
    Check(check::CheckArgs),
    /// Run a skill and show its progress
    Run(run::RunArgs),
}

pub(crate) async fn run(command: SkillCommand, app: &mut App) -> Result<Outcome> {
    match command {
        SkillCommand::List(args) => list::run(args, app).await,
        SkillCommand::New(args) => new::run(&args, app),
        SkillCommand::Check(args) => check::run(&args, app),
        SkillCommand::Run(args) => run::run(args, app).await,
    }
}

/// Refuses an agent that does not exist.
async fn find_agent(app: &App, store: &dyn AdminStore, name: Option<&str>) -> Result<()> {
    match name {
        Some(name) => {
            let found = store.agent_named(name).await;
            found.map(drop).map_err(|error| failure(app.lang, error))
        }
        None => Ok(()),
    }
}

/// A step of long work in one line.
pub(crate) fn step_line(event: &RuntimeProcessEvent) -> String {
    let percent = event.percent.map(|percent| format!("{percent:>3.0}%"));
    let stage = event.stage.as_ref().map(|stage| format!("[{stage}]"));
    let count = match (event.current, event.total) {
        (Some(current), Some(total)) => Some(format!("{current}/{total}")),
        _ => None,
    };
    let parts = [percent, stage, Some(event.message.clone()), count];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(" ")
}
