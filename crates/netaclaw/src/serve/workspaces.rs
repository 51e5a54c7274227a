//! Agents whose workspace overlaps the data directory.

use crate::app::App;
use crate::config::Config;
use crate::error::Result;
use netaclaw_admin::{AdminStore, check_apart};
use netaclaw_protocol::Agent;

/// Names agents that were saved before this was checked, and those that work where the server was
/// started.
pub(super) async fn warn(app: &App, config: &Config, admin: &dyn AdminStore) -> Result<()> {
    let agents = admin.agents().await;
    let agents = agents.map_err(|error| crate::admin::failure(app.lang, error))?;
    let here = std::env::current_dir()?.to_string_lossy().into_owned();
    for Agent { mut spec, .. } in agents {
        spec.workspace.get_or_insert_with(|| here.clone());
        if check_apart(&spec, &config.data_dir).is_err() {
            tracing::warn!("{}", app.lang.workspace_at_data(&spec.name));
        }
    }
    Ok(())
}
