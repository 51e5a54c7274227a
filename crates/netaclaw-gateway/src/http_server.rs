//! Connections from the moment they are accepted until they are closed. `axum::serve` would wait
//! without a limit: for a request head that never comes, and at shutdown for every connection.

use crate::transport::{MeteredListener, MeteredStream, Peer};
use axum::Router;
use axum::extract::{ConnectInfo, Request};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

/// A head that is longer is refused, and a connection holds no more of what it has read.
const HEAD_BYTES_MAX: usize = 64 << 10;

pub(crate) struct HttpServer {
    http: http1::Builder,
    router: Router,
    connections: TaskTracker,
    /// Connections end once they have answered what they were asked.
    closing: CancellationToken,
    /// Connections end, whatever they are about.
    closed: CancellationToken,
}

impl HttpServer {
    /// `head_within` is how long the head of a request may take, counted from when it could have
    /// begun: idle connections are closed as well.
    pub(crate) fn new(router: Router, head_within: Duration) -> Self {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(head_within)
            .max_buf_size(HEAD_BYTES_MAX);
        Self {
            http,
            router,
            connections: TaskTracker::new(),
            closing: CancellationToken::new(),
            closed: CancellationToken::new(),
        }
    }

    /// Accepts connections until the token is cancelled; then the listener is closed.
    pub(crate) async fn open(&self, mut listener: MeteredListener, shutdown: &CancellationToken) {
        while let Some((stream, peer)) = shutdown.run_until_cancelled(listener.accept()).await {
            self.admit(stream, peer);
        }
        self.closing.cancel();
        self.connections.close();
    }

    /// Returns when all connections have ended, which they have to after `grace`.
    pub(crate) async fn close(&self, grace: Duration) {
        let ended = tokio::time::timeout(grace, self.connections.wait()).await;
        if ended.is_err() {
            let left = self.connections.len();
            tracing::info!(left, "closed connections that did not end in time");
            self.closed.cancel();
            self.connections.wait().await;
        }
    }

    fn admit(&self, stream: MeteredStream, peer: Peer) {
        let router = self.router.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer.clone()));
            router.clone().oneshot(request)
        });
        let connection = self.http.serve_connection(TokioIo::new(stream), service);
        let mut connection = Box::pin(connection.with_upgrades());
        let (closing, closed) = (self.closing.clone(), self.closed.clone());
        self.connections.spawn(async move {
            let served = tokio::select! {
                served = connection.as_mut() => served,
                () = closing.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    match closed.run_until_cancelled(connection).await {
                        Some(served) => served,
                        None => return,
                    }
                }
            };
            if let Err(error) = served {
                tracing::debug!(%error, "a connection failed");
            }
        });
    }
}
