//! Whether every MCP server that is enabled can be used.

use super::check::Check;
use crate::admin::failure;
use crate::app::App;
use crate::assemble::gate;
use crate::config::Config;
use crate::mcp::explain_mcp_fault;
use netaclaw_admin::AdminStore;
use netaclaw_agents::test_mcp_server;
use netaclaw_protocol::{McpServerView, ToolStatus};
use netaclaw_tools::mcp::McpAccess;
use netaclaw_tools::spawn::SpawnGate;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// A user waits at a terminal; a program that is downloaded first takes its time.
const PATIENCE: Duration = Duration::from_secs(30);

/// All at once, so that the slowest one decides how long it takes.
pub(super) async fn look(
    app: &App,
    config: &Config,
    store: &dyn AdminStore,
    offline: bool,
) -> Vec<Check> {
    let lang = app.lang;
    let servers = match store.mcp_servers().await {
        Ok(servers) => servers,
        Err(error) => return vec![Check::failed("mcp_server", failure(lang, error))],
    };
    let gate = Arc::new(gate(app, config));
    let mut checks = Vec::with_capacity(servers.len());
    let mut tests = JoinSet::new();
    for (at, server) in servers.into_iter().enumerate() {
        let what = format!("{} {}", lang.mcp_server(), server.spec.name);
        if server.spec.status == ToolStatus::Disabled {
            checks.push((at, Check::info("mcp_server", what, lang.disabled())));
        } else if offline {
            checks.push((at, Check::info("mcp_server", what, lang.not_asked())));
        } else {
            match access(store, &server).await {
                Ok(access) => drop(tests.spawn(judged(lang, at, what, access, Arc::clone(&gate)))),
                Err(error) => {
                    let check = Check::failed("mcp_server", failure(lang, error));
                    checks.push((at, check));
                }
            }
        }
    }
    while let Some(ended) = tests.join_next().await {
        checks.extend(ended.ok());
    }
    checks.sort_by_key(|(at, _)| *at);
    checks.into_iter().map(|(_, check)| check).collect()
}

async fn access(
    store: &dyn AdminStore,
    server: &McpServerView,
) -> Result<McpAccess, netaclaw_admin::AdminError> {
    let (spec, secrets) = store.open_mcp_server(&server.id).await?;
    let secrets = Some(secrets);
    Ok(McpAccess { spec, secrets })
}

async fn judged(
    lang: crate::text::Lang,
    at: usize,
    what: String,
    access: McpAccess,
    gate: Arc<SpawnGate>,
) -> (usize, Check) {
    let name = access.spec.name.clone();
    let todo = lang.see_mcp_test(&name);
    let tested = tokio::time::timeout(PATIENCE, test_mcp_server(&access, &gate)).await;
    let check = match tested {
        Err(_) => {
            let why = lang.mcp_silent(PATIENCE.as_secs());
            Check::fail("mcp_server", what, why, todo)
        }
        Ok(test) => match &test.fault {
            Some(fault) => Check::fail("mcp_server", what, explain_mcp_fault(lang, fault), todo),
            None => Check::ok("mcp_server", what, lang.mcp_offers(test.tools.len())),
        },
    };
    (at, check)
}
