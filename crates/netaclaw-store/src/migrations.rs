//! The migrations of the three sets of tables, compiled into the binary.
//!
//! The list is written out here: `sqlx::migrate!` would read the folders itself, but its macro crate
//! compiles SQLite, both database drivers and TLS a second time, for the compiler's own use. A test
//! compares the list with the folders.

use sqlx::SqlStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use std::borrow::Cow;

/// A migration: the name of its file, and what the file says.
type Source = (&'static str, &'static str);

macro_rules! sources {
    ($folder:literal: $($name:literal),+ $(,)?) => {
        &[$((
            $name,
            include_str!(concat!("../migrations/", $folder, "/", $name, ".sql")),
        )),+]
    };
}

const ADMIN_SQLITE: &[Source] = sources! {
    "admin-sqlite":
    "0001_agent",
    "0002_channel",
    "0003_dict_type",
    "0004_dict_info",
    "0005_setting",
    "0006_user",
    "0007_token",
    "0008_audit",
    "0009_tool",
    "0010_memory",
    "0011_mcp_server",
    "0012_browser_token",
    "0013_memory_pending",
    "0014_revision",
    "0015_approval",
};

const ADMIN_MYSQL: &[Source] = sources! {
    "admin-mysql":
    "0001_agent",
    "0002_channel",
    "0003_dict_type",
    "0004_dict_info",
    "0005_setting",
    "0006_user",
    "0007_token",
    "0008_audit",
    "0009_writer",
    "0010_writer_row",
    "0011_tool",
    "0012_memory",
    "0013_mcp_server",
    "0014_browser_token",
    "0015_memory_pending",
    "0016_revision",
    "0017_revision_rows",
    "0018_approval",
};

const SESSIONS_MYSQL: &[Source] = sources! {
    "mysql":
    "0001_session",
    "0002_session_entry",
    "0003_node",
    "0004_session_owner",
    "0005_entry_fence",
    "0006_entry_time",
    "0007_session_request",
};

/// The administrators' tables on SQLite.
pub(crate) fn admin_sqlite() -> Migrator {
    migrator(ADMIN_SQLITE)
}

/// The administrators' tables on MySQL.
pub(crate) fn admin_mysql() -> Migrator {
    migrator(ADMIN_MYSQL)
}

/// The tables of sessions on MySQL.
pub(crate) fn sessions_mysql() -> Migrator {
    migrator(SESSIONS_MYSQL)
}

fn migrator(sources: &[Source]) -> Migrator {
    Migrator::with_migrations(sources.iter().copied().map(migration).collect())
}

/// `0001_agent` is version 1 with the description "agent".
fn migration((name, sql): Source) -> Migration {
    let (version, description) = name
        .split_once('_')
        .expect("the name has a number and a description");
    Migration::new(
        version.parse().expect("the name begins with a number"),
        Cow::Owned(description.replace('_', " ")),
        MigrationType::Simple,
        SqlStr::from_static(sql),
        false,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    async fn check(compiled: &Migrator, folder: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("migrations")
            .join(folder);
        let read = Migrator::new(path).await.expect("the folder can be read");
        let facts = |migrator: &Migrator| {
            migrator
                .iter()
                .map(|one| {
                    (
                        one.version,
                        one.description.clone(),
                        one.migration_type,
                        one.checksum.clone(),
                        one.no_tx,
                    )
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(facts(compiled), facts(&read), "{folder}");
    }

    #[tokio::test]
    async fn the_lists_are_what_the_folders_contain() {
        check(&admin_sqlite(), "admin-sqlite").await;
        check(&admin_mysql(), "admin-mysql").await;
        check(&sessions_mysql(), "mysql").await;
    }
}
