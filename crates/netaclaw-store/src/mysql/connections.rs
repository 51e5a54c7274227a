//! Connections to the database, and transactions on them.
//!
//! A pool of our own, because sqlx's sends a ping from a background job each time a connection
//! comes back: a fifth round trip on top of the four of an append. Here a connection comes back
//! only after its work ended well; one whose work failed or was abandoned is closed, and the
//! server rolls back.

use super::MysqlSettings;
use super::retry::Failure;
use crate::migrations;
use netaclaw_session::{SessionError, SettingsError};
use sqlx::migrate::MigrateError;
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection};
use sqlx::{ConnectOptions, Executor};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a process waits for another one that is changing the tables.
const MIGRATION_WAIT_SECONDS: u32 = 120;

pub(super) struct Connections {
    options: MySqlConnectOptions,
    idle: Mutex<Vec<MySqlConnection>>,
    permits: Semaphore,
}

/// A connection on loan. Dropped, it is closed.
pub(super) struct Lease<'c> {
    connection: MySqlConnection,
    home: &'c Connections,
    _permit: SemaphorePermit<'c>,
}

/// A transaction. Dropped, it is rolled back.
pub(super) struct Transaction<'c>(Lease<'c>);

impl Connections {
    pub(super) fn new(settings: &MysqlSettings) -> Result<Self, SessionError> {
        let options = match settings.url.starts_with("mysql://") {
            true => settings.url.parse::<MySqlConnectOptions>().ok(),
            false => None,
        };
        // The error leaves out the detail, as that could quote parts of the password.
        let options = options.ok_or(SessionError::Settings(SettingsError::UrlNotReadable))?;
        if options.get_database().is_none_or(str::is_empty) {
            return Err(SessionError::Settings(SettingsError::NoDatabase));
        }
        let connections = settings.connections_max.max(1) as usize;
        Ok(Self {
            options: options.disable_statement_logging(),
            idle: Mutex::new(Vec::new()),
            permits: Semaphore::new(connections),
        })
    }

    /// Names the database without its password.
    pub(super) fn place(&self) -> String {
        let options = &self.options;
        let database = options.get_database().unwrap_or_default();
        match options.get_socket() {
            Some(socket) => format!("MySQL database {database} at {}", socket.display()),
            None => format!(
                "MySQL database {database} at {}:{}",
                options.get_host(),
                options.get_port()
            ),
        }
    }

    pub(super) async fn lease(&self) -> Result<Lease<'_>, Failure> {
        let permit = self.permits.acquire().await;
        let permit = permit.expect("the semaphore is never closed");
        let idle = self.idle().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        Ok(Lease {
            connection,
            home: self,
            _permit: permit,
        })
    }

    pub(super) async fn begin(&self) -> Result<Transaction<'_>, Failure> {
        let mut lease = self.lease().await?;
        lease.connection.execute("BEGIN").await?;
        Ok(Transaction(lease))
    }

    /// Closes the idle connections. When one is found dead, the others most likely are as well.
    pub(super) fn forget_idle(&self) {
        self.idle().clear();
    }

    pub(super) async fn connect(&self) -> Result<MySqlConnection, Failure> {
        let connect = self.options.connect();
        let mut connection = tokio::time::timeout(CONNECT_TIMEOUT, connect)
            .await
            .map_err(|_| sqlx::Error::from(std::io::Error::from(std::io::ErrorKind::TimedOut)))??;
        // Without strict mode a server cuts off what does not fit, without an error. Appends are
        // short, so who waits for one longer than this waits for something that is stuck.
        const SETTINGS: &str = "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', \
             SESSION innodb_lock_wait_timeout = 10";
        connection.execute(SETTINGS).await?;
        Ok(connection)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<MySqlConnection>> {
        // A panic cannot leave a list of connections half done.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Brings the tables to the current version.
    pub(super) async fn migrate(&self) -> Result<(), Failure> {
        let mut lease = self.lease().await?;
        // Sqlx's own lock waits for a negative number of seconds, for which MariaDB gives none.
        const LOCK: &str = "SELECT GET_LOCK(CONCAT('neta.', MD5(DATABASE())), ?)";
        let locked: Option<i64> = sqlx::query_scalar(LOCK)
            .bind(MIGRATION_WAIT_SECONDS)
            .fetch_one(lease.connection())
            .await?;
        if locked != Some(1) {
            return Err(SessionError::Settings(SettingsError::MigrationLocked).into());
        }
        apply_migrations(lease.connection())
            .await
            .map_err(|error| {
                let what = format!("the tables of {} cannot be migrated", self.place());
                SessionError::store(what, error)
            })?;
        const UNLOCK: &str = "SELECT RELEASE_LOCK(CONCAT('neta.', MD5(DATABASE())))";
        sqlx::query(UNLOCK).execute(lease.connection()).await?;
        lease.return_to_pool();
        Ok(())
    }
}

async fn apply_migrations(connection: &mut MySqlConnection) -> Result<(), MigrateError> {
    const UNFINISHED: &str = "DELETE FROM neta_agent_session_migration WHERE success = FALSE";
    let mut migrations = migrations::sessions_mysql();
    migrations.set_locking(false);
    migrations.dangerous_set_table_name("neta_agent_session_migration");
    // `run` itself does not compile in futures that move between threads.
    match migrations.run_direct(None, &mut *connection, false).await {
        // A process died during a migration. Every migration is one statement that can be run
        // again.
        Err(MigrateError::Dirty(_)) => {
            connection.execute(UNFINISHED).await?;
            migrations.run_direct(None, connection, false).await
        }
        result => result,
    }
}

impl Lease<'_> {
    pub(super) fn connection(&mut self) -> &mut MySqlConnection {
        &mut self.connection
    }

    /// For after the last statement has been answered.
    pub(super) fn return_to_pool(self) {
        self.home.idle().push(self.connection);
    }
}

impl Transaction<'_> {
    pub(super) fn connection(&mut self) -> &mut MySqlConnection {
        &mut self.0.connection
    }

    /// Commits if the work went well. If it was refused, everything is rolled back and the
    /// connection kept; if the database failed, the connection is closed.
    pub(super) async fn end<T>(self, result: Result<T, Failure>) -> Result<T, Failure> {
        let Self(mut lease) = self;
        match &result {
            Ok(_) => lease.connection.execute("COMMIT").await?,
            Err(Failure::Refused(_)) => lease.connection.execute("ROLLBACK").await?,
            Err(Failure::Database(_)) => return result,
        };
        lease.return_to_pool();
        result
    }
}
