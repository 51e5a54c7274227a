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
    /// Show what a session is and its active path
    Show(show::ShowArgs),
    /// Draw the whole session as a tree
    Tree(tree::TreeArgs),
    /// Show what a model would see
    Context(context::ContextArgs),
    /// Condense a session's context, or show what that would do
    Compact(compact::CompactArgs),
    /// Write a session as JSON lines, Markdown or a web page
    Export(export::ExportArgs),
    /// Take a session file of Pi or NetaClaw into the store
    Import(import::ImportArgs),
    /// Copy a session between files and MySQL
    Copy(copy::CopyArgs),
    /// Delete a session; it can be restored for a while
    Delete(delete::DeleteArgs),
    /// Restore a deleted session
    Undelete(delete::UndeleteArgs),
    /// Look for damage, and change nothing
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
