//! Everything on disk or in a database. All SQL of NetaClaw is here.

mod admin;
mod attachments;
mod file;
mod ids;
mod instance;
mod mysql;
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
pub use ids::{new_entry_id, new_session_id, now_ms};
pub use instance::{DeadInstances, Instance};
pub use mysql::{MysqlProvider, MysqlSettings, NodeSettings};
pub use netaclaw_cluster::Timing;
pub use probe::probe_data_dir;
pub use process_logs::FileProcessLogs;
pub use tables::{Tables, admin_tables, session_tables};
