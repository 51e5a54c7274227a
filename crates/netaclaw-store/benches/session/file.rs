//! The file provider.

use crate::work::{entry, median, timed};
use anyhow::Context as _;
use netaclaw_session::{
    ImportSession, NewSession, PageRequest, SessionFilter, SessionId, SessionTreeProvider,
};
use netaclaw_store::{FileProvider, FileSettings, Fsync, new_session_id, read_session_file};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const BRANCHES: u32 = 100;

#[derive(Clone, Debug)]
pub(crate) struct Figures {
    /// All appends together.
    pub(crate) append: Duration,
    pub(crate) open: Duration,
    pub(crate) context: Duration,
    /// Going back to the middle and appending there, once.
    pub(crate) branch: Duration,
    /// A copy of the whole file as a new session.
    pub(crate) fork_file: Duration,
    /// A new session from the path to the leaf.
    pub(crate) fork_path: Duration,
    pub(crate) list: Option<Duration>,
    /// Resident size after opening less that of a process that opened nothing.
    pub(crate) memory_bytes: u64,
    pub(crate) file_bytes: u64,
    /// The same lines written by bare `write` calls: what bounds an append that reaches the kernel.
    pub(crate) bare_write: Option<Duration>,
}

pub(crate) async fn run(
    dir: &Path,
    entries: usize,
    repeat: usize,
    sessions: usize,
) -> anyhow::Result<Figures> {
    let dir = tempfile::tempdir_in(dir)?;
    let appended = append(dir.path(), entries, repeat).await?;
    let (session, file) = (appended.session, appended.file.as_path());
    Ok(Figures {
        append: appended.time,
        open: open(dir.path(), &session, repeat).await?,
        context: context(dir.path(), &session, repeat).await?,
        branch: branch(dir.path(), file, repeat).await?,
        fork_file: fork_file(dir.path(), file, repeat).await?,
        fork_path: fork_path(dir.path(), &session, repeat).await?,
        list: match sessions {
            0 => None,
            _ => Some(list(dir.path(), sessions, repeat).await?),
        },
        memory_bytes: memory(file)?,
        file_bytes: std::fs::metadata(file)?.len(),
        bare_write: Some(appended.bare_write),
    })
}

/// Pi never waits for the disk, so neither do we here.
fn provider(dir: &Path) -> FileProvider {
    FileProvider::new(FileSettings {
        dir: dir.to_owned(),
        fsync: Fsync::Off,
    })
}

async fn new_session(provider: &FileProvider) -> anyhow::Result<SessionId> {
    let new = NewSession {
        cwd: "/srv/bench".to_owned(),
        ..NewSession::default()
    };
    Ok(provider.create_session(new).await?.session_id)
}

struct Appended {
    session: SessionId,
    file: PathBuf,
    time: Duration,
    bare_write: Duration,
}

async fn append(dir: &Path, entries: usize, repeat: usize) -> anyhow::Result<Appended> {
    let (mut times, mut bare) = (Vec::new(), Vec::new());
    let mut last = None;
    for _ in 0..repeat {
        let provider = provider(dir);
        let session = new_session(&provider).await?;
        // Pi's side makes its message objects before the clock starts, too.
        let work: Vec<_> = (0..entries).map(entry).collect();
        let start = Instant::now();
        for new in work {
            provider.append_entry(&session, new).await?;
        }
        times.push(start.elapsed());
        let file = provider.get_session(&session).await?.session_file;
        let file = PathBuf::from(file.context("a file")?);
        // In turn, so that a slow moment of the machine hits both.
        bare.push(bare_write(dir, &file)?);
        if let Some((old, _)) = last.replace((session, file)) {
            remove(&provider, &old).await?;
        }
    }
    let (session, file) = last.context("at least one repeat")?;
    Ok(Appended {
        session,
        file,
        time: median(times),
        bare_write: median(bare),
    })
}

async fn remove(provider: &FileProvider, session: &SessionId) -> anyhow::Result<()> {
    let file = provider
        .get_session(session)
        .await?
        .session_file
        .context("a file")?;
    provider.release(session).await?;
    Ok(std::fs::remove_file(file)?)
}

async fn open(dir: &Path, session: &SessionId, repeat: usize) -> anyhow::Result<Duration> {
    let mut times = Vec::new();
    for _ in 0..repeat {
        let provider = provider(dir);
        let start = Instant::now();
        let tree = provider.load_tree(session).await?;
        times.push(start.elapsed());
        drop(tree);
    }
    Ok(median(times))
}

async fn context(dir: &Path, session: &SessionId, repeat: usize) -> anyhow::Result<Duration> {
    let provider = provider(dir);
    let tree = provider.load_tree(session).await?;
    let mut times = Vec::new();
    for _ in 0..repeat.max(20) {
        let (context, time) = timed(|| tree.context());
        anyhow::ensure!(!context?.messages.is_empty());
        times.push(time);
    }
    Ok(median(times))
}

async fn branch(dir: &Path, file: &Path, repeat: usize) -> anyhow::Result<Duration> {
    let mut times = Vec::new();
    for _ in 0..repeat {
        let provider = provider(dir);
        let import = ImportSession {
            log: read_session_file(file)?,
            id: Some(new_session_id()),
        };
        let session = provider.import_session(import).await?.session_id;
        let entries = provider.list_entries(&session).await?;
        let middle = entries[entries.len() / 2].id().clone();
        drop(entries);
        let start = Instant::now();
        for at in 0..BRANCHES {
            provider.switch_leaf(&session, &middle).await?;
            provider.append_entry(&session, entry(at as usize)).await?;
        }
        times.push(start.elapsed() / BRANCHES);
        remove(&provider, &session).await?;
    }
    Ok(median(times))
}

async fn fork_file(dir: &Path, file: &Path, repeat: usize) -> anyhow::Result<Duration> {
    let mut times = Vec::new();
    for _ in 0..repeat {
        let provider = provider(dir);
        let start = Instant::now();
        let import = ImportSession {
            log: read_session_file(file)?,
            id: Some(new_session_id()),
        };
        let session = provider.import_session(import).await?.session_id;
        times.push(start.elapsed());
        remove(&provider, &session).await?;
    }
    Ok(median(times))
}

async fn fork_path(dir: &Path, session: &SessionId, repeat: usize) -> anyhow::Result<Duration> {
    let mut times = Vec::new();
    for _ in 0..repeat {
        let provider = provider(dir);
        let leaf = provider
            .load_tree(session)
            .await?
            .leaf()
            .cloned()
            .context("a leaf")?;
        let start = Instant::now();
        let fork = provider
            .create_branched_session(session, &leaf, new_session_id())
            .await?
            .session_id;
        times.push(start.elapsed());
        remove(&provider, &fork).await?;
    }
    Ok(median(times))
}

/// A listing by a process that has just started and finds the index.
async fn list(dir: &Path, sessions: usize, repeat: usize) -> anyhow::Result<Duration> {
    let dir = tempfile::tempdir_in(dir)?;
    let maker = provider(dir.path());
    for _ in 0..sessions {
        let session = new_session(&maker).await?;
        for at in 0..4 {
            maker.append_entry(&session, entry(at)).await?;
        }
        maker.release(&session).await?;
    }
    let (filter, page) = (SessionFilter::default(), PageRequest::default());
    maker.list_sessions(&filter, page).await?;
    let mut times = Vec::new();
    for _ in 0..repeat {
        let provider = provider(dir.path());
        let start = Instant::now();
        let listed = provider.list_sessions(&filter, page).await?;
        times.push(start.elapsed());
        anyhow::ensure!(listed.total == sessions as u64);
    }
    Ok(median(times))
}

fn bare_write(dir: &Path, file: &Path) -> anyhow::Result<Duration> {
    let text = std::fs::read(file)?;
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let path = dir.join("bare");
    let mut out = std::fs::OpenOptions::new()
        .append(true)
        .create_new(true)
        .open(&path)?;
    let start = Instant::now();
    for line in &lines {
        out.write_all(line)?;
    }
    let time = start.elapsed();
    std::fs::remove_file(path)?;
    Ok(time)
}

/// Measured in processes of their own, since memory once used is not given back.
fn memory(file: &Path) -> anyhow::Result<u64> {
    let measure = |file: &str| -> anyhow::Result<u64> {
        #[expect(
            clippy::disallowed_methods,
            reason = "memory is measured in a process of its own"
        )]
        let output = std::process::Command::new(std::env::current_exe()?)
            .args(["--rss", file])
            .output()?;
        Ok(String::from_utf8(output.stdout)?.trim().parse()?)
    };
    let opened = measure(&file.to_string_lossy())?;
    Ok(opened.saturating_sub(measure("")?))
}

pub(crate) fn print_resident_size(file: &str) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let log = if file.is_empty() {
        None
    } else {
        Some(read_session_file(Path::new(file))?)
    };
    let tree = log.map(netaclaw_session::SessionTree::new);
    let status = std::fs::read_to_string("/proc/self/status")?;
    let kib = status
        .lines()
        .find_map(|line| {
            line.strip_prefix("VmRSS:")?
                .trim()
                .strip_suffix("kB")?
                .trim()
                .parse::<u64>()
                .ok()
        })
        .context("VmRSS")?;
    println!("{}", kib * 1024);
    drop((runtime, tree));
    Ok(())
}
