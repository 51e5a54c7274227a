//! The engine of a data directory: stores, agents and tools put together.

use crate::admin;
use crate::app::App;
use crate::config::{Config, Retention};
use crate::error::{Failure, Result};
use crate::hidden;
use crate::session::Stores;
use crate::shipped;
use netaclaw_admin::AdminStore;
use netaclaw_agents::{AdminAgentSource, AdminMcpServers, ModelSettings, SharedSkillDirs};
use netaclaw_engine::{Engine, EngineOptions, Providers};
use netaclaw_session::ProviderKind;
use netaclaw_store::{
    DeadInstances, FileAttachments, FileProcessLogs, Instance, SqlAdminStore, private,
};
use netaclaw_tools::ToolRegistry;
use netaclaw_tools::spawn::{GateSettings, Launcher, SpawnGate, sandbox_abilities};
use std::path::PathBuf;
use std::sync::Arc;

/// Everything a server or a terminal chat works with.
pub(crate) struct Assembled {
    pub(crate) engine: Engine,
    pub(crate) admin: Arc<SqlAdminStore>,
    pub(crate) agents: Arc<AdminAgentSource>,
    /// Tells others that this process lives, for as long as it is kept.
    pub(crate) instance: Instance,
    /// Processes that died here and may have left something unfinished.
    pub(crate) dead: DeadInstances,
    /// The connections to MCP servers.
    pub(crate) mcp: Arc<AdminMcpServers>,
}

pub(crate) async fn assemble(app: &App) -> Result<Assembled> {
    let stores = Stores::new(app, None)?;
    restrict(app, &stores.config).await?;
    let instances = stores.config.instances_dir();
    let (instance, dead) = Instance::register(&instances)
        .map_err(|error| Failure::io(app.lang, instances.to_string_lossy(), &error))?;
    let stores = stores.of_instance(&instance, &dead);
    admin::must_be_sound(app, &stores.config).await?;
    let admin = Arc::new(admin::open(app).await?);
    let mysql = match &stores.config.mysql_url {
        Some(_) => Some(stores.open(ProviderKind::Mysql).await?),
        None => None,
    };
    let providers = Providers {
        file: stores.open(ProviderKind::File).await?,
        mysql,
    };
    let cwd = std::env::current_dir().map_err(|error| Failure::io(app.lang, ".", &error))?;
    let gate = Arc::new(gate(app, &stores.config));
    let registry = Arc::new(ToolRegistry::builtin());
    let store = Arc::clone(&admin) as Arc<dyn AdminStore>;
    let mcp = AdminMcpServers::start(store, Arc::clone(&gate), Arc::clone(&registry)).await;
    let mcp = Arc::new(mcp.map_err(|error| admin::failure(app.lang, error))?);
    let agents = AdminAgentSource::new(
        Arc::clone(&admin) as Arc<dyn AdminStore>,
        ModelSettings::default(),
        registry,
        cwd,
    );
    let agents = Arc::new(
        agents
            .with_gate(gate)
            .with_mcp(Arc::clone(&mcp))
            .with_skills(skill_home(app, &stores.config)),
    );
    let synced = agents.sync_tools().await;
    synced.map_err(|error| admin::failure(app.lang, error))?;
    let limits = stores.config.limits;
    let files = FileAttachments::new(stores.config.attachments_dir())
        .with_owner_bytes_max(limits.attachment_bytes_per_user);
    let options = EngineOptions {
        instance: Some(instance.id().to_owned()),
        attachments: Some(Arc::new(files)),
        process_logs: Some(Arc::new(FileProcessLogs::new(
            stores.config.process_logs_dir(),
        ))),
        limits: limits.users,
        keeps_deleted: !matches!(stores.config.retention, Retention::Days(0)),
    };
    Ok(Assembled {
        engine: Engine::with_options(providers, Arc::clone(&agents) as _, options),
        admin,
        agents,
        instance,
        dead,
        mcp,
    })
}

/// Closes to others what an earlier version, or a copy, may have left open to them.
async fn restrict(app: &App, config: &Config) -> Result<()> {
    let dirs = config.own_dirs();
    let restricted = tokio::task::spawn_blocking(move || {
        let restrict = |dir: PathBuf| match private::restrict(&dir) {
            Ok(()) => Ok(()),
            Err(error) => Err((dir, error)),
        };
        dirs.into_iter().try_for_each(restrict)
    });
    match restricted.await {
        Ok(Ok(())) => Ok(()),
        Ok(Err((dir, error))) => Err(Failure::io(app.lang, dir.to_string_lossy(), &error)),
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}

/// The gate for child processes, with the list of places that tools do not see.
pub(crate) fn gate(app: &App, config: &Config) -> SpawnGate {
    SpawnGate::new(GateSettings {
        launcher: Launcher::ThisProgram,
        hidden: hidden::places(app, config),
        abilities: sandbox_abilities(),
        namespaces: config.namespaces,
        environment: app.env.all.clone(),
    })
}

/// Where skills are found that belong to no agent. Without the shipped ones everything else works.
pub(crate) fn skill_home(app: &App, config: &Config) -> SharedSkillDirs {
    let shipped = shipped::unpack(&config.shipped_skills_dir());
    SharedSkillDirs {
        data: Some(config.skills_dir()),
        shipped: shipped
            .inspect_err(|error| tracing::warn!(%error, "failed to unpack the built-in skills"))
            .ok(),
        environment: app.env.all.clone(),
    }
}
