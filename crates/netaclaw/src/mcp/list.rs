//! `mcp list`: a table for people, the records as JSON for programs. Neither has a secret in it.

use crate::admin::failure;
use crate::app::App;
use crate::error::Result;
use crate::table::{self, Cell};
use crate::terminal::one_line;
use crate::text::Lang;
use clap::Args;
use netaclaw_admin::AdminStore;
use netaclaw_protocol::{McpServerView, McpTransport, ToolStatus};
use std::io::Write;

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Print the servers as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: ListArgs, app: &mut App, store: &dyn AdminStore) -> Result<()> {
    let lang = app.lang;
    let servers = store.mcp_servers().await;
    let servers = servers.map_err(|error| failure(lang, error))?;
    if args.json {
        serde_json::to_writer(&mut app.out, &servers).map_err(std::io::Error::from)?;
        return Ok(writeln!(app.out)?);
    }
    if servers.is_empty() {
        return Ok(writeln!(app.out, "{}", lang.no_mcp_servers())?);
    }
    let heads = [
        lang.name(),
        lang.status(),
        lang.mcp_secrets(),
        lang.mcp_how(),
    ];
    let rows: Vec<[Cell; 4]> = servers.iter().map(|server| row(lang, server)).collect();
    table::write(app, heads, &rows)
}

fn row(lang: Lang, server: &McpServerView) -> [Cell; 4] {
    let how = match &server.spec.transport {
        McpTransport::Stdio { command, args } => format!("{command} {}", args.join(" ")),
        McpTransport::Http { url } => url.clone(),
    };
    let secrets = match server.secret_names.is_empty() {
        true => "–".to_owned(),
        false => one_line(&server.secret_names.join(", "), 60),
    };
    [
        one_line(&server.spec.name, 64),
        match server.spec.status {
            ToolStatus::Enabled => lang.enabled(),
            ToolStatus::Disabled => lang.disabled(),
        },
        secrets,
        one_line(how.trim(), 100),
    ]
}
