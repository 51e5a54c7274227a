//! `netaclaw session …`: looking at sessions, and moving them between files and providers.

mod compact;
mod context;
mod copy;
mod delete;
mod export;
mod forest;
mod import;
mod list;
mod overview;
mod show;
mod source;
mod stores;
mod transcript;
mod tree;
pub(crate) mod verify;

pub(crate) use source::find_meta;
pub(crate) use stores::Stores;
pub(crate) use tree::draw as draw_tree;

use crate::app::{App, Outcome};
use crate::error::Result;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    /// List sessions, newest first
    List(list::ListArgs),
    /// Show a session and its active path
    Show(show::ShowArgs),
    /// Draw the session tree
    Tree(tree::TreeArgs),
    /// Show the context that a model would receive
    Context(context::ContextArgs),
    /// Compact the context of a session, or show what would change
    Compact(compact::CompactArgs),
    /// Export a session as JSON lines, Markdown or a web page
    Export(export::ExportArgs),
    /// Import a session file of Pi or NetaClaw
    Import(import::ImportArgs),
    /// Copy a session between files and MySQL
    Copy(copy::CopyArgs),
    /// Delete a session; it can be restored during the retention period
    Delete(delete::DeleteArgs),
    /// Restore a deleted session
    Undelete(delete::UndeleteArgs),
    /// Check sessions for damage without changing them
    Verify(verify::VerifyArgs),
}

pub(crate) async fn run(command: SessionCommand, app: &mut App) -> Result<Outcome> {
    match command {
        SessionCommand::List(args) => list::run(args, app).await?,
        SessionCommand::Show(args) => show::run(args, app).await?,
        SessionCommand::Tree(args) => tree::run(args, app).await?,
        SessionCommand::Context(args) => context::run(args, app).await?,
        SessionCommand::Compact(args) => compact::run(args, app).await?,
        SessionCommand::Export(args) => export::run(args, app).await?,
        SessionCommand::Import(args) => import::run(args, app).await?,
        SessionCommand::Copy(args) => copy::run(args, app).await?,
        SessionCommand::Delete(args) => delete::delete(args, app).await?,
        SessionCommand::Undelete(args) => delete::undelete(args, app).await?,
        SessionCommand::Verify(args) => return verify::run(args, app).await,
    }
    Ok(Outcome::Done)
}
