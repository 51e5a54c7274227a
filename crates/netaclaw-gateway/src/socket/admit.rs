//! Accepting a socket: credential first, handlers before the client is connected, tasks after.

use super::connection::Connection;
use super::dispatch::{self, COMMANDS_MAX, QueuedCommand};
use super::feed::Groups;
use super::frame::IncomingEvent;
use super::sender;
use crate::auth::credential;
use crate::gateway::Shared;
use crate::metrics;
use crate::transport::Peer;
use axum::extract::ConnectInfo;
use netaclaw_protocol::{BadRequest, Reason, Unavailable};
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::Value;
use socketioxide::adapter::LocalAdapter;
use socketioxide::extract::SocketRef;
use socketioxide::handler::{FromConnectParts, Value as Packet};
use socketioxide::socket::Socket;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;

#[derive(Deserialize, Default)]
struct Auth {
    #[serde(default)]
    token: Option<SecretString>,
    #[serde(default)]
    events: Option<Vec<String>>,
}

/// The state between the middleware and the moment the client is connected.
#[derive(Clone)]
struct Admitted {
    shared: Arc<Shared>,
    connection: Arc<Connection>,
    /// Taken by the task that serves it.
    commands: Arc<Mutex<Option<mpsc::Receiver<Box<QueuedCommand>>>>>,
}

/// The last middleware: an error here is all that the client receives, as `code: text`.
pub(super) async fn admit(
    shared: Arc<Shared>,
    socket: SocketRef,
    auth: Value,
) -> Result<(), String> {
    let refuse = |reason: Reason| {
        let code = reason.error_code();
        metrics::command_refused(code);
        format!("{}: {reason}", metrics::code_name(code))
    };
    if shared.shutdown.is_cancelled() {
        return Err(refuse(Unavailable::ShuttingDown.into()));
    }
    let auth: Auth = match auth {
        Value::Null => Auth::default(),
        auth => serde_json::from_value(auth).map_err(|error| {
            let detail = error.to_string();
            refuse(BadRequest::AuthNotAsExpected { detail }.into())
        })?,
    };
    let groups = match &auth.events {
        Some(names) => Groups::read(names).map_err(|reason| refuse(reason.into()))?,
        None => Groups::ALL,
    };
    let presented = auth
        .token
        .or_else(|| credential(&socket.req_parts().headers, shared.secure_cookie));
    let identity = shared.auth.check(presented.as_ref()).await;
    let identity = identity.map_err(|error| refuse(error.reason()))?;
    let sid = socket.id.to_string();
    let own = socket.req_parts().extensions.get::<ConnectInfo<Peer>>();
    let own = own.map(|ConnectInfo(peer)| &*peer.meter);
    shared.upgrades.join(&sid, own);
    let connection = Connection::new(&shared, sid, groups, presented, identity);
    attach(&socket, Arc::new(connection), shared);
    Ok(())
}

/// Registers the handlers. They hold no reference to the socket, or it would never be dropped.
fn attach(socket: &SocketRef, connection: Arc<Connection>, shared: Arc<Shared>) {
    let (commands_tx, commands) = mpsc::channel(COMMANDS_MAX);
    let target = Arc::clone(&connection);
    // One handler takes all events, so that it is called in their order.
    socket.on_fallback(move |frame: IncomingEvent| {
        dispatch::accept_frame(&target, &commands_tx, frame);
        std::future::ready(())
    });
    let gone = connection.closed.clone();
    let (sid, left) = (connection.sid.clone(), Arc::clone(&shared));
    socket.on_disconnect(move || {
        gone.cancel();
        left.upgrades.leave(&sid);
        std::future::ready(())
    });
    socket.extensions.insert(Admitted {
        shared,
        connection,
        commands: Arc::new(Mutex::new(Some(commands))),
    });
}

/// The socket itself, from which acknowledgements can be sent more than once.
pub(super) struct RawSocket(Arc<Socket<LocalAdapter>>);

impl FromConnectParts<LocalAdapter> for RawSocket {
    type Error = Infallible;

    fn from_connect_parts(
        socket: &Arc<Socket<LocalAdapter>>,
        _: &Option<Packet>,
    ) -> Result<Self, Infallible> {
        Ok(Self(Arc::clone(socket)))
    }
}

/// The client is connected: starts the socket's two jobs. They end with the socket.
pub(super) async fn begin(socket: SocketRef, RawSocket(raw): RawSocket) {
    let Some(admitted) = socket.extensions.remove::<Admitted>() else {
        return;
    };
    let Admitted {
        shared,
        connection,
        commands,
    } = admitted;
    let commands = commands
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    let Some(commands) = commands else {
        return;
    };
    metrics::connected();
    shared.connections.add(&connection);
    let jobs = shared.jobs.clone();
    jobs.spawn(dispatch::serve(
        Arc::clone(&shared),
        Arc::clone(&connection),
        commands,
    ));
    jobs.spawn(async move {
        sender::send_all(Arc::clone(&shared), socket, raw, Arc::clone(&connection)).await;
        shared.connections.remove(&connection);
        metrics::disconnected();
    });
}
