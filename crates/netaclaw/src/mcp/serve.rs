//! `mcp serve`: the tools of an agent for other programs, by standard input and output.

use crate::admin::failure;
use crate::app::App;
use crate::assemble::gate;
use crate::error::{Failure, Result};
use clap::Args;
use netaclaw_admin::AdminStore;
use netaclaw_agents::{AdminAgentSource, HeadlessApproval, ModelSettings};
use netaclaw_store::SqlAdminStore;
use netaclaw_tools::ToolRegistry;
use netaclaw_tools::mcp::serve_tools;
use std::sync::Arc;

#[derive(Args, Debug)]
pub(crate) struct ServeArgs {
    /// Name of the agent whose tools are offered
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Approve every call that needs approval
    #[arg(long)]
    yes: bool,
}

pub(super) async fn run(args: ServeArgs, app: &mut App, store: Arc<SqlAdminStore>) -> Result<()> {
    let lang = app.lang;
    let agents = AdminAgentSource::new(
        store as Arc<dyn AdminStore>,
        ModelSettings::default(),
        Arc::new(ToolRegistry::builtin()),
        std::env::current_dir()?,
    );
    let gate = gate(app, &app.config(None)?);
    let agents = agents.with_gate(Arc::new(gate));
    agents
        .sync_tools()
        .await
        .map_err(|error| failure(lang, error))?;
    let unasked = match args.yes {
        true => HeadlessApproval::Allow,
        false => HeadlessApproval::Refuse,
    };
    let toolbox = agents.toolbox(args.agent.as_deref(), unasked).await;
    let toolbox = toolbox.map_err(|error| crate::admin::engine_failure(lang, error))?;
    let served = serve_tools(Arc::new(toolbox), tokio::io::stdin(), tokio::io::stdout()).await;
    served.map_err(|why| Failure::plain("mcp serve", why))
}
