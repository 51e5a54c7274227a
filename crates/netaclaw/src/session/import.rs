//! `session import`: a session file of Pi or NetaClaw becomes a session of the store. The file
//! itself is only read.

use super::source::no_session;
use super::stores::Stores;
use crate::app::App;
use crate::error::{Failure, Result};
use crate::text::Lang;
use clap::Args;
use netaclaw_protocol::now_ms;
use netaclaw_session::{
    Entry, Header, ImportSession, LogError, NewHeader, SessionId, SessionLog, encode_header,
    format_timestamp,
};
use netaclaw_store::new_session_id;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
pub(crate) struct ImportArgs {
    /// Session file of Pi or NetaClaw, version 1 to 3
    file: PathBuf,
    /// Store it under this id instead of its own
    #[arg(long, value_name = "ID", conflicts_with = "new_id")]
    id: Option<String>,
    /// Store it under a new id
    #[arg(long)]
    new_id: bool,
    /// Storage to import into: file or mysql
    #[arg(long)]
    provider: Option<String>,
    /// Create a new header if the file has no readable one
    #[arg(long)]
    rescue: bool,
}

pub(crate) async fn run(args: ImportArgs, app: &mut App) -> Result<()> {
    let lang = app.lang;
    let log = read(lang, &args)?;
    let id = match (&args.id, args.new_id) {
        (Some(id), _) => Some(SessionId::new(id)),
        (None, true) => Some(new_session_id()),
        (None, false) => None,
    };
    if log.skipped_lines > 0 {
        app.warn(&lang.left_out(log.skipped_lines.into()));
    }
    let stores = Stores::new(app, args.provider.as_deref())?;
    let provider = stores.chosen().await?;
    let imported = provider.import_session(ImportSession { log, id }).await;
    let meta = imported.map_err(|error| Failure::session(lang, error))?;
    Ok(writeln!(app.out, "{}", meta.session_id)?)
}

fn read(lang: Lang, args: &ImportArgs) -> Result<SessionLog> {
    let path = &args.file;
    let shown = || path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| Failure::io(lang, shown(), &error))?;
    match (SessionLog::parse(bytes), args.rescue) {
        (Ok(log), _) => Ok(log),
        (Err(LogError::NoHeader { .. }), true) => rescue(lang, path),
        (Err(error), _) => Err(no_session(lang, shown(), &error)),
    }
}

/// Reads the file with a header in front of it: one from further down, or a new one.
fn rescue(lang: Lang, path: &Path) -> Result<SessionLog> {
    let shown = || path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| Failure::io(lang, shown(), &error))?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}');
    let lines = || text.split('\n').map(str::trim);
    let header = lines().find_map(|line| Header::parse(line.to_owned()));
    let first_entry = || lines().find_map(|line| Entry::parse(line.to_owned()));
    let header = header.unwrap_or_else(|| new_header(first_entry()));
    let whole = format!("{}\n{text}", header.json());
    match SessionLog::parse(whole.into_bytes()) {
        Ok(log) if !log.entries.is_empty() => Ok(log),
        _ => Err(Failure::plain(shown(), lang.nothing_to_rescue())),
    }
}

/// A header for a session that lost its own. Its start is that of the first entry; its directory is
/// unknown, so that it belongs to where it is imported.
fn new_header(first: Option<Entry>) -> Header {
    let timestamp = match first.map(|entry| entry.timestamp().into_owned()) {
        Some(timestamp) if !timestamp.is_empty() => timestamp,
        _ => format_timestamp(now_ms()),
    };
    let cwd = std::env::current_dir().unwrap_or_default();
    encode_header(&NewHeader {
        id: &new_session_id(),
        timestamp: &timestamp,
        cwd: &cwd.to_string_lossy(),
        parent_session: None,
        parent_session_id: None,
        agent_id: None,
        user_id: None,
        metadata: serde_json::Map::new(),
    })
}
