//! The listing index: one row for each session file, valid as long as size and time of change
//! are those of the file. It can be deleted at any time.

use super::layout::id_in_name;
use super::read_session_file;
use super::summary::Summary;
use netaclaw_session::{
    PageRequest, SessionFilter, SessionId, SessionMeta, SessionPage, SessionStatus, SessionTree,
};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::DirEntry;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const INDEX_FILE: &str = "index.json";
/// Raised when rows mean something else; an index of another version is made anew.
const INDEX_VERSION: u32 = 1;

#[derive(Debug)]
pub(super) struct Index {
    dir: PathBuf,
    rows: HashMap<PathBuf, Row>,
    loaded: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Row {
    size: u64,
    mtime_ns: i64,
    /// `None` for a file that cannot be read as a session.
    meta: Option<SessionMeta>,
}

#[derive(Serialize, Deserialize)]
struct Stored<R> {
    version: u32,
    rows: R,
}

impl Index {
    pub(super) fn new(dir: PathBuf) -> Self {
        Self {
            dir,
            rows: HashMap::new(),
            loaded: false,
        }
    }

    /// Where a session lies. Blocks.
    pub(super) fn locate(&mut self, session: &SessionId) -> io::Result<Option<PathBuf>> {
        let named = session_files(&self.dir)?
            .into_iter()
            .find(|file| id_in_name(Path::new(&file.file_name())).as_ref() == Some(session));
        if let Some(file) = named {
            return Ok(Some(file.path()));
        }
        // Files of other programs may have any name; the header tells.
        self.refresh(&HashMap::new())?;
        let found = self.rows.iter().find(|(_, row)| {
            row.meta
                .as_ref()
                .is_some_and(|meta| meta.session_id == *session)
        });
        Ok(found.map(|(path, _)| path.clone()))
    }

    /// Lists sessions. `live` are those this process is writing, which it knows better. Blocks.
    pub(super) fn list(
        &mut self,
        filter: &SessionFilter,
        page: PageRequest,
        live: &HashMap<PathBuf, SessionMeta>,
    ) -> io::Result<SessionPage> {
        self.refresh(live)?;
        let text = filter.text.as_ref().map(|text| text.to_lowercase());
        let mut found: Vec<(&PathBuf, &SessionMeta)> = self
            .rows
            .iter()
            .filter_map(|(path, row)| Some((path, live.get(path).or(row.meta.as_ref())?)))
            .filter(|(_, meta)| matches(meta, filter, text.as_deref()))
            .collect();
        found.sort_unstable_by(|(_, a), (_, b)| {
            (&b.updated_at, &b.session_id).cmp(&(&a.updated_at, &a.session_id))
        });
        let start = (page.page.max(1) as usize - 1).saturating_mul(page.size as usize);
        Ok(SessionPage {
            total: found.len() as u64,
            page: page.page.max(1),
            size: page.size,
            items: found
                .into_iter()
                .skip(start)
                .take(page.size as usize)
                .map(|(path, meta)| SessionMeta {
                    session_file: Some(path.to_string_lossy().into_owned()),
                    ..meta.clone()
                })
                .collect(),
        })
    }

    /// Reads what is new or changed, forgets what is gone, and stores the index if it changed.
    fn refresh(&mut self, live: &HashMap<PathBuf, SessionMeta>) -> io::Result<()> {
        if !self.loaded {
            self.rows = load(&self.dir).unwrap_or_default();
            self.loaded = true;
        }
        let files = session_files(&self.dir)?;
        let mut changed = files.len() != self.rows.len();
        let mut rows = HashMap::with_capacity(files.len());
        for file in files {
            // A file that vanished since the directory was read is no error.
            let Ok(metadata) = file.metadata() else {
                continue;
            };
            let path = file.path();
            let size = metadata.len();
            let mtime_ns = metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec();
            let row = match self.rows.remove(&path) {
                Some(row) if (row.size, row.mtime_ns) == (size, mtime_ns) => row,
                // Its meta is taken from memory; the row is read when the session is let go.
                Some(row) if live.contains_key(&path) => row,
                _ => {
                    changed = true;
                    let meta = read_meta(&path);
                    Row {
                        size,
                        mtime_ns,
                        meta,
                    }
                }
            };
            rows.insert(path, row);
        }
        self.rows = rows;
        if changed && let Err(error) = self.store() {
            // A listing without a stored index is slower, not wrong.
            tracing::warn!(%error, "the session index could not be stored");
        }
        Ok(())
    }

    fn store(&self) -> io::Result<()> {
        let relative: Vec<(&Path, &Row)> = self
            .rows
            .iter()
            .map(|(path, row)| (path.strip_prefix(&self.dir).unwrap_or(path), row))
            .collect();
        let stored = Stored {
            version: INDEX_VERSION,
            rows: relative,
        };
        let temporary = self
            .dir
            .join(format!("{INDEX_FILE}.{}.tmp", std::process::id()));
        let mut file = io::BufWriter::new(std::fs::File::create(&temporary)?);
        serde_json::to_writer(&mut file, &stored)?;
        file.flush()?;
        std::fs::rename(&temporary, self.dir.join(INDEX_FILE))
    }
}

fn load(dir: &Path) -> Option<HashMap<PathBuf, Row>> {
    let bytes = std::fs::read(dir.join(INDEX_FILE)).ok()?;
    let stored: Stored<Vec<(PathBuf, Row)>> = serde_json::from_slice(&bytes).ok()?;
    (stored.version == INDEX_VERSION).then(|| {
        stored
            .rows
            .into_iter()
            .map(|(path, row)| (dir.join(path), row))
            .collect()
    })
}

fn read_meta(path: &Path) -> Option<SessionMeta> {
    match read_session_file(path) {
        Ok(log) => {
            let tree = SessionTree::new(log);
            Some(Summary::of(&tree).meta(&tree, path))
        }
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "a session file cannot be read and is left alone");
            None
        }
    }
}

fn matches(meta: &SessionMeta, filter: &SessionFilter, text: Option<&str>) -> bool {
    let status = match filter.status {
        Some(status) => meta.status == status,
        None => meta.status != SessionStatus::Deleted,
    };
    let has = |value: &Option<String>, wanted: &Option<String>| wanted.is_none() || value == wanted;
    let says = |text: &str| {
        let named = [meta.title.as_deref(), meta.first_message.as_deref()]
            .into_iter()
            .flatten();
        let mut fields = named.chain([meta.cwd.as_str(), meta.session_id.as_str()]);
        fields.any(|field| field.to_lowercase().contains(text))
    };
    status
        && has(&meta.user_id, &filter.user_id)
        && has(&meta.agent_id, &filter.agent_id)
        && text.is_none_or(says)
}

/// The files that may be sessions: in the directory itself and one level below.
fn session_files(dir: &Path) -> io::Result<Vec<DirEntry>> {
    let mut files = Vec::new();
    let mut below = Vec::new();
    collect(dir, &mut files, &mut below)?;
    for dir in below {
        collect(&dir, &mut files, &mut Vec::new())?;
    }
    Ok(files)
}

fn collect(dir: &Path, files: &mut Vec<DirEntry>, dirs: &mut Vec<PathBuf>) -> io::Result<()> {
    let entries = match std::fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().ends_with(b".jsonl") {
            files.push(entry);
        } else if entry.file_type()?.is_dir() {
            dirs.push(entry.path());
        }
    }
    Ok(())
}
