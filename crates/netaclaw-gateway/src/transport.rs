//! Connections as they are accepted: small packets leave at once, dead readers are detected, and
//! every byte the network takes is counted.
//!
//! The Socket.IO layer has a bounded queue per connection, drops what does not fit, and closes the
//! connection if a ping does not fit either. It does not report how full the queue is. The count
//! kept here does: what was handed in and not yet written is still in there.

use crate::connection_limits::{ConnectionCounter, CountedConnection, TooManyConnections};
use axum::serve::Listener;
use socket2::SockRef;
use std::collections::{HashMap, HashSet};
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// No limit for what a connection may send.
const UNLIMITED: u64 = u64::MAX;

/// Bytes that the network has taken from one connection, and how many more it may send.
#[derive(Debug)]
pub(crate) struct ByteMeter {
    written: AtomicU64,
    progress: Notify,
    may_send: AtomicU64,
}

impl Default for ByteMeter {
    fn default() -> Self {
        Self {
            written: AtomicU64::new(0),
            progress: Notify::new(),
            may_send: AtomicU64::new(UNLIMITED),
        }
    }
}

impl ByteMeter {
    /// From now on the client may send this many bytes in total; then the connection is closed.
    pub(crate) fn limit_incoming(&self, bytes: u64) {
        self.may_send.store(bytes, Ordering::Release);
    }

    pub(crate) fn lift_limit(&self) {
        self.may_send.store(UNLIMITED, Ordering::Release);
    }

    /// Counts what the client has sent. `false` if it was too much.
    fn received(&self, bytes: u64) -> bool {
        let count = |left: u64| match left {
            UNLIMITED => None,
            left => Some(left.saturating_sub(bytes)),
        };
        let counted = self
            .may_send
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, count);
        counted.map_or(true, |left| bytes <= left)
    }

    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Acquire)
    }

    /// Waits until more than `seen` bytes have been written.
    pub(crate) async fn written_beyond(&self, seen: u64) {
        loop {
            let progress = self.progress.notified();
            if self.written() > seen {
                return;
            }
            progress.await;
        }
    }

    fn add(&self, bytes: u64) {
        self.written.fetch_add(bytes, Ordering::AcqRel);
        self.progress.notify_waiters();
    }
}

/// The other side of a connection, as handlers see it.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    pub(crate) meter: Arc<ByteMeter>,
}

/// How the events of an Engine.IO session leave: by the connection of its WebSocket, if it has one
/// that began with polling, or by polls, each of which fetches all that waits.
#[derive(Debug, Default)]
pub(crate) struct Upgrades {
    by_sid: Mutex<HashMap<String, Weak<ByteMeter>>>,
    polls: Mutex<HashMap<String, Arc<ByteMeter>>>,
    /// Sessions that have joined the namespace.
    joined: Mutex<HashSet<String>>,
}

/// Beyond it the connections that have ended are forgotten, before a new one is remembered.
const UPGRADES_TIDY: usize = 1024;

impl Upgrades {
    pub(crate) fn insert(&self, sid: String, meter: &Arc<ByteMeter>) {
        let mut by_sid = self.lock();
        if by_sid.len() >= UPGRADES_TIDY {
            by_sid.retain(|_, meter| meter.strong_count() > 0);
        }
        by_sid.insert(sid, Arc::downgrade(meter));
    }

    pub(crate) fn get(&self, sid: &str) -> Option<Arc<ByteMeter>> {
        self.lock().get(sid).and_then(Weak::upgrade)
    }

    /// What the polls of a session have fetched, counted from the first time this is asked.
    pub(crate) fn polls(&self, sid: &str) -> Arc<ByteMeter> {
        let mut polls = self.polls.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(polls.entry(sid.to_owned()).or_default())
    }

    /// A poll was answered.
    pub(crate) fn polled(&self, sid: &str, bytes: u64) {
        let polls = self.polls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(meter) = polls.get(sid) {
            meter.add(bytes);
        }
    }

    /// The session has shown a credential: it may send as much as commands need. `own` is the
    /// connection that it began with.
    pub(crate) fn join(&self, sid: &str, own: Option<&ByteMeter>) {
        self.lock_joined().insert(sid.to_owned());
        own.into_iter().for_each(ByteMeter::lift_limit);
        if let Some(upgraded) = self.get(sid) {
            upgraded.lift_limit();
        }
    }

    pub(crate) fn has_joined(&self, sid: &str) -> bool {
        self.lock_joined().contains(sid)
    }

    pub(crate) fn leave(&self, sid: &str) {
        self.lock_joined().remove(sid);
    }

    fn lock_joined(&self) -> MutexGuard<'_, HashSet<String>> {
        self.joined.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn remove(&self, sid: &str) {
        self.lock().remove(sid);
        self.leave(sid);
        let mut polls = self.polls.lock().unwrap_or_else(PoisonError::into_inner);
        polls.remove(sid);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Weak<ByteMeter>>> {
        // A map is whole between any two of its operations.
        self.by_sid.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) struct MeteredListener {
    inner: TcpListener,
    stalled_after: Duration,
    places: ConnectionCounter,
}

impl MeteredListener {
    pub(crate) fn new(
        inner: TcpListener,
        stalled_after: Duration,
        places: ConnectionCounter,
    ) -> Self {
        Self {
            inner,
            stalled_after,
            places,
        }
    }

    /// The next connection. The failure of one is not reported: the next is accepted.
    pub(crate) async fn accept(&mut self) -> (MeteredStream, Peer) {
        let (inner, address, place) = loop {
            let (inner, address) = Listener::accept(&mut self.inner).await;
            match self.places.take(address.ip()) {
                Ok(place) => break (inner, address, place),
                Err(full) => refuse(&inner, full),
            }
        };
        let options = SockRef::from(&inner);
        let set = options
            .set_tcp_nodelay(true)
            .and_then(|()| options.set_tcp_user_timeout(Some(self.stalled_after)));
        if let Err(error) = set {
            tracing::debug!(%error, "failed to set the options of a connection");
        }
        let meter = Arc::default();
        let peer = Peer {
            address,
            meter: Arc::clone(&meter),
        };
        let stream = MeteredStream {
            inner,
            meter,
            _place: place,
        };
        (stream, peer)
    }
}

/// Says why, as far as that goes without waiting: the answer fits the buffer of a new connection.
fn refuse(stream: &TcpStream, full: TooManyConnections) {
    crate::metrics::connection_refused();
    tracing::debug!(?full, "rejected a connection");
    // Nothing depends on whether the client reads it.
    stream
        .try_write(full.answer().as_bytes())
        .unwrap_or_default();
}

pub(crate) struct MeteredStream {
    inner: TcpStream,
    meter: Arc<ByteMeter>,
    /// Given back with the connection, whatever it was upgraded to.
    _place: CountedConnection,
}

impl MeteredStream {
    fn count(&self, written: &io::Result<usize>) {
        if let Ok(bytes) = written {
            self.meter.add(*bytes as u64);
        }
    }
}

impl AsyncRead for MeteredStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
        let received = buf.filled().len() - before;
        match self.meter.received(received as u64) {
            true => Poll::Ready(Ok(())),
            false => Poll::Ready(Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the client sent too much before it joined the namespace",
            ))),
        }
    }
}

impl AsyncWrite for MeteredStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.inner).poll_write(cx, buf));
        self.count(&written);
        Poll::Ready(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.inner).poll_write_vectored(cx, bufs));
        self.count(&written);
        Poll::Ready(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
