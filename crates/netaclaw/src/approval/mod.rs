//! `netaclaw approval …`: standing approvals that are valid for an agent. It works with or without a
//! running server, for which a revocation counts with the next tool call. Those of a session are in
//! the session, and are revoked there or on the settings page.

mod list;
mod revoke;
mod text;

use crate::admin;
use crate::app::{App, Outcome};
use crate::error::Result;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalCommand {
    /// List standing approvals for agents
    List(list::ListArgs),
    /// Revoke standing approvals for agents
    Revoke(revoke::RevokeArgs),
}

pub(crate) async fn run(command: ApprovalCommand, app: &mut App) -> Result<Outcome> {
    let store = admin::open(app).await?;
    let outcome = match command {
        ApprovalCommand::List(args) => list::run(args, app, &store).await,
        ApprovalCommand::Revoke(args) => revoke::run(args, app, &store).await,
    };
    store.close().await;
    outcome.map(|()| Outcome::Done)
}
