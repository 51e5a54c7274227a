//! `netaclaw agent …`: looking at agents, and changing them.

mod edit;
mod form;
mod list;
mod show;

use crate::admin;
use crate::app::{App, Outcome};
use crate::error::Result;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// List agents
    List(list::ListArgs),
    /// Show the settings of an agent
    Show(show::ShowArgs),
    /// Change an agent, field by field or in an editor
    Edit(edit::EditArgs),
}

pub(crate) async fn run(command: AgentCommand, app: &mut App) -> Result<Outcome> {
    let store = admin::open(app).await?;
    let outcome = match command {
        AgentCommand::List(args) => list::run(args, app, &store).await,
        AgentCommand::Show(args) => show::run(args, app, &store).await,
        AgentCommand::Edit(args) => edit::run(args, app, &store).await,
    };
    store.close().await;
    outcome.map(|()| Outcome::Done)
}
