//! `netaclaw channel …`: the routes to models, set up from a script or by hand.

mod add;
mod list;
mod remove;
mod test;

use crate::admin;
use crate::app::{App, Outcome};
use crate::error::Result;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum ChannelCommand {
    /// Add a channel, or change an existing one
    Add(add::AddArgs),
    /// List channels
    List(list::ListArgs),
    /// Test the connection to a channel's supplier
    Test(test::TestArgs),
    /// Remove a channel that is not in use
    Remove(remove::RemoveArgs),
}

pub(crate) async fn run(command: ChannelCommand, app: &mut App) -> Result<Outcome> {
    // Errors that need no store are reported before one is created.
    let command = match command {
        ChannelCommand::Add(args) => Ready::Add(args.read(app.lang)?),
        ChannelCommand::List(args) => Ready::List(args),
        ChannelCommand::Test(args) => Ready::Test(args),
        ChannelCommand::Remove(args) => Ready::Remove(args),
    };
    let store = admin::open(app).await?;
    let outcome = match command {
        Ready::Add(addition) => addition.run(app, &store).await,
        Ready::List(args) => list::run(args, app, &store).await,
        Ready::Test(args) => test::run(args, app, &store).await,
        Ready::Remove(args) => remove::run(args, app, &store).await,
    };
    store.close().await;
    outcome.map(|()| Outcome::Done)
}

enum Ready {
    Add(add::Addition),
    List(list::ListArgs),
    Test(test::TestArgs),
    Remove(remove::RemoveArgs),
}
