//! Executes commands: by the engine, or on the subscriptions of the connection.

use super::connection::{Connection, notice};
use super::feed::SessionFeed;
use super::lists::{WatchedList, WatchedLists};
use crate::gateway::Shared;
use netaclaw_engine::{Caller, EngineError, Handle, Subscriber, acknowledge};
use netaclaw_protocol::{
    Ack, Chat, ChatAck, ClientCommand, FeedStart, Forbidden, InternalError, Nothing, Notice,
    Refusal, SessionId, SessionOpen,
};
use serde_json::value::RawValue;
use std::sync::Arc;

pub(super) struct Answer {
    pub(super) body: Result<Box<RawValue>, Refusal>,
    /// Hold events back until the answer is queued.
    pub(super) feed: Option<Arc<SessionFeed>>,
    pub(super) list: Option<Arc<WatchedList>>,
}

impl Answer {
    /// Of a command that came to no end.
    pub(super) fn failed() -> Self {
        plain(Err(Refusal::new(InternalError::Internal)))
    }
}

pub(super) async fn execute(
    shared: &Arc<Shared>,
    connection: &Arc<Connection>,
    command: ClientCommand,
) -> Answer {
    let caller = match permitted(shared, connection, &command).await {
        Ok(caller) => caller,
        Err(refusal) => return plain(Err(refusal)),
    };
    let engine = &shared.engine;
    let executed = match command {
        ClientCommand::SessionOpen(open) => session_open(shared, connection, &caller, open).await,
        ClientCommand::Chat(message) => chat(shared, connection, &caller, message).await,
        ClientCommand::Ping(_) => {
            connection.outbox.push(&notice(Notice::Pong(Nothing {})));
            Ok(done(Nothing {}))
        }
        ClientCommand::SessionClose(close) => {
            connection.unwatch(engine, &close.session_id).await;
            Ok(done(Nothing {}))
        }
        ClientCommand::SessionsWatch(watch) => {
            let watching = WatchedLists::watch(shared, connection, &caller, watch);
            watching.await.map(|(page, list)| Answer {
                list: Some(list),
                ..plain(Ok(acknowledge(Ack::new(page))))
            })
        }
        command => match followed(&command).cloned() {
            Some(session) => follow(shared, connection, &caller, session, command).await,
            None => {
                let executed = engine.execute_any(&caller, command).await;
                executed.map(|body| plain(Ok(body)))
            }
        },
    };
    executed.unwrap_or_else(|error| plain(Err(error.refusal())))
}

async fn permitted(
    shared: &Shared,
    connection: &Connection,
    command: &ClientCommand,
) -> Result<Caller, Refusal> {
    let identity = connection.identity(shared).await?;
    if !identity.may_write() && !command.only_reads() {
        return Err(Refusal::new(Forbidden::OnlyReads));
    }
    Ok(identity.caller())
}

/// Sends a message. Its sender receives all events about it from then on: it subscribes before the
/// message is stored.
async fn chat(
    shared: &Shared,
    connection: &Connection,
    caller: &Caller,
    chat: Chat,
) -> Result<Answer, EngineError> {
    let engine = &shared.engine;
    let Some(session) = &chat.session_id else {
        return begin_session(shared, connection, caller, chat).await;
    };
    let session = session.clone();
    match subscribe(shared, connection, caller, &session).await {
        // The sender has chosen the id of a session that it begins.
        Err(EngineError::NoSession) => begin_session(shared, connection, caller, chat).await,
        // It follows the session already. Or that cannot be done here; then the message may still
        // have been answered elsewhere.
        Ok(None) | Err(_) => {
            let ack = engine.execute(caller, chat).await?;
            Ok(plain(Ok(acknowledge(ack))))
        }
        Ok(Some((start, feed))) => match engine.execute(caller, chat).await {
            Ok(ack) => Ok(Answer {
                body: Ok(acknowledge(ack.map(|ack| following(ack, start)))),
                feed: Some(feed),
                list: None,
            }),
            Err(error) => {
                connection.unwatch(engine, &session).await;
                Err(error)
            }
        },
    }
}

/// Sends the first message of a session.
async fn begin_session(
    shared: &Shared,
    connection: &Connection,
    caller: &Caller,
    chat: Chat,
) -> Result<Answer, EngineError> {
    let engine = &shared.engine;
    let session = engine.begin_session(caller, &chat).await?;
    let request = chat.request();
    let sent = match subscribe(shared, connection, caller, &session).await {
        // The message was sent before, and its sender follows the session already.
        Ok(None) => {
            let ack = engine.chat_first(caller, &session, chat).await?;
            return Ok(plain(Ok(acknowledge(ack))));
        }
        Ok(Some((start, feed))) => {
            let sent = engine.chat_first(caller, &session, chat).await;
            sent.map(|ack| (ack, start, feed))
        }
        Err(error) => Err(error),
    };
    match sent {
        Ok((ack, start, feed)) => Ok(Answer {
            body: Ok(acknowledge(ack.map(|ack| following(ack, start)))),
            feed: Some(feed),
            list: None,
        }),
        Err(error) => {
            connection.unwatch(engine, &session).await;
            let answered = engine.refused_first(caller, &session, request, error);
            Ok(plain(Ok(acknowledge(answered.await?))))
        }
    }
}

fn following(ack: ChatAck, start: FeedStart) -> ChatAck {
    ChatAck {
        feed: Some(start),
        ..ack
    }
}

/// Subscribes the sender of a command to its session; `None` if it is subscribed already.
async fn subscribe(
    shared: &Shared,
    connection: &Connection,
    caller: &Caller,
    session: &SessionId,
) -> Result<Option<(FeedStart, Arc<SessionFeed>)>, EngineError> {
    if connection.watches(session) {
        return Ok(None);
    }
    let feed = connection.new_feed();
    let subscriber: Arc<dyn Subscriber> = Arc::clone(&feed) as Arc<dyn Subscriber>;
    let listening = shared.engine.listen(caller, session, subscriber);
    let (start, subscription) = listening.await?;
    connection.watch(session.clone(), Arc::clone(&feed), subscription);
    Ok(Some((start, feed)))
}

/// The session of a command that clients send which know nothing of `session_open`, and whose
/// effect they see in events.
fn followed(command: &ClientCommand) -> Option<&SessionId> {
    match command {
        ClientCommand::Compact(_)
        | ClientCommand::ClarifyResponse(_)
        | ClientCommand::SetThinkingLevel(_) => command.session_id(),
        _ => None,
    }
}

/// Executes a command about a session that changes it. Its sender follows the session from then
/// on.
async fn follow(
    shared: &Shared,
    connection: &Connection,
    caller: &Caller,
    session: SessionId,
    command: ClientCommand,
) -> Result<Answer, EngineError> {
    let engine = &shared.engine;
    let followed = subscribe(shared, connection, caller, &session).await;
    let feed = followed.ok().flatten().map(|(_, feed)| feed);
    let body = engine.execute_any(caller, command).await;
    if body.is_err() && feed.is_some() {
        connection.unwatch(engine, &session).await;
    }
    Ok(Answer {
        body: Ok(body?),
        feed,
        list: None,
    })
}

/// Joins a session. A socket that opens it again leaves it first, or it would get all twice.
async fn session_open(
    shared: &Shared,
    connection: &Connection,
    caller: &Caller,
    open: SessionOpen,
) -> Result<Answer, EngineError> {
    let session = open.session_id.clone();
    connection.unwatch(&shared.engine, &session).await;
    let feed = connection.new_feed();
    let subscriber: Arc<dyn Subscriber> = Arc::clone(&feed) as Arc<dyn Subscriber>;
    let (opened, subscription) = shared.engine.open(caller, open, subscriber).await?;
    connection.watch(session, Arc::clone(&feed), subscription);
    Ok(Answer {
        body: Ok(acknowledge(Ack::new(opened))),
        feed: Some(feed),
        list: None,
    })
}

fn plain(body: Result<Box<RawValue>, Refusal>) -> Answer {
    Answer {
        body,
        feed: None,
        list: None,
    }
}

fn done(answer: Nothing) -> Answer {
    plain(Ok(acknowledge(Ack::new(answer))))
}
