//! The SQLite database as a whole: whether it is intact, and a copy of it while it is in use.

use crate::private;
use futures::future::BoxFuture;
use netaclaw_admin::AdminError;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection, Executor};
use std::path::Path;

/// Whether a database file can be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Integrity {
    Sound,
    /// What SQLite says about it.
    Damaged(String),
}

/// Checks the structure of a database file with `PRAGMA quick_check`, which reads all of it and
/// changes nothing. A file that does not exist is sound.
pub fn check_database(file: &Path) -> BoxFuture<'_, Result<Integrity, AdminError>> {
    Box::pin(async move {
        let failed = |error| {
            let what = format!("{} cannot be checked", file.display());
            AdminError::store(what, error)
        };
        match quick_check(file).await {
            Ok(integrity) => Ok(integrity),
            Err(error) if is_damage(&error) => Ok(Integrity::Damaged(error.to_string())),
            Err(error) => Err(failed(error)),
        }
    })
}

async fn quick_check(file: &Path) -> Result<Integrity, sqlx::Error> {
    if !file.try_exists()? {
        return Ok(Integrity::Sound);
    }
    let options = SqliteConnectOptions::new().filename(file).read_only(true);
    let mut connection: SqliteConnection = options.disable_statement_logging().connect().await?;
    let said: String = sqlx::query_scalar("PRAGMA quick_check(1)")
        .fetch_one(&mut connection)
        .await?;
    connection.close().await?;
    Ok(match said.as_str() {
        "ok" => Integrity::Sound,
        _ => Integrity::Damaged(said),
    })
}

/// Errors about the file and not about the access to it: `SQLITE_CORRUPT` and `SQLITE_NOTADB`.
fn is_damage(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    let code: Option<u32> = code.and_then(|code| code.parse().ok());
    matches!(code.map(|code| code & 0xff), Some(11 | 26))
}

/// Writes a consistent copy of the database to a file that does not exist yet. Other connections
/// may use the database concurrently.
pub fn copy_database<'a>(
    file: &'a Path,
    target: &'a Path,
) -> BoxFuture<'a, Result<(), AdminError>> {
    Box::pin(async move {
        let failed = |error| {
            let what = format!("{} cannot be copied", file.display());
            AdminError::store(what, error)
        };
        vacuum_into(file, target).await.map_err(failed)
    })
}

async fn vacuum_into(file: &Path, target: &Path) -> Result<(), sqlx::Error> {
    let path = target.to_str().ok_or_else(|| {
        let what = "the path of the backup is not valid Unicode";
        std::io::Error::new(std::io::ErrorKind::InvalidInput, what)
    })?;
    // SQLite takes an empty file as one that does not exist, and keeps its mode.
    private::write(target, b"")?;
    let options = SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(false)
        .disable_statement_logging();
    let mut connection: SqliteConnection = options.connect().await?;
    let copy = sqlx::query("VACUUM INTO ?").bind(path);
    connection.execute(copy).await?;
    connection.close().await
}
