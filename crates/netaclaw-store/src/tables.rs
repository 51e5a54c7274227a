//! Checks that the tables fit this version, without changing them.

use crate::admin::AdminDatabase;
use crate::migrations;
use futures::future::BoxFuture;
use netaclaw_admin::AdminError;
use sqlx::migrate::Migrator;
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection, SqlSafeStr, SqlStr};
use std::io;
use std::path::Path;
use std::time::Duration;

/// A user waits at a terminal.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How the tables of a database relate to this version of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tables {
    /// There are none yet; they are made on first use.
    Absent,
    Current,
    /// Some steps are missing; the next use takes them.
    Behind {
        steps: usize,
    },
    /// A newer program has changed them.
    Ahead,
}

/// The tables of the admin store.
pub fn admin_tables(database: &AdminDatabase) -> BoxFuture<'_, Result<Tables, AdminError>> {
    Box::pin(tables_of(database))
}

async fn tables_of(database: &AdminDatabase) -> Result<Tables, AdminError> {
    const APPLIED: &str = "SELECT version FROM netaclaw_admin_migration";
    match database {
        AdminDatabase::Sqlite { file } => sqlite_tables(file).await.map_err(|error| {
            AdminError::store(format!("{} cannot be read", file.display()), error)
        }),
        AdminDatabase::Mysql { url } => {
            let known = migrations::admin_mysql();
            mysql_tables(url, "netaclaw_admin_migration", APPLIED, &known).await
        }
    }
}

/// The tables of sessions in MySQL.
pub fn session_tables(url: &str) -> BoxFuture<'_, Result<Tables, AdminError>> {
    const APPLIED: &str = "SELECT version FROM neta_agent_session_migration";
    Box::pin(async move {
        let known = migrations::sessions_mysql();
        mysql_tables(url, "neta_agent_session_migration", APPLIED, &known).await
    })
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

async fn sqlite_tables(file: &Path) -> Result<Tables, BoxError> {
    const THERE: &str = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'netaclaw_admin_migration'";
    const APPLIED: &str = "SELECT version FROM netaclaw_admin_migration";
    if !file.try_exists()? {
        return Ok(Tables::Absent);
    }
    let options = SqliteConnectOptions::new().filename(file).read_only(true);
    let mut connection: SqliteConnection = options.disable_statement_logging().connect().await?;
    let there: i64 = sqlx::query_scalar(THERE).fetch_one(&mut connection).await?;
    let applied = match there {
        0 => Vec::new(),
        _ => {
            sqlx::query_scalar(APPLIED)
                .fetch_all(&mut connection)
                .await?
        }
    };
    connection.close().await?;
    Ok(compare(&applied, &migrations::admin_sqlite()))
}

async fn mysql_tables(
    url: &str,
    table: &str,
    applied: impl SqlSafeStr,
    known: &Migrator,
) -> Result<Tables, AdminError> {
    // The error leaves out the detail, as that could quote parts of the password.
    let options = url.parse::<MySqlConnectOptions>().map_err(|_| {
        AdminError::store(
            "the database URL cannot be used",
            "it must be mysql://user:password@host:port/database",
        )
    })?;
    let read = read_mysql(&options, table, applied.into_sql_str());
    let place = format!("{}:{}", options.get_host(), options.get_port());
    let applied = match tokio::time::timeout(CONNECT_TIMEOUT, read).await {
        Ok(read) => read,
        Err(_) => Err(io::Error::from(io::ErrorKind::TimedOut).into()),
    };
    let applied = applied
        .map_err(|error| AdminError::store(format!("MySQL at {place} cannot be used"), error))?;
    Ok(compare(&applied, known))
}

async fn read_mysql(
    options: &MySqlConnectOptions,
    table: &str,
    applied: SqlStr,
) -> Result<Vec<i64>, sqlx::Error> {
    const THERE: &str = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?";
    let options = options.clone().disable_statement_logging();
    let mut connection: MySqlConnection = options.connect().await?;
    let there: i64 = sqlx::query_scalar(THERE)
        .bind(table)
        .fetch_one(&mut connection)
        .await?;
    let versions = match there {
        0 => Vec::new(),
        _ => {
            sqlx::query_scalar(applied)
                .fetch_all(&mut connection)
                .await?
        }
    };
    connection.close().await?;
    Ok(versions)
}

fn compare(applied: &[i64], known: &Migrator) -> Tables {
    if applied
        .iter()
        .any(|version| !known.version_exists(*version))
    {
        return Tables::Ahead;
    }
    let missing = known.iter().filter(|step| !applied.contains(&step.version));
    match (applied.len(), missing.count()) {
        (0, _) => Tables::Absent,
        (_, 0) => Tables::Current,
        (_, steps) => Tables::Behind { steps },
    }
}
