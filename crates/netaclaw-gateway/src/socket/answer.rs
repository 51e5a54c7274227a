//! What each command asks of the engine, and how it is answered.

use super::command::ClientCommand;
use super::connection::{Connection, notice};
use super::feed::SessionFeed;
use super::frame::refused;
use super::requests::{Body, Key};
use crate::gateway::Shared;
use netaclaw_engine::{Caller, EngineError, Subscriber, Way};
use netaclaw_protocol::{
    Chat, ErrorCode, Forked, Nothing, Notice, QueueEdited, Refusal, Renamed, Retried,
    SessionChange, SessionId, SessionOpen, Stopped,
};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::sync::Arc;

pub(super) struct Answer {
    pub(super) body: Result<Box<RawValue>, Refusal>,
    /// Holds events back until the answer is on its way.
    pub(super) feed: Option<Arc<SessionFeed>>,
}

#[derive(Serialize)]
struct Done<T> {
    ok: bool,
    #[serde(flatten)]
    body: T,
}

pub(super) async fn execute(
    shared: &Arc<Shared>,
    connection: &Connection,
    command: ClientCommand,
    content: &str,
) -> Answer {
    let caller = match permitted(shared, connection, &command).await {
        Ok(caller) => caller,
        Err(refusal) => return plain(Err(refusal)),
    };
    match command {
        ClientCommand::SessionOpen(open) => session_open(shared, connection, &caller, open).await,
        ClientCommand::Ping => {
            connection.outbox.push(&notice(Notice::Pong(Nothing {})));
            plain(Ok(Body::new()))
        }
        ClientCommand::SessionClose(session) => {
            connection
                .unwatch(&shared.engine, &session.session_id)
                .await;
            plain(Ok(Body::new()))
        }
        command => {
            let key = command.session().zip(command.request_id());
            let key = key.map(|(session, request)| Key {
                user_id: caller.user_id.clone(),
                session_id: session.clone(),
                request_id: request.to_owned(),
            });
            let content = format!("{} {content}", command.name());
            let run = change(shared, &caller, command);
            plain(match key {
                Some(key) => shared.requests.once(key, &content, run).await,
                None => run.await,
            })
        }
    }
}

async fn permitted(
    shared: &Shared,
    connection: &Connection,
    command: &ClientCommand,
) -> Result<Caller, Refusal> {
    let identity = connection.identity(shared).await?;
    if !identity.may_write() && !command.only_reads() {
        return Err(refused(ErrorCode::Forbidden, "this token may only read"));
    }
    Ok(identity.caller())
}

/// Everything that changes a session.
async fn change(
    shared: &Arc<Shared>,
    caller: &Caller,
    command: ClientCommand,
) -> Result<Body, Refusal> {
    let engine = &shared.engine;
    let refusal = |error: EngineError| error.refusal();
    match command {
        ClientCommand::Chat(chat) => return send_chat(shared, caller, *chat).await,
        ClientCommand::Stop(session) => {
            let state = engine.stop(caller, &session.session_id).await;
            let status = state.map_err(refusal)?;
            return Ok(fields(json!(Stopped { status })));
        }
        ClientCommand::SetThinkingLevel(set) => {
            engine
                .set_thinking_level(caller, &set.session_id, set.level)
                .await
        }
        ClientCommand::SetModel(choice) => engine.set_model(caller, choice).await,
        ClientCommand::ClarifyResponse(answer) => engine.answer_question(caller, answer).await,
        ClientCommand::Label(set) => {
            engine
                .label(caller, &set.session_id, set.entry_id, set.label)
                .await
        }
        ClientCommand::Rename(rename) => {
            let change = SessionChange {
                title: Some(rename.title),
                ..SessionChange::default()
            };
            let renamed = engine.update(caller, &rename.session_id, change);
            let session = renamed.await.map_err(refusal)?;
            return Ok(fields(json!(Renamed { session })));
        }
        ClientCommand::Retry(retry) => {
            let started = engine.retry(caller, &retry.session_id, retry.entry_id);
            let run_id = started.await.map_err(refusal)?;
            return Ok(fields(json!(Retried { run_id })));
        }
        ClientCommand::Fork(fork) => {
            let forked = engine.fork(caller, &fork.session_id, fork.entry_id);
            let session = forked.await.map_err(refusal)?;
            let session_id = session.session.session_id.clone();
            return Ok(fields(json!(Forked {
                session_id,
                session
            })));
        }
        ClientCommand::QueueEdit(edit) => {
            let edited = engine.edit_queue(caller, &edit.session_id, edit.change);
            let queue = edited.await.map_err(refusal)?;
            return Ok(fields(json!(QueueEdited { queue })));
        }
        ClientCommand::SwitchLeaf(switch) if switch.summarize => {
            exists(shared, caller, &switch.session_id).await?;
            let message = "a branch cannot be summarised yet; leave summarize out";
            Err(EngineError::Unavailable(message.to_owned()))
        }
        ClientCommand::SwitchLeaf(switch) => {
            let way = match switch.follow {
                true => Way::Follow,
                false => Way::Exactly,
            };
            engine
                .switch_leaf(caller, &switch.session_id, switch.leaf_entry_id, way)
                .await
        }
        ClientCommand::Compact(session) => {
            exists(shared, caller, &session.session_id).await?;
            let message = "compaction is not there yet".to_owned();
            Err(EngineError::Unavailable(message))
        }
        ClientCommand::ApprovalResponse(approval) => {
            exists(shared, caller, &approval.session_id).await?;
            let message = "this approval is not open; it was decided or its run has ended";
            Err(EngineError::NotFound(message.to_owned()))
        }
        ClientCommand::Ping | ClientCommand::SessionOpen(_) | ClientCommand::SessionClose(_) => {
            Ok(())
        }
    }
    .map_err(refusal)?;
    Ok(Body::new())
}

async fn exists(shared: &Shared, caller: &Caller, session: &SessionId) -> Result<(), Refusal> {
    let found = shared.engine.session(caller, session).await;
    found.map(drop).map_err(|error| error.refusal())
}

async fn send_chat(shared: &Arc<Shared>, caller: &Caller, mut chat: Chat) -> Result<Body, Refusal> {
    if chat.session_id.is_none() {
        if chat.content.trim().is_empty() && chat.attachments.is_empty() {
            return Err(refused(ErrorCode::BadRequest, "the message is empty"));
        }
        chat.session_id = first_session(shared, caller, &chat).await?;
    }
    let ack = shared.engine.chat(caller, chat).await;
    let ack = ack.map_err(|error| error.refusal())?;
    Ok(fields(json!(ack)))
}

/// The session that a first message begins. It is named by the request, so that a client that
/// heard no answer and asks again, even of another process, gets the same one. Without a request
/// id the engine makes it.
async fn first_session(
    shared: &Shared,
    caller: &Caller,
    chat: &Chat,
) -> Result<Option<SessionId>, Refusal> {
    let Some(request_id) = &chat.request_id else {
        return Ok(None);
    };
    let id = session_of_request(&caller.user_id, request_id);
    let agent = chat.agent_id.as_deref().or(chat.agent_name.as_deref());
    let made = shared.engine.create_session(caller, agent, Some(id)).await;
    made.map(Some).map_err(|error| error.refusal())
}

fn session_of_request(user_id: &str, request_id: &str) -> SessionId {
    let mut hash = Sha256::new();
    // The length keeps "a" + "bc" and "ab" + "c" apart.
    hash.update((user_id.len() as u64).to_le_bytes());
    hash.update(user_id);
    hash.update(request_id);
    let digest = hash.finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    SessionId::new(
        uuid::Builder::from_custom_bytes(bytes)
            .into_uuid()
            .to_string(),
    )
}

/// Joins a session. A socket that opens it again leaves it first, or it would get all twice.
async fn session_open(
    shared: &Shared,
    connection: &Connection,
    caller: &Caller,
    open: SessionOpen,
) -> Answer {
    let session = open.session_id;
    connection.unwatch(&shared.engine, &session).await;
    let feed = connection.new_feed();
    let subscriber: Arc<dyn Subscriber> = Arc::clone(&feed) as Arc<dyn Subscriber>;
    let opened = shared
        .engine
        .open(caller, &session, open.epoch, open.last_seq, subscriber)
        .await;
    match opened {
        Ok((opened, subscription)) => {
            connection.watch(session, Arc::clone(&feed), subscription);
            Answer {
                body: Ok(done(opened)),
                feed: Some(feed),
            }
        }
        Err(error) => plain(Err(error.refusal())),
    }
}

fn plain(body: Result<Body, Refusal>) -> Answer {
    Answer {
        body: body.map(done),
        feed: None,
    }
}

fn done<T: Serialize>(body: T) -> Box<RawValue> {
    let done = Done { ok: true, body };
    serde_json::value::to_raw_value(&done).expect("answers are plain data")
}

fn fields(value: Value) -> Body {
    match value {
        Value::Object(fields) => fields,
        other => Body::from_iter([("value".to_owned(), other)]),
    }
}
