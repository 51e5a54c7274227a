//! Sessions in files: one `.jsonl` each, in Pi's format, append-only.
//!
//! Next to a session file `X.jsonl` there may be `X.jsonl.lock` while a process writes it,
//! `X.jsonl.inflight` after the holder of the lock has streamed an answer, and `X.jsonl.v1.bak`
//! after an old file was migrated. None of them is needed to read the session.

mod created;
mod error;
mod ids;
mod in_flight;
mod index;
mod journal;
mod layout;
mod leftovers;
mod lock;
mod open;
mod provider;
mod read;
mod slots;
mod summary;
mod writer;

pub use error::ReadFileError;
pub use provider::FileProvider;
pub use read::read_session_file;

use std::path::PathBuf;

#[derive(Clone, Debug)]
pub struct FileSettings {
    /// Holds one directory for each working directory, as Pi lays them out.
    pub dir: PathBuf,
    pub fsync: Fsync,
}

/// When a write has to reach the disk itself. Without it a write survives the death of the
/// process, but not of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fsync {
    /// After every append.
    Always,
    /// At every acknowledged command and at the end of a turn.
    #[default]
    Turn,
    Off,
}
