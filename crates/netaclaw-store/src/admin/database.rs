//! Connections, tables, and the writer's turn: all that differs between the two databases.

use super::AdminDatabase;
use super::fault::Result;
use super::revision_cache::Area;
use crate::migrations;
use netaclaw_admin::AdminError;
use netaclaw_protocol::AdminStoreKind;
use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::migrate::MigrateError;
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection};
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode};
use sqlx::{Any, AnyConnection, AnyPool, ConnectOptions, Connection, Executor, Transaction};
use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Requests wait for a connection when all are in use; after the time-out they fail.
const CONNECTIONS_MAX: u32 = 4;
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a process waits for another one that is changing the tables.
const MIGRATION_WAIT_SECONDS: u32 = 120;
const MIGRATION_TABLE: &str = "netaclaw_admin_migration";

pub(super) struct Database {
    pool: AnyPool,
    kind: AdminStoreKind,
    configuration_changes: AtomicU64,
    account_changes: AtomicU64,
}

impl Database {
    pub(super) fn kind(&self) -> AdminStoreKind {
        self.kind
    }

    pub(super) async fn open(database: &AdminDatabase) -> Result<Self, AdminError> {
        sqlx::any::install_default_drivers();
        match database {
            AdminDatabase::Sqlite { file } => {
                let what = format!("the database {} cannot be opened", file.display());
                open_sqlite(file.clone())
                    .await
                    .map_err(|error| AdminError::store(what, error))
            }
            AdminDatabase::Mysql { url } => {
                let options = mysql_options(url)?;
                let what = format!("{} cannot be opened", place(&options));
                open_mysql(url, options)
                    .await
                    .map_err(|error| AdminError::store(what, error))
            }
        }
    }

    /// For reading, and for single statements that depend on nothing.
    pub(super) async fn connection(&self) -> Result<PoolConnection<Any>> {
        Ok(self.pool.acquire().await?)
    }

    /// How often this process has changed the area.
    pub(super) fn own_changes(&self, area: Area) -> u64 {
        let changes = self.changes(area);
        changes.map_or(0, |changes| changes.load(Ordering::Acquire))
    }

    fn changes(&self, area: Area) -> Option<&AtomicU64> {
        match area {
            Area::Configuration => Some(&self.configuration_changes),
            Area::Accounts => Some(&self.account_changes),
            Area::Memories | Area::Approvals => None,
        }
    }

    /// A write transaction that excludes all other writers, in one area. Dropped, it is rolled
    /// back.
    pub(super) async fn writer(&self, area: Area) -> Result<Writer<'_>> {
        // A plain BEGIN would take SQLite's lock at the first write, and then fail instead of
        // waiting if another process had written since the first read.
        const TURN: &str = "SELECT id FROM netaclaw_admin_writer WHERE id = 1 FOR UPDATE";
        let transaction = match self.kind {
            AdminStoreKind::Sqlite => self.pool.begin_with("BEGIN IMMEDIATE").await?,
            AdminStoreKind::Mysql => {
                let mut transaction = self.pool.begin().await?;
                transaction.execute(TURN).await?;
                transaction
            }
        };
        Ok(Writer {
            transaction,
            area,
            database: self,
        })
    }

    pub(super) async fn close(&self) {
        self.pool.close().await;
    }
}

/// A transaction that changes one area of the store.
pub(super) struct Writer<'d> {
    transaction: Transaction<'static, Any>,
    area: Area,
    database: &'d Database,
}

impl Deref for Writer<'_> {
    type Target = AnyConnection;

    fn deref(&self) -> &AnyConnection {
        &self.transaction
    }
}

impl DerefMut for Writer<'_> {
    fn deref_mut(&mut self) -> &mut AnyConnection {
        &mut self.transaction
    }
}

/// Commits a transaction whose work succeeded, and invalidates what was cached of its area.
pub(super) async fn commit(writer: Writer<'_>) -> Result<()> {
    const INCREASE: &str =
        "UPDATE netaclaw_admin_revision SET revision = revision + 1 WHERE area = ?";
    let Writer {
        mut transaction,
        area,
        database,
    } = writer;
    if let Some(row) = area.row() {
        let increase = sqlx::query(INCREASE).bind(row);
        increase.execute(&mut *transaction).await?;
    }
    let committed = transaction.commit().await;
    // Also after a failure, which may have come behind the commit.
    if let Some(changes) = database.changes(area) {
        changes.fetch_add(1, Ordering::Release);
    }
    Ok(committed?)
}

async fn open_sqlite(file: PathBuf) -> Result<Database, BoxError> {
    let prepared = tokio::task::spawn_blocking(move || prepare_file(&file));
    // The lock ends with the value, when the tables are as they should be.
    let (file, _lock) = prepared.await??;
    let options = SqliteConnectOptions::new()
        .filename(&file)
        .journal_mode(SqliteJournalMode::Wal)
        .disable_statement_logging();
    let mut connection = options.connect().await?;
    migrate_sqlite(&mut connection).await?;
    connection.close().await?;

    let options: AnyConnectOptions = sqlite_url(&file)?.parse()?;
    // Connections to a file do not go bad, and are dear to make.
    let pool = AnyPoolOptions::new()
        .max_connections(CONNECTIONS_MAX)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .test_before_acquire(false)
        .idle_timeout(None)
        .max_lifetime(None)
        .connect_lazy_with(options.disable_statement_logging());
    Ok(Database {
        pool,
        kind: AdminStoreKind::Sqlite,
        configuration_changes: AtomicU64::default(),
        account_changes: AtomicU64::default(),
    })
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Makes the file if need be, readable to its owner alone, and keeps other starting processes
/// out: switching to the write-ahead log is nothing SQLite would wait for.
fn prepare_file(file: &Path) -> io::Result<(PathBuf, File)> {
    let name = file.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let dir = file.parent().unwrap_or(Path::new("."));
    let dir = match dir.as_os_str().is_empty() {
        true => Path::new("."),
        false => dir,
    };
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)?;
    let dir = dir.canonicalize()?;
    let lock = File::open(&dir)?;
    lock.lock()?;
    let path = dir.join(name);
    let made = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)?;
    let mode = made.metadata()?.permissions().mode();
    if mode & 0o077 != 0 {
        tracing::warn!(
            file = %path.display(),
            "the database was readable by other users; set its mode to 0600"
        );
        made.set_permissions(Permissions::from_mode(0o600))?;
    }
    Ok((path, lock))
}

/// The driver for both databases takes its file as a URL.
fn sqlite_url(file: &Path) -> io::Result<String> {
    let path = file.to_str().ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidInput, "the path is not valid Unicode")
    })?;
    let mut url = String::from("sqlite://");
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' => {
                url.push(char::from(byte));
            }
            other => url.push_str(&format!("%{other:02X}")),
        }
    }
    Ok(url)
}

async fn migrate_sqlite(connection: &mut SqliteConnection) -> Result<(), MigrateError> {
    let mut migrations = migrations::admin_sqlite();
    migrations.dangerous_set_table_name(MIGRATION_TABLE);
    // All of them or none.
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    migrations
        .run_direct(None, &mut *transaction, false)
        .await?;
    transaction.commit().await?;
    Ok(())
}

/// The error leaves out the detail of an invalid URL, as that could quote parts of the password.
fn mysql_options(url: &str) -> Result<MySqlConnectOptions, AdminError> {
    let refused = |reason: &str| AdminError::store("the database URL cannot be used", reason);
    let options = match url.starts_with("mysql://") {
        true => url.parse::<MySqlConnectOptions>().ok(),
        false => None,
    };
    let options = options.ok_or_else(|| {
        refused(
            "it must be mysql://user:password@host:port/database, with special characters of \
             the password percent-encoded",
        )
    })?;
    if options.get_database().is_none_or(str::is_empty) {
        return Err(refused("it does not name a database"));
    }
    Ok(options.disable_statement_logging())
}

/// Names the database without its password.
fn place(options: &MySqlConnectOptions) -> String {
    let database = options.get_database().unwrap_or_default();
    let (host, port) = (options.get_host(), options.get_port());
    format!("the MySQL database {database} at {host}:{port}")
}

async fn open_mysql(url: &str, options: MySqlConnectOptions) -> Result<Database, BoxError> {
    let connect = tokio::time::timeout(CONNECT_TIMEOUT, options.connect());
    let mut connection = connect
        .await
        .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    migrate_mysql(&mut connection).await?;
    connection.close().await?;

    let options: AnyConnectOptions = url.parse()?;
    let pool = AnyPoolOptions::new()
        .max_connections(CONNECTIONS_MAX)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .after_connect(|connection, _| {
            // Without strict mode a server cuts off what does not fit, without an error.
            const STRICT: &str =
                "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'";
            // Whatever the server's default: a read of several tables sees one state of them.
            const ONE_STATE: &str = "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ";
            Box::pin(async move {
                connection.execute(STRICT).await?;
                connection.execute(ONE_STATE).await.map(drop)
            })
        })
        .connect_lazy_with(options.disable_statement_logging());
    Ok(Database {
        pool,
        kind: AdminStoreKind::Mysql,
        configuration_changes: AtomicU64::default(),
        account_changes: AtomicU64::default(),
    })
}

async fn migrate_mysql(connection: &mut MySqlConnection) -> Result<(), BoxError> {
    // The session tables take the same lock, so that one process at a time changes anything.
    const LOCK: &str = "SELECT GET_LOCK(CONCAT('neta.', MD5(DATABASE())), ?)";
    let locked: Option<i64> = sqlx::query_scalar(LOCK)
        .bind(MIGRATION_WAIT_SECONDS)
        .fetch_one(&mut *connection)
        .await?;
    if locked != Some(1) {
        let reason = "another process has been migrating the tables for two minutes: wait for it, or stop \
             it";
        return Err(reason.into());
    }
    let mut migrations = migrations::admin_mysql();
    migrations.set_locking(false);
    migrations.dangerous_set_table_name(MIGRATION_TABLE);
    match migrations.run_direct(None, &mut *connection, false).await {
        // A process died during a migration. Every migration is one statement that can be run
        // again.
        Err(MigrateError::Dirty(_)) => {
            const UNFINISHED: &str = "DELETE FROM netaclaw_admin_migration WHERE success = FALSE";
            connection.execute(UNFINISHED).await?;
            migrations.run_direct(None, &mut *connection, false).await?;
        }
        result => result?,
    }
    // The lock ends with the connection.
    Ok(())
}
