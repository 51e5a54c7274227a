//! Goes through a directory and all below it, with several threads.
//!
//! Every directory is opened beneath the handle of the one the walk began at, so that a link that
//! is swapped in leads nowhere. Links are found but not followed. What is held in memory depends
//! on the shape of the tree, not on how many files there are.

use super::do_not_wait;
use super::hidden::real_path;
use super::ignore_rules::{IgnoreFilesPresent, IgnoreRules};
use cap_std::fs::{Dir, DirEntry, FileType, OpenOptions, ReadDir};
use std::ffi::OsString;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// More threads than this wait for each other and for the disk.
const THREADS_MAX: usize = 8;
/// Names of one directory that are held at a time.
const NAMES_HELD: usize = 4096;
/// Files that are handed to another thread at a time.
const BATCH_FILES: usize = 64;
/// Batches that wait for a thread; at this number, files stay with the worker that found them.
const BATCHES_MAX: usize = 64;
const PROGRESS_EVERY: Duration = Duration::from_millis(500);
/// Where version control keeps its own things.
const HOUSEKEEPING: [&[u8]; 4] = [b".git", b".hg", b".svn", b".jj"];

/// Where a walk begins and what it leaves out.
pub(crate) struct Walk<'a> {
    pub(crate) start: &'a WalkStart,
    pub(crate) ignore_files: IgnoreFiles,
    pub(crate) cancel: &'a CancellationToken,
    /// Told now and then how many files were seen.
    pub(crate) progress: &'a (dyn Fn(u64) + Sync),
}

/// A directory of the workspace, opened to be walked.
#[derive(Debug)]
pub(crate) struct WalkStart {
    pub(crate) dir: Dir,
    /// The prefix of every path found, as the caller wrote it; empty or with a slash at its end.
    pub(crate) prefix: String,
    /// Rules of the directories above, up to the root.
    pub(super) above: Option<Arc<IgnoreRules>>,
    /// What is left out because it is hidden from tools, relative to `dir`.
    pub(super) hidden: Vec<PathBuf>,
}

impl WalkStart {
    /// Opens a file that the walk has found, unless it is something else or hidden by now: a link
    /// may have been swapped in since.
    pub(crate) fn open_file(&self, path: &Path) -> io::Result<std::fs::File> {
        let mut options = OpenOptions::new();
        options.read(true);
        do_not_wait(&mut options);
        let file = self.dir.open_with(path, &options)?.into_std();
        if !file.metadata()?.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.check_visible(&file)?;
        Ok(file)
    }

    fn check_visible(&self, opened: &impl AsRawFd) -> io::Result<()> {
        if self.hidden.is_empty() {
            return Ok(());
        }
        let (dir, real) = (real_path(&self.dir)?, real_path(opened)?);
        let inside = real.strip_prefix(dir);
        let inside = inside.map_err(|_| io::ErrorKind::NotFound)?;
        match self.hidden.iter().any(|place| inside.starts_with(place)) {
            true => Err(io::ErrorKind::PermissionDenied.into()),
            false => Ok(()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IgnoreFiles {
    Honoured,
    PassedOver,
}

/// What looks at everything that is found. Each thread has its own.
pub(crate) trait Visit: Send {
    /// `path` begins where the walk began.
    fn visit(&mut self, path: &Path, kind: Kind);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Directory,
    Link,
    /// Pipes, sockets, devices.
    Special,
}

/// How a walk went.
#[derive(Debug)]
pub(crate) struct Walked<V> {
    pub(crate) visitors: Vec<V>,
    pub(crate) unreadable_dirs: usize,
    /// It was called off, so there may be more.
    pub(crate) called_off: bool,
}

impl Walk<'_> {
    /// Blocks until everything was visited. The order of visits is not defined.
    pub(crate) fn run<V: Visit>(&self, visitor: impl Fn() -> V) -> Walked<V> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let shared = Shared::new(self.start.above.clone(), Instant::now());
        let visitors = std::thread::scope(|scope| {
            let work = |mut visitor: V| {
                let mut worker = Worker {
                    walk: self,
                    shared: &shared,
                    visitor: &mut visitor,
                };
                worker.work();
                visitor
            };
            let others: Vec<_> = (1..threads.min(THREADS_MAX))
                .map(|_| {
                    let visitor = visitor();
                    scope.spawn(move || work(visitor))
                })
                .collect();
            let mut visitors = vec![work(visitor())];
            for other in others {
                match other.join() {
                    Ok(visitor) => visitors.push(visitor),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            visitors
        });
        Walked {
            visitors,
            unreadable_dirs: shared.unreadable_dirs.into_inner(),
            called_off: self.cancel.is_cancelled(),
        }
    }
}

/// What is still to be done.
enum Work {
    Directory {
        path: PathBuf,
        ignored: Option<Arc<IgnoreRules>>,
    },
    Files {
        dir: Arc<Path>,
        names: Vec<(OsString, Kind)>,
    },
}

struct Shared {
    queue: Mutex<Queue>,
    wake: Condvar,
    /// Threads that wait for work.
    idle: AtomicUsize,
    unreadable_dirs: AtomicUsize,
    files: AtomicU64,
    next_progress: Mutex<Instant>,
}

struct Queue {
    /// The newest first, so that a walk goes depth-first, and little waits.
    stack: Vec<Work>,
    batches: usize,
    /// Threads that may still add to the stack.
    working: usize,
}

impl Shared {
    fn new(above: Option<Arc<IgnoreRules>>, now: Instant) -> Self {
        let first = Work::Directory {
            path: PathBuf::new(),
            ignored: above,
        };
        Self {
            queue: Mutex::new(Queue {
                stack: vec![first],
                batches: 0,
                working: 0,
            }),
            wake: Condvar::new(),
            idle: AtomicUsize::new(0),
            unreadable_dirs: AtomicUsize::new(0),
            files: AtomicU64::new(0),
            next_progress: Mutex::new(now + PROGRESS_EVERY),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // What a panicking thread leaves behind is whole: work is pushed and popped in one step.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next piece of work; `None` when there will be no more.
    fn take(&self) -> Option<(Work, Working<'_>)> {
        let mut queue = self.lock();
        loop {
            if let Some(work) = queue.stack.pop() {
                queue.working += 1;
                if matches!(work, Work::Files { .. }) {
                    queue.batches -= 1;
                }
                return Some((work, Working(self)));
            }
            if queue.working == 0 {
                return None;
            }
            self.idle.fetch_add(1, Ordering::Relaxed);
            queue = self
                .wake
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
            self.idle.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn put_directories(&self, directories: Vec<Work>) {
        if directories.is_empty() {
            return;
        }
        self.lock().stack.extend(directories);
        self.wake_idle();
    }

    /// Hands files to idle workers; gives them back if there are none.
    fn offer_files(&self, work: Work) -> Result<(), Work> {
        if self.idle.load(Ordering::Relaxed) == 0 {
            return Err(work);
        }
        let mut queue = self.lock();
        if queue.batches >= BATCHES_MAX {
            return Err(work);
        }
        queue.batches += 1;
        queue.stack.push(work);
        drop(queue);
        self.wake.notify_one();
        Ok(())
    }

    fn wake_idle(&self) {
        if self.idle.load(Ordering::Relaxed) > 0 {
            self.wake.notify_all();
        }
    }
}

/// Its holder may still find more work. Released also by a panic, so that no worker waits
/// endlessly.
struct Working<'a>(&'a Shared);

impl Drop for Working<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.lock();
        queue.working -= 1;
        if queue.working == 0 && queue.stack.is_empty() {
            self.0.wake.notify_all();
        }
    }
}

struct Worker<'a, V> {
    walk: &'a Walk<'a>,
    shared: &'a Shared,
    visitor: &'a mut V,
}

impl<V: Visit> Worker<'_, V> {
    fn work(&mut self) {
        while let Some((work, _working)) = self.shared.take() {
            match work {
                // The rest is taken off the stack and dropped, so that all threads end.
                _ if self.walk.cancel.is_cancelled() => {}
                Work::Directory { path, ignored } => {
                    if self.directory(path, ignored).is_err() {
                        self.shared.unreadable_dirs.fetch_add(1, Ordering::Relaxed);
                    }
                }
                Work::Files { dir, names } => self.files(&dir, names),
            }
        }
    }

    fn directory(&mut self, path: PathBuf, above: Option<Arc<IgnoreRules>>) -> io::Result<()> {
        let start = self.walk.start;
        let mut entries = match path.as_os_str().is_empty() {
            true => start.dir.entries(),
            false if start.hidden.is_empty() => start.dir.read_dir(&path),
            false => {
                let dir = start.dir.open_dir(&path)?;
                start.check_visible(&dir)?;
                dir.entries()
            }
        }?;
        let (mut names, mut rest) = some_names(&mut entries)?;
        let ignored = self.rules(&path, above, &names, rest);
        let dir: Arc<Path> = path.into();
        loop {
            if let Some(ignored) = &ignored {
                leave_out(&mut names, &dir, ignored);
            }
            self.found(&dir, names, &ignored);
            if rest == WorkerState::None || self.walk.cancel.is_cancelled() {
                return Ok(());
            }
            (names, rest) = some_names(&mut entries)?;
        }
    }

    /// The rules that hold in a directory, those from above included.
    fn rules(
        &self,
        dir: &Path,
        above: Option<Arc<IgnoreRules>>,
        names: &[(OsString, Kind)],
        rest: WorkerState,
    ) -> Option<Arc<IgnoreRules>> {
        if self.walk.ignore_files == IgnoreFiles::PassedOver {
            return None;
        }
        let mut present = IgnoreFilesPresent::default();
        names.iter().for_each(|(name, _)| present.note(name));
        if rest == WorkerState::Some {
            present = IgnoreFilesPresent::assumed();
        }
        IgnoreRules::below(above, &self.walk.start.dir, dir, present)
    }

    fn found(
        &mut self,
        dir: &Arc<Path>,
        names: Vec<(OsString, Kind)>,
        ignored: &Option<Arc<IgnoreRules>>,
    ) {
        let housekeeping = |name: &OsString| HOUSEKEEPING.contains(&name.as_encoded_bytes());
        let hidden = &self.walk.start.hidden;
        let is_hidden = |name: &OsString| !hidden.is_empty() && hidden.contains(&dir.join(name));
        let (dirs, mut files): (Vec<_>, Vec<_>) = names
            .into_iter()
            .filter(|(name, _)| !housekeeping(name) && !is_hidden(name))
            .partition(|(_, kind)| *kind == Kind::Directory);
        let directories = dirs.into_iter().map(|(name, kind)| {
            let path = dir.join(name);
            self.visitor.visit(&path, kind);
            Work::Directory {
                path,
                ignored: ignored.clone(),
            }
        });
        let directories = directories.collect();
        self.shared.put_directories(directories);
        while files.len() > BATCH_FILES {
            let work = Work::Files {
                dir: dir.clone(),
                names: files.split_off(files.len() - BATCH_FILES),
            };
            if let Err(Work::Files { dir, names }) = self.shared.offer_files(work) {
                self.files(&dir, names);
            }
        }
        self.files(dir, files);
    }

    fn files(&mut self, dir: &Path, names: Vec<(OsString, Kind)>) {
        let count = names.len() as u64;
        let mut path = dir.to_owned();
        for (name, kind) in names {
            if self.walk.cancel.is_cancelled() {
                return;
            }
            path.push(name);
            self.visitor.visit(&path, kind);
            path.pop();
        }
        self.tell(count);
    }

    fn tell(&self, count: u64) {
        let files = self.shared.files.fetch_add(count, Ordering::Relaxed) + count;
        // A worker that finds it locked leaves the report to the holder.
        let Ok(mut next) = self.shared.next_progress.try_lock() else {
            return;
        };
        let now = Instant::now();
        if now >= *next {
            *next = now + PROGRESS_EVERY;
            (self.walk.progress)(files);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WorkerState {
    None,
    Some,
}

/// The next names of a directory, and whether more may follow.
fn some_names(entries: &mut ReadDir) -> io::Result<(Vec<(OsString, Kind)>, WorkerState)> {
    let mut names = Vec::new();
    for entry in entries.take(NAMES_HELD) {
        let entry = entry?;
        names.push((entry.file_name(), kind_of(&entry)));
    }
    let rest = match names.len() {
        NAMES_HELD => WorkerState::Some,
        _ => WorkerState::None,
    };
    Ok((names, rest))
}

fn kind_of(entry: &DirEntry) -> Kind {
    let mut kind = entry.file_type().unwrap_or(FileType::unknown());
    if kind == FileType::unknown() {
        // Some file systems do not say it with the name.
        let looked_at = entry.metadata().map(|metadata| metadata.file_type());
        kind = looked_at.unwrap_or(kind);
    }
    match (kind.is_file(), kind.is_dir(), kind.is_symlink()) {
        (true, ..) => Kind::File,
        (_, true, _) => Kind::Directory,
        (.., true) => Kind::Link,
        _ => Kind::Special,
    }
}

fn leave_out(names: &mut Vec<(OsString, Kind)>, dir: &Path, ignored: &IgnoreRules) {
    let mut path = dir.to_owned();
    names.retain(|(name, kind)| {
        path.push(name);
        let keep = !ignored.ignores(&path, *kind == Kind::Directory);
        path.pop();
        keep
    });
}
