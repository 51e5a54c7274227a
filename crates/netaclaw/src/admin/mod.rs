//! The admin store of a data directory, for commands. It works while a server runs: both use the
//! same database, which serializes their changes.

mod failure;
mod first_start;
mod text;

pub(crate) use failure::{engine_failure, explain_choice, failure, option_failure};

use crate::app::App;
use crate::backup::restore::must_be_complete;
use crate::config::{AdminStoreKind, Config, var};
use crate::error::{Failure, Result};
use netaclaw_admin::{AdminError, AdminStore, Expect, apply_patch};
use netaclaw_protocol::Agent;
use netaclaw_store::{
    AdminDatabase, AdminSettings, Integrity, SecretKey, SqlAdminStore, check_database,
};
use serde_json::{Map, Value};
use std::time::Duration;

/// Opens the store. The first to open it does what a first start has to do.
pub(crate) async fn open(app: &App) -> Result<SqlAdminStore> {
    let config = app.config(None)?;
    let failed = |error| failure(app.lang, error);
    let store = connect(app, &config).await?;
    let first = first_start::detect(app, &config, &store);
    store.seed(first.await?).await.map_err(failed)?;
    Ok(store)
}

/// Opens the store as it is, without what a first start would put into it.
pub(crate) async fn connect(app: &App, config: &Config) -> Result<SqlAdminStore> {
    must_be_complete(app.lang, config)?;
    let settings = AdminSettings {
        database: database(app, config)?,
        secret_key: secret_key(app, config)?,
    };
    let store = SqlAdminStore::open(settings).await;
    let store = store.map_err(|error| failure(app.lang, error))?;
    Ok(store.guarding(config.data_dir.clone()))
}

/// How long a start waits for the integrity check. It reads all of the database.
const CHECK_PATIENCE: Duration = Duration::from_secs(10);

/// Refuses a database file that is damaged. On it, logins would fail one by one.
pub(crate) async fn must_be_sound(app: &App, config: &Config) -> Result<()> {
    if config.admin_store != AdminStoreKind::Sqlite {
        return Ok(());
    }
    let file = config.admin_file();
    let check = tokio::time::timeout(CHECK_PATIENCE, check_database(&file));
    let Ok(checked) = check.await else {
        app.warn(&app.lang.check_took_long(CHECK_PATIENCE.as_secs()));
        return Ok(());
    };
    match checked.map_err(|error| failure(app.lang, error))? {
        Integrity::Sound => Ok(()),
        Integrity::Damaged(why) => Err(Failure::new(
            file.to_string_lossy(),
            app.lang.database_damaged(why),
            app.lang.restore_backup(),
        )),
    }
}

pub(crate) fn database(app: &App, config: &Config) -> Result<AdminDatabase> {
    let lang = app.lang;
    match (config.admin_store, &config.mysql_url) {
        (AdminStoreKind::Sqlite, _) => Ok(AdminDatabase::Sqlite {
            file: config.admin_file(),
        }),
        (AdminStoreKind::Mysql, Some(url)) => Ok(AdminDatabase::Mysql { url: url.clone() }),
        (AdminStoreKind::Mysql, None) => Err(Failure::new(
            "mysql",
            lang.no_database(),
            lang.set_mysql_url(),
        )),
    }
}

pub(crate) fn secret_key(app: &App, config: &Config) -> Result<SecretKey> {
    match &app.env.secret_key {
        Some(text) => SecretKey::from_text(text)
            .map_err(|error| Failure::plain(var::SECRET_KEY, error.to_string())),
        None => SecretKey::load_or_create(&config.secret_key_file())
            .map_err(|error| Failure::plain(app.lang.secret_key(), error.to_string())),
    }
}

/// How often a change is retried after a conflict. Each conflict means that another change
/// succeeded, so this many at once would be needed to make one fail.
const ATTEMPTS_MAX: u32 = 100;

/// Changes some fields of an agent, whatever others do to it at the same time.
pub(crate) async fn patch_agent(
    store: &dyn AdminStore,
    mut agent: Agent,
    patch: &Map<String, Value>,
) -> std::result::Result<Agent, AdminError> {
    let by = netaclaw_admin::Actor::command_line();
    let mut attempts = 0;
    loop {
        let spec = apply_patch(&agent.spec, patch)?;
        let expect = Expect::Rev(agent.stamp.rev);
        attempts += 1;
        match store.update_agent(&by, &agent.id, expect, spec).await {
            Err(AdminError::Conflict { .. }) if attempts < ATTEMPTS_MAX => {
                agent = store.agent(&agent.id).await?;
            }
            done => return done,
        }
    }
}
