//! A running child process, from the server's side.

use super::plan::{ProgramEnd, Reply, Sandbox};
use super::scratch::Scratch;
use rustix::net::Shutdown;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::process::Child;

/// What a guard has to say fits many times over.
const REPLY_BYTES_MAX: usize = 64 << 10;

/// A child and everything below it. Dropped, it is ended like after [`ChildProcess::stop`].
#[derive(Debug)]
pub struct ChildProcess {
    control: ChildControl,
    guard: Child,
    sandbox: Sandbox,
    started: Instant,
    marker: String,
    /// How it ended, once that is known.
    told: Option<ProgramEnd>,
    /// Its temporary files stay as long as it does.
    _scratch: Arc<Scratch>,
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChildEnd {
    /// Absent if a signal ended it, or if it is unknown.
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// How many processes and threads it was allowed, if it was ended because it had more.
    pub crowded: Option<u64>,
    /// How many bytes its scratch directory may hold, if there were more, which were then removed.
    pub over_quota: Option<u64>,
    pub after: Duration,
}

impl ChildProcess {
    pub(super) fn new(
        control: ChildControl,
        guard: Child,
        sandbox: Sandbox,
        marker: String,
        scratch: Arc<Scratch>,
    ) -> Self {
        Self {
            control,
            guard,
            sandbox,
            started: Instant::now(),
            marker,
            told: None,
            _scratch: scratch,
        }
    }

    /// What it was locked into.
    pub fn sandbox(&self) -> Sandbox {
        self.sandbox
    }

    /// Has the child and everything below it ended: asked to at first, and soon after no longer
    /// asked. Returns at once.
    pub fn stop(&self) {
        self.control.close();
    }

    /// Waits until nothing of it is left. May be dropped and called again.
    pub async fn wait(&mut self) -> ChildEnd {
        let ended = match self.told {
            Some(told) => told,
            None => match self.control.next().await {
                // Said once, so it is kept: the caller may drop this future at any time.
                Ok(Some(Reply::Ended(ended))) => *self.told.insert(ended),
                // The guard itself was killed, and whatever it held back may be loose.
                _ => {
                    sweep(&self.marker).await;
                    *self.told.insert(ProgramEnd::default())
                }
            },
        };
        if let Err(error) = self.guard.wait().await {
            tracing::warn!(%error, "failed to wait for a guard process");
        }
        ChildEnd {
            code: ended.code,
            signal: ended.signal,
            crowded: ended.crowded,
            over_quota: ended.over_quota,
            after: self.started.elapsed(),
        }
    }
}

/// Ends strays by the mark in their environment, which they cannot have changed for others.
async fn sweep(marker: &str) {
    let marker = marker.to_owned();
    let killed = tokio::task::spawn_blocking(move || super::guard::kill_marked(&marker)).await;
    if let Ok(killed @ 1..) = killed {
        tracing::warn!(
            killed,
            "a guard process was killed; killed its child processes"
        );
    }
}

/// The server's end of the leash.
#[derive(Debug)]
pub(super) struct ChildControl {
    socket: UnixStream,
    buffer: Vec<u8>,
}

impl ChildControl {
    pub(super) fn new(socket: UnixStream) -> Self {
        Self {
            socket,
            buffer: Vec::new(),
        }
    }

    pub(super) fn socket(&mut self) -> &mut UnixStream {
        &mut self.socket
    }

    /// The next reply; `None` if the guard is gone. Nothing is lost if this is dropped.
    pub(super) async fn next(&mut self) -> io::Result<Option<Reply>> {
        loop {
            if let Some(end) = memchr::memchr(b'\n', &self.buffer) {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Ok(Some(serde_json::from_slice(&line)?));
            }
            if self.buffer.len() > REPLY_BYTES_MAX {
                return Err(io::ErrorKind::InvalidData.into());
            }
            if self.socket.read_buf(&mut self.buffer).await? == 0 {
                return Ok(None);
            }
        }
    }

    fn close(&self) {
        // It fails if the guard is gone, and then there is nothing left to close.
        rustix::net::shutdown(&self.socket, Shutdown::Write).unwrap_or_default();
    }
}
