//! The listing index: one row for each session file, valid as long as size and time of change
//! are those of the file. It can be deleted at any time.

use super::layout::id_in_name;
use super::read_session_file;
use super::summary::Summary;
use crate::private;
use netaclaw_session::{
    PageRequest, SessionFilter, SessionId, SessionMeta, SessionPage, SessionTree,
};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::DirEntry;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const INDEX_FILE: &str = "index.json";
/// Raised when the meaning of rows changes; an index of another version is rebuilt.
const INDEX_VERSION: u32 = 1;

#[derive(Debug)]
pub(super) struct Index {
    dir: PathBuf,
    /// By path below the directory.
    rows: HashMap<String, Row, foldhash::fast::RandomState>,
    loaded: bool,
    /// Counts refreshes, so that rows the last one did not find can be removed.
    round: u64,
    /// Where the files with a session id in their name were when they were last scanned.
    places: HashMap<SessionId, PathBuf, foldhash::fast::RandomState>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Row {
    size: u64,
    mtime_ns: i64,
    /// `None` for a file that cannot be read as a session.
    meta: Option<Box<SessionMeta>>,
    #[serde(skip)]
    seen: u64,
}

#[derive(Serialize, Deserialize)]
struct IndexedSession<R> {
    version: u32,
    rows: R,
}

impl Index {
    pub(super) fn new(dir: PathBuf) -> Self {
        Self {
            dir,
            rows: HashMap::default(),
            loaded: false,
            round: 0,
            places: HashMap::default(),
        }
    }

    /// The directory itself and those in it: all that may hold sessions. Blocks.
    pub(super) fn directories(dir: &Path) -> io::Result<Vec<PathBuf>> {
        let mut below = Vec::new();
        collect(dir, "", &mut Vec::new(), &mut below)?;
        let below = below.into_iter().map(|name| dir.join(name));
        let here = dir.is_dir().then(|| dir.to_owned());
        Ok(here.into_iter().chain(below).collect())
    }

    /// The path of a session. Blocks.
    pub(super) fn locate(&mut self, session: &SessionId) -> io::Result<Option<PathBuf>> {
        let known = self.places.get(session);
        if let Some(path) = known.filter(|path| path.exists()) {
            return Ok(Some(path.clone()));
        }
        let named = |file: SessionFile| {
            let id = id_in_name(Path::new(&file.path))?;
            Some((id, file.entry.path()))
        };
        let files = session_files(&self.dir)?;
        self.places = files.into_iter().filter_map(named).collect();
        if let Some(path) = self.places.get(session) {
            return Ok(Some(path.clone()));
        }
        // Files of other programs may have any name; the header has the id.
        self.refresh(&HashMap::new())?;
        let found = self.rows.iter().find(|(_, row)| {
            row.meta
                .as_ref()
                .is_some_and(|meta| meta.session_id == *session)
        });
        Ok(found.map(|(path, _)| self.dir.join(path)))
    }

    /// Lists sessions. `live` are those this process is writing, whose metadata in memory is newer.
    /// Blocks.
    pub(super) fn list(
        &mut self,
        filter: &SessionFilter,
        page: PageRequest,
        live: &HashMap<PathBuf, SessionMeta>,
    ) -> io::Result<SessionPage> {
        self.refresh(live)?;
        let text = filter.text.as_ref().map(|text| text.to_lowercase());
        let live: HashMap<&str, &SessionMeta> = live
            .iter()
            .filter_map(|(path, meta)| Some((below(&self.dir, path)?, meta)))
            .collect();
        let mut found: Vec<(&String, &SessionMeta)> = self
            .rows
            .iter()
            .filter_map(|(path, row)| {
                let known = live.get(path.as_str()).copied();
                Some((path, known.or(row.meta.as_deref())?))
            })
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
                    session_file: Some(self.dir.join(path).to_string_lossy().into_owned()),
                    ..meta.clone()
                })
                .collect(),
        })
    }

    /// Reads what is new or changed, forgets what is gone, and stores the index if it changed.
    fn refresh(&mut self, live: &HashMap<PathBuf, SessionMeta>) -> io::Result<()> {
        let files = self.load_and_scan()?;
        self.round += 1;
        let mut changed = false;
        for file in files {
            let (size, mtime_ns) = (file.size, file.mtime_ns);
            match self.rows.get_mut(&file.path) {
                Some(row) if (row.size, row.mtime_ns) == (size, mtime_ns) => row.seen = self.round,
                // Its metadata is taken from memory; the row is read when the session is closed.
                Some(row) if live.contains_key(&self.dir.join(&file.path)) => row.seen = self.round,
                _ => {
                    let meta = read_meta(&self.dir.join(&file.path)).map(Box::new);
                    let row = Row {
                        size,
                        mtime_ns,
                        meta,
                        seen: self.round,
                    };
                    self.rows.insert(file.path, row);
                    changed = true;
                }
            }
        }
        let before = self.rows.len();
        self.rows.retain(|_, row| row.seen == self.round);
        changed |= self.rows.len() != before;
        if changed && let Err(error) = self.store() {
            // A listing without a stored index is slower, not wrong.
            tracing::warn!(%error, "failed to store the session index");
        }
        Ok(())
    }

    /// Scans all files, and reads the stored index concurrently if that was not done yet.
    fn load_and_scan(&mut self) -> io::Result<Vec<FoundFile>> {
        let dir = self.dir.as_path();
        if self.loaded {
            return scan_files(dir);
        }
        let (rows, files) = std::thread::scope(|scope| {
            let loading = scope.spawn(|| load(dir).unwrap_or_default());
            let files = scan_files(dir);
            // A panic while reading the index is not a failure: the index is rebuilt.
            (loading.join().unwrap_or_default(), files)
        });
        self.rows = rows;
        self.loaded = true;
        files
    }

    fn store(&self) -> io::Result<()> {
        let rows: Vec<(&String, &Row)> = self.rows.iter().collect();
        let temporary = self
            .dir
            .join(format!("{INDEX_FILE}.{}.tmp", std::process::id()));
        let mut file = io::BufWriter::new(private::create(&temporary)?);
        serde_json::to_writer(
            &mut file,
            &IndexedSession {
                version: INDEX_VERSION,
                rows,
            },
        )?;
        file.flush()?;
        std::fs::rename(&temporary, self.dir.join(INDEX_FILE))
    }
}

fn load(dir: &Path) -> Option<HashMap<String, Row, foldhash::fast::RandomState>> {
    let bytes = std::fs::read(dir.join(INDEX_FILE)).ok()?;
    let stored: IndexedSession<Vec<(String, Row)>> = serde_json::from_slice(&bytes).ok()?;
    (stored.version == INDEX_VERSION).then(|| stored.rows.into_iter().collect())
}

struct FoundFile {
    /// Below the directory.
    path: String,
    size: u64,
    mtime_ns: i64,
}

fn scan_files(dir: &Path) -> io::Result<Vec<FoundFile>> {
    let look = |file: SessionFile| {
        // A file that vanished since the directory was read is not an error.
        let metadata = file.entry.metadata().ok()?;
        let mtime_ns = metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec();
        Some(FoundFile {
            path: file.path,
            size: metadata.len(),
            mtime_ns,
        })
    };
    Ok(session_files(dir)?.into_iter().filter_map(look).collect())
}

/// The path below the directory, if it can be written as text.
fn below<'p>(dir: &Path, path: &'p Path) -> Option<&'p str> {
    path.strip_prefix(dir).ok()?.to_str()
}

fn read_meta(path: &Path) -> Option<SessionMeta> {
    match read_session_file(path) {
        Ok(log) => {
            let tree = SessionTree::new(log);
            Some(Summary::of(&tree).meta(&tree, path))
        }
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "skipped an unreadable session file");
            None
        }
    }
}

fn matches(meta: &SessionMeta, filter: &SessionFilter, text: Option<&str>) -> bool {
    let says = |text: &str| {
        let named = [meta.title.as_deref(), meta.first_message.as_deref()]
            .into_iter()
            .flatten();
        let mut fields = named.chain([meta.cwd.as_str(), meta.session_id.as_str()]);
        fields.any(|field| field.to_lowercase().contains(text))
    };
    filter.fits(meta) && text.is_none_or(says)
}

/// A file that may be a session.
struct SessionFile {
    /// Below the directory.
    path: String,
    entry: DirEntry,
}

/// The ids in the names of the files. Blocks.
pub(super) fn ids_in_names(dir: &Path) -> io::Result<Vec<SessionId>> {
    let files = session_files(dir)?;
    let id = |file: &SessionFile| id_in_name(Path::new(&file.path));
    Ok(files.iter().filter_map(id).collect())
}

/// The files that may be sessions: in the directory itself and one level below. Programs that write
/// sessions give no names that are invalid UTF-8.
fn session_files(dir: &Path) -> io::Result<Vec<SessionFile>> {
    let mut files = Vec::new();
    let mut below = Vec::new();
    collect(dir, "", &mut files, &mut below)?;
    for name in below {
        collect(
            &dir.join(&name),
            &format!("{name}/"),
            &mut files,
            &mut Vec::new(),
        )?;
    }
    Ok(files)
}

fn collect(
    dir: &Path,
    prefix: &str,
    files: &mut Vec<SessionFile>,
    dirs: &mut Vec<String>,
) -> io::Result<()> {
    let entries = match std::fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        if name.ends_with(".jsonl") {
            files.push(SessionFile {
                path: [prefix, name.as_str()].concat(),
                entry,
            });
        } else if entry.file_type()?.is_dir() {
            dirs.push(name);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_session_is_found_wherever_it_was_moved_to() {
        let dir = tempfile::tempdir().unwrap();
        let [here, there] = ["--here--", "--there--"].map(|name| dir.path().join(name));
        let name = "2026-01-02T03-04-05-006Z_some-id.jsonl";
        fs::create_dir(&here).unwrap();
        fs::create_dir(&there).unwrap();
        fs::write(here.join(name), "").unwrap();
        let mut index = Index::new(dir.path().to_owned());
        let session = SessionId::new("some-id");
        for _ in 0..2 {
            assert_eq!(index.locate(&session).unwrap(), Some(here.join(name)));
        }
        fs::rename(here.join(name), there.join(name)).unwrap();
        assert_eq!(index.locate(&session).unwrap(), Some(there.join(name)));
        fs::remove_file(there.join(name)).unwrap();
        assert_eq!(index.locate(&session).unwrap(), None);
    }
}
