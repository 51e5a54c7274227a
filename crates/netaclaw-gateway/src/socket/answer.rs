//! What the engine is asked for a command, and what the connection adds: its subscriptions.

use super::connection::{Connection, notice};
use super::feed::SessionFeed;
use super::lists::{WatchedList, WatchedLists};
use crate::gateway::Shared;
use netaclaw_engine::{Caller, EngineError, Handle, Subscriber, acknowledge};
use netaclaw_protocol::{
    Ack, Chat, ChatAck, ClientCommand, Forbidden, InternalError, Nothing, Notice, Refusal,
    SessionOpen,
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
        ClientCommand::Chat(chat) if chat.session_id.is_none() => {
            begin_session(shared, connection, &caller, chat).await
        }
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
        command => engine
            .execute_any(&caller, command)
            .await
            .map(|body| plain(Ok(body))),
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

/// Sends the first message of a session. Its sender receives all events about it: it subscribes
/// before the message is stored.
async fn begin_session(
    shared: &Shared,
    connection: &Connection,
    caller: &Caller,
    chat: Chat,
) -> Result<Answer, EngineError> {
    let engine = &shared.engine;
    let session = engine.begin_session(caller, &chat).await?;
    let request = chat.request();
    if connection.watches(&session) {
        // The message was sent before, and its sender listens already.
        let ack = engine.chat_first(caller, &session, chat).await?;
        return Ok(plain(Ok(acknowledge(ack))));
    }
    let feed = connection.new_feed();
    let subscriber: Arc<dyn Subscriber> = Arc::clone(&feed) as Arc<dyn Subscriber>;
    let sent = match engine.listen(caller, &session, subscriber).await {
        Ok((start, subscription)) => {
            connection.watch(session.clone(), Arc::clone(&feed), subscription);
            let sent = engine.chat_first(caller, &session, chat).await;
            sent.map(|ack| (start, ack))
        }
        Err(error) => Err(error),
    };
    match sent {
        Ok((start, ack)) => Ok(Answer {
            body: Ok(acknowledge(ack.map(|ack| ChatAck {
                feed: Some(start),
                ..ack
            }))),
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
