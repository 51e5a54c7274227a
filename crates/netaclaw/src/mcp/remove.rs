//! `mcp remove`.

use crate::admin::failure;
use crate::app::App;
use crate::error::Result;
use clap::Args;
use netaclaw_admin::{Actor, AdminStore, Expect};
use std::io::Write;

#[derive(Args, Debug)]
pub(crate) struct RemoveArgs {
    /// Name of the server
    #[arg(value_name = "NAME")]
    server: String,
}

pub(super) async fn run(args: RemoveArgs, app: &mut App, store: &dyn AdminStore) -> Result<()> {
    let lang = app.lang;
    let failed = |error| failure(lang, error);
    let server = store.mcp_server_named(&args.server).await.map_err(failed)?;
    let by = Actor::command_line();
    let removed = store.delete_mcp_server(&by, &server.id, Expect::Any).await;
    removed.map_err(failed)?;
    Ok(writeln!(
        app.out,
        "{}",
        lang.mcp_removed(&server.spec.name)
    )?)
}
