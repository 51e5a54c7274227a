//! `mcp enable`, `mcp disable`.

use crate::admin::failure;
use crate::app::App;
use crate::error::Result;
use clap::Args;
use netaclaw_admin::{Actor, AdminStore, Expect, McpSecretsChange};
use netaclaw_protocol::{McpServerSpec, ToolStatus};
use std::io::Write;

#[derive(Args, Debug)]
pub(crate) struct SwitchArgs {
    /// Name of the server
    #[arg(value_name = "NAME")]
    server: String,
}

pub(super) async fn run(
    args: SwitchArgs,
    status: ToolStatus,
    app: &mut App,
    store: &dyn AdminStore,
) -> Result<()> {
    let lang = app.lang;
    let failed = |error| failure(lang, error);
    let server = store.mcp_server_named(&args.server).await.map_err(failed)?;
    let name = server.spec.name.clone();
    let spec = McpServerSpec {
        status,
        ..server.spec
    };
    let (by, keep) = (Actor::command_line(), McpSecretsChange::Keep);
    let expect = Expect::Rev(server.stamp.rev);
    let switched = store.update_mcp_server(&by, &server.id, expect, spec, keep);
    switched.await.map_err(failed)?;
    let said = match status {
        ToolStatus::Enabled => lang.mcp_enabled(name),
        ToolStatus::Disabled => lang.mcp_disabled(name),
    };
    Ok(writeln!(app.out, "{said}")?)
}
