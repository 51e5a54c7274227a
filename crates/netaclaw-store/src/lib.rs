//! Everything on disk or in a database. All SQL of NetaClaw is here.

mod admin;
mod attachments;
mod file;
mod ids;
mod instance;
mod migrations;
mod mysql;
mod new_log;
pub mod private;
mod probe;
mod process_logs;
mod tables;

pub use admin::{
    AdminDatabase, AdminSettings, Integrity, SecretKey, SecretKeyError, SqlAdminStore,
    check_database, copy_database,
};
pub use attachments::FileAttachments;
pub use file::{FileProvider, FileSettings, Fsync, ReadFileError, read_session_file};
pub use ids::{new_entry_id, new_session_id};
pub use instance::{DeadInstances, Instance};
pub use mysql::{MysqlProvider, MysqlSettings, NodeSettings};
pub use netaclaw_cluster::Timing;
use netaclaw_protocol::now_ms;
pub use probe::probe_data_dir;
pub use process_logs::FileProcessLogs;
pub use tables::{Tables, admin_tables, session_tables};

/// Runs file system work where it does not hold up other sessions.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is shutting down, and with it the caller.
            Err(_) => std::future::pending().await,
        },
    }
}
