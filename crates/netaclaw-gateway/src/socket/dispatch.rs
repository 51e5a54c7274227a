//! Commands of one socket: in order within a session, and no session waits for another.

use super::answer::{Answer, execute};
use super::command;
use super::connection::{Connection, notice};
use super::feed::SessionFeed;
use super::frame::IncomingEvent;
use crate::gateway::Shared;
use crate::metrics;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use netaclaw_engine::request_key;
use netaclaw_protocol::{
    ClientCommand, ErrorCode, InternalError, Notice, Refusal, SessionId, TooMany,
};
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::{HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior};

/// Commands that may wait for one socket; a further one is refused as `rate_limited`.
pub(super) const COMMANDS_MAX: usize = 256;
/// How often a silent socket's credential is checked for having expired.
const RECHECK: Duration = Duration::from_secs(5);

/// A command that waits for its turn. Boxed: a queue reserves memory for many at once, and most
/// sockets have none.
pub(super) struct QueuedCommand {
    command: ClientCommand,
    ack_id: Option<i64>,
}

/// Takes a frame in. Called in the order of arrival, and must not wait.
pub(super) fn accept_frame(
    connection: &Connection,
    commands: &mpsc::Sender<Box<QueuedCommand>>,
    frame: IncomingEvent,
) {
    let ack_id = frame.ack_id;
    let read = frame.payload.and_then(|(event, payload)| {
        let command = command::read(&event, &payload)?;
        Ok(QueuedCommand { command, ack_id })
    });
    let refusal = match read {
        Ok(waiting) => match commands.try_send(Box::new(waiting)) {
            Ok(()) => return,
            Err(_) => Refusal::new(TooMany::CommandsWaiting),
        },
        Err(refusal) => refusal,
    };
    if let Some(id) = report_refusal(connection, ack_id, &refusal) {
        connection.outbox.push_refusal(id, refusal_body(&refusal));
    }
}

/// Serves a socket until it is gone. An unexpected failure closes the socket: otherwise its
/// commands would wait without an answer.
pub(super) async fn serve(
    shared: Arc<Shared>,
    connection: Arc<Connection>,
    commands: mpsc::Receiver<Box<QueuedCommand>>,
) {
    let served = serve_commands(&shared, &connection, commands);
    if AssertUnwindSafe(served).catch_unwind().await.is_err() {
        // First, so that the client reconnects even if logging fails.
        connection.outbox.end(Refusal::new(InternalError::Internal));
        tracing::error!(socket.id = %connection.sid, "serving a socket panicked");
    }
    connection.unwatch_all(&shared.engine).await;
    shared.lists.leave(&connection);
    shared.upgrades.remove(&connection.sid);
}

/// Until the socket is gone and all that it asked for is done.
async fn serve_commands(
    shared: &Arc<Shared>,
    connection: &Arc<Connection>,
    mut commands: mpsc::Receiver<Box<QueuedCommand>>,
) {
    let mut lanes = SessionQueues::default();
    let mut recheck = tokio::time::interval_at(Instant::now() + RECHECK, RECHECK);
    recheck.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            waiting = commands.recv(), if lanes.waiting < COMMANDS_MAX => match waiting {
                Some(waiting) => lanes.add(shared, connection, *waiting),
                None if lanes.running.is_empty() => break,
                None => { lanes.next(shared, connection).await; }
            },
            true = lanes.next(shared, connection) => {}
            () = connection.closed.cancelled(), if !commands.is_closed() => commands.close(),
            () = connection.recheck_requested() => connection.recheck(shared).await,
            _ = recheck.tick() => connection.recheck(shared).await,
        }
    }
}

/// Commands by session. A lane exists while something of its session runs.
#[derive(Default)]
struct SessionQueues {
    behind: HashMap<SessionId, VecDeque<QueuedCommand>>,
    running: FuturesUnordered<BoxFuture<'static, Option<SessionId>>>,
    /// In all lanes together.
    waiting: usize,
}

impl SessionQueues {
    fn add(&mut self, shared: &Arc<Shared>, connection: &Arc<Connection>, command: QueuedCommand) {
        let session = lane_of(connection, &command.command);
        self.waiting += 1;
        if let Some(session) = &session {
            if let Some(lane) = self.behind.get_mut(session) {
                lane.push_back(command);
                return;
            }
            self.behind.insert(session.clone(), VecDeque::new());
        }
        self.run(shared, connection, session, command);
    }

    fn run(
        &mut self,
        shared: &Arc<Shared>,
        connection: &Arc<Connection>,
        session: Option<SessionId>,
        command: QueuedCommand,
    ) {
        let (shared, connection) = (Arc::clone(shared), Arc::clone(connection));
        let run = async move {
            carry_out(&shared, &connection, command).await;
            session
        };
        self.running.push(run.boxed());
    }

    /// Waits for a command to end and begins the one behind it. `false` if none runs.
    async fn next(&mut self, shared: &Arc<Shared>, connection: &Arc<Connection>) -> bool {
        let Some(ended) = self.running.next().await else {
            return false;
        };
        self.waiting -= 1;
        if let Some(session) = ended {
            let behind = self.behind.get_mut(&session).and_then(VecDeque::pop_front);
            match behind {
                Some(command) => self.run(shared, connection, Some(session), command),
                None => drop(self.behind.remove(&session)),
            }
        }
        true
    }
}

/// The queue of a command: the session whose commands must stay in order with this one. A first
/// message whose request names its session is one of them: sent twice, it must not be handled
/// concurrently.
fn lane_of(connection: &Connection, command: &ClientCommand) -> Option<SessionId> {
    match command {
        ClientCommand::Chat(chat) if chat.session_id.is_none() => {
            let request = chat.request_id.as_deref()?;
            let request = request_key(&connection.user_id(), request);
            Some(SessionId::new(request.as_str()))
        }
        // A socket watches one list, the one it asked for last.
        ClientCommand::SessionsWatch(_) => Some(SessionId::new("sessions_watch")),
        command => command.session_id().cloned(),
    }
}

async fn carry_out(shared: &Arc<Shared>, connection: &Arc<Connection>, waiting: QueuedCommand) {
    connection.outbox.room_for_answers().await;
    let name = waiting.command.name();
    metrics::command(name);
    let executed = execute(shared, connection, waiting.command);
    // Nothing of a command is kept between two awaits that another one would find half done.
    let executed = AssertUnwindSafe(executed).catch_unwind().await;
    let Answer { body, feed, list } = executed.unwrap_or_else(|_| {
        tracing::error!(command = name, "a command panicked");
        Answer::failed()
    });
    let lost = match &body {
        Err(refusal) if refusal.code == ErrorCode::Unauthorized => Some(refusal.clone()),
        _ => None,
    };
    reply(connection, waiting.ack_id, body, feed);
    if let Some(list) = list {
        list.release(connection);
    }
    // Notifies clients with revoked credentials, then disconnects them.
    if let Some(refusal) = lost {
        connection.outbox.end(refusal);
    }
}

/// Answers by the callback if there is one; else a refusal becomes an `error` event.
fn reply(
    connection: &Connection,
    ack_id: Option<i64>,
    body: Result<Box<RawValue>, Refusal>,
    feed: Option<Arc<SessionFeed>>,
) {
    let ack_id = match &body {
        Ok(_) => ack_id,
        Err(refusal) => report_refusal(connection, ack_id, refusal),
    };
    let body = body.unwrap_or_else(|refusal| refusal_body(&refusal));
    let ack = ack_id.map(|id| (id, body));
    match feed {
        Some(feed) => feed.release(ack),
        None => {
            if let Some((id, body)) = ack {
                connection.outbox.push_ack(id, body);
            }
        }
    }
}

/// Counts a refusal. Without an acknowledgement id it is sent as an event; otherwise the caller
/// sends the acknowledgement.
fn report_refusal(connection: &Connection, ack_id: Option<i64>, refusal: &Refusal) -> Option<i64> {
    metrics::command_refused(refusal.code);
    if ack_id.is_none() {
        let told = notice(Notice::Error(refusal.clone()));
        connection.outbox.push(&told);
    }
    ack_id
}

fn refusal_body(refusal: &Refusal) -> Box<RawValue> {
    #[derive(Serialize)]
    struct Refused<'r> {
        ok: bool,
        #[serde(flatten)]
        refusal: &'r Refusal,
    }
    let body = Refused { ok: false, refusal };
    serde_json::value::to_raw_value(&body).expect("a refusal is plain data")
}
