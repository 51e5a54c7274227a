//! What people configure: whether it can be reached and is what this program works with.

use super::channels;
use super::check::Check;
use super::mcp;
use crate::admin;
use crate::app::App;
use crate::config::Config;
use netaclaw_admin::AdminError;
use netaclaw_store::{AdminDatabase, Integrity, Tables, admin_tables, check_database};

/// The store, and if it can be used the channels and MCP servers in it.
pub(super) async fn look(app: &App, config: &Config, offline: bool) -> Vec<Check> {
    let lang = app.lang;
    let what = lang.admin_store();
    let database = match admin::database(app, config) {
        Ok(database) => database,
        Err(failure) => return vec![Check::failed("admin_store", failure)],
    };
    if let AdminDatabase::Sqlite { file } = &database
        && let Ok(Integrity::Damaged(why)) = check_database(file).await
    {
        let (why, todo) = (lang.database_damaged(why), lang.restore_backup());
        return vec![Check::fail("admin_store", what, why, todo)];
    }
    let found = admin_tables(&database).await;
    let current = matches!(found, Ok(Tables::Current));
    let mut checks = vec![tables(app, "admin_store", what, found)];
    // Opening an older one would bring it up to date, and opening one without its secret key
    // would make a new key; both are for who starts the server.
    let has_key = app.env.secret_key.is_some() || config.secret_key_file().exists();
    if !current || !has_key {
        return checks;
    }
    match admin::connect(app, config).await {
        Ok(store) => {
            checks.extend(channels::look(app, &store, offline).await);
            checks.extend(mcp::look(app, config, &store, offline).await);
            store.close().await;
        }
        Err(failure) => checks.push(Check::failed("admin_store", failure)),
    }
    checks
}

/// What the state of some tables means.
pub(super) fn tables(
    app: &App,
    check: &'static str,
    what: String,
    found: Result<Tables, AdminError>,
) -> Check {
    let lang = app.lang;
    match found {
        Ok(Tables::Absent) => Check::ok(check, what, lang.made_at_first_start()),
        Ok(Tables::Current) => Check::ok(check, what, lang.tables_current()),
        Ok(Tables::Behind { steps }) => Check::info(check, what, lang.tables_behind(steps)),
        Ok(Tables::Ahead) => {
            Check::fail(check, what, lang.tables_ahead(), lang.use_newer_program())
        }
        Err(error) => Check::fail(check, what, causes(&error), lang.check_store()),
    }
}

/// The error with what is behind it.
fn causes(error: &dyn std::error::Error) -> String {
    let mut said = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !said.contains(&cause_text) {
            said = format!("{said}: {cause_text}");
        }
        next = cause.source();
    }
    said
}
