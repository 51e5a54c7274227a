//! What each command asks of the engine, and how it is answered.

use super::command::ClientCommand;
use super::connection::{Connection, notice};
use super::feed::SessionFeed;
use crate::auth::only_reads;
use crate::gateway::Shared;
use netaclaw_engine::{Caller, Done, EngineError, Request, Subscriber, Way};
use netaclaw_protocol::{
    Chat, ChatAck, ChatModel, CompactAck, ErrorCode, Forked, Nothing, Notice, QueueEdited, Refusal,
    Renamed, Retried, RunState, SessionChange, SessionId, SessionOpen, SetModel, Stop, Stopped,
    SwitchLeafAck, SwitchStatus, Words,
};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Duration;

/// How often another process's session is looked at for a message, and how long between.
const ELSEWHERE_LOOKS: u32 = 20;
const ELSEWHERE_PAUSE: Duration = Duration::from_millis(50);

pub(super) struct Answer {
    pub(super) body: Result<Box<RawValue>, Refusal>,
    /// Holds events back until the answer is on its way.
    pub(super) feed: Option<Arc<SessionFeed>>,
}

impl Answer {
    /// Of a command that came to no end.
    pub(super) fn failed() -> Self {
        let words = crate::error::internal().words;
        plain(Err(Refusal::new(ErrorCode::Internal, words)))
    }
}

type Body = Map<String, Value>;

#[derive(Serialize)]
struct Acknowledged<T> {
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
        ClientCommand::Chat(chat) if chat.session_id.is_none() => {
            begin_session(shared, connection, &caller, *chat).await
        }
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
            let request = command.request_id().map(|id| {
                let content = format!("{} {content}", command.name());
                Request::new(id, &content)
            });
            plain(change(shared, &caller, command, request).await)
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
        return Err(Refusal::new(ErrorCode::Forbidden, only_reads()));
    }
    Ok(identity.caller())
}

/// Everything that changes a session.
async fn change(
    shared: &Arc<Shared>,
    caller: &Caller,
    command: ClientCommand,
    request: Option<Request>,
) -> Result<Body, Refusal> {
    let engine = &shared.engine;
    let refusal = |error: EngineError| error.refusal();
    let done = match command {
        ClientCommand::Chat(chat) => {
            let ack = engine.chat(caller, *chat).await.map_err(refusal)?;
            return Ok(fields(json!(ack)));
        }
        ClientCommand::Stop(stop) => {
            let status = stop_run(shared, caller, stop).await.map_err(refusal)?;
            return Ok(fields(json!(Stopped { status })));
        }
        ClientCommand::SetThinkingLevel(set) => {
            engine
                .set_thinking_level(caller, &set.session_id, set.level, request)
                .await
        }
        ClientCommand::SetModel(choice) => engine.set_model(caller, choice, request).await,
        ClientCommand::ClarifyResponse(answer) => engine.answer_question(caller, answer).await,
        ClientCommand::Label(set) => {
            engine
                .label(caller, &set.session_id, set.entry_id, set.label, request)
                .await
        }
        ClientCommand::Rename(rename) => {
            let change = SessionChange {
                title: Some(rename.title),
                ..SessionChange::default()
            };
            let renamed = engine.update(caller, &rename.session_id, change, request);
            let Done { value, deduped } = renamed.await.map_err(refusal)?;
            return Ok(told(Renamed { session: value }, deduped));
        }
        ClientCommand::Retry(retry) => {
            let started = engine.retry(caller, &retry.session_id, retry.entry_id, request);
            let Done { value, deduped } = started.await.map_err(refusal)?;
            return Ok(told(Retried { run_id: value }, deduped));
        }
        ClientCommand::Fork(fork) => {
            let forked = engine.fork(caller, &fork.session_id, fork.entry_id, request);
            let Done { value, deduped } = forked.await.map_err(refusal)?;
            let forked = Forked {
                session_id: value.session.session_id.clone(),
                session: value,
            };
            return Ok(told(forked, deduped));
        }
        ClientCommand::QueueEdit(edit) => {
            let edited = engine.edit_queue(caller, &edit.session_id, edit.change, request);
            let Done { value, deduped } = edited.await.map_err(refusal)?;
            return Ok(told(QueueEdited { queue: value }, deduped));
        }
        ClientCommand::SwitchLeaf(switch) => {
            let way = match switch.follow {
                true => Way::Follow,
                false => Way::Exactly,
            };
            let (session, leaf) = (&switch.session_id, switch.leaf_entry_id);
            let switched = match switch.summarize {
                true => {
                    engine
                        .leave_branch(caller, session, leaf, way, request)
                        .await
                }
                false => {
                    let moved = engine.switch_leaf(caller, session, leaf, way, request);
                    moved.await.map(|Done { deduped, .. }| Done {
                        value: SwitchStatus::Moved,
                        deduped,
                    })
                }
            };
            let Done { value, deduped } = switched.map_err(refusal)?;
            return Ok(told(SwitchLeafAck { status: value }, deduped));
        }
        ClientCommand::DismissCompaction(session) => {
            let dismissed = engine.dismiss_compaction(caller, &session.session_id).await;
            return dismissed.map(|()| Body::new()).map_err(refusal);
        }
        ClientCommand::Compact(compact) => {
            let begun = engine.compact(caller, &compact.session_id, compact.instructions, request);
            let Done { value, deduped } = begun.await.map_err(refusal)?;
            return Ok(told(CompactAck { status: value }, deduped));
        }
        ClientCommand::ApprovalResponse(response) => {
            let decided = engine.decide_call(caller, response).await;
            return decided.map(|()| Body::new()).map_err(refusal);
        }
        ClientCommand::Ping | ClientCommand::SessionOpen(_) | ClientCommand::SessionClose(_) => {
            return Ok(Body::new());
        }
    };
    Ok(told(json!({}), done.map_err(refusal)?.deduped))
}

/// The answer, which says so if it repeats an earlier one.
fn told(body: impl Serialize, deduped: bool) -> Body {
    let mut body = fields(json!(body));
    if deduped {
        body.insert("deduped".to_owned(), Value::Bool(true));
    }
    body
}

/// Stops what runs. A message that is named is stopped also if it has not come yet: that is noted
/// first, so that it cannot slip through.
async fn stop_run(shared: &Shared, caller: &Caller, stop: Stop) -> Result<RunState, EngineError> {
    let engine = &shared.engine;
    if let Some(request) = &stop.request_id {
        engine.stop_on_arrival(caller, request);
    }
    match (stop.session_id, stop.request_id) {
        (Some(session), _) => engine.stop(caller, &session).await,
        (None, Some(request)) => {
            let session = session_of_request(&caller.user_id, &request);
            match engine.stop(caller, &session).await {
                Err(EngineError::NoSession) => Ok(RunState::Idle),
                stopped => stopped,
            }
        }
        (None, None) => Err(EngineError::BadRequest(
            "missing field `sessionId`, or `requestId` of the message".to_owned(),
        )),
    }
}

/// Takes in the first message of a session. Its sender hears of all that comes of it: it listens
/// before the message is there.
async fn begin_session(
    shared: &Shared,
    connection: &Connection,
    caller: &Caller,
    mut chat: Chat,
) -> Answer {
    let session = match first_session(shared, caller, &chat).await {
        Ok(session) => session,
        Err(refusal) => return plain(Err(refusal)),
    };
    chat.session_id = Some(session.clone());
    if connection.watches(&session) {
        // The message was sent before, and its sender listens already.
        let ack = say_first(shared, caller, &session, chat).await;
        let ack = ack.map(|ack| fields(json!(ack)));
        return plain(ack.map_err(|error| error.refusal()));
    }
    let request = Request::of_chat(&chat);
    let feed = connection.new_feed();
    let subscriber: Arc<dyn Subscriber> = Arc::clone(&feed) as Arc<dyn Subscriber>;
    let listening = shared.engine.listen(caller, &session, subscriber).await;
    let (start, subscription) = match listening {
        Ok(listening) => listening,
        Err(error) => return refused_first(shared, caller, &session, request, error).await,
    };
    connection.watch(session.clone(), Arc::clone(&feed), subscription);
    match say_first(shared, caller, &session, chat).await {
        Ok(ack) => Answer {
            body: Ok(done(ChatAck {
                feed: Some(start),
                ..ack
            })),
            feed: Some(feed),
        },
        Err(error) => {
            connection.unwatch(&shared.engine, &session).await;
            refused_first(shared, caller, &session, request, error).await
        }
    }
}

/// What a first message is answered that could not be taken in here. It may have reached another
/// process as well, which has the session open and acknowledges the message.
async fn refused_first(
    shared: &Shared,
    caller: &Caller,
    session: &SessionId,
    request: Option<Request>,
    error: EngineError,
) -> Answer {
    let answered = match (&error, request) {
        (EngineError::Busy(_), Some(request)) => {
            answered_elsewhere(shared, caller, session, &request).await
        }
        _ => None,
    };
    let ack = answered.map(|ack| fields(json!(ack)));
    plain(ack.ok_or_else(|| error.refusal()))
}

/// The answer of another process, which stores the message within moments.
async fn answered_elsewhere(
    shared: &Shared,
    caller: &Caller,
    session: &SessionId,
    request: &Request,
) -> Option<ChatAck> {
    for _ in 0..ELSEWHERE_LOOKS {
        let answered = shared
            .engine
            .answered_elsewhere(caller, session, Some(request));
        if let Some(ack) = answered.await {
            return Some(ack);
        }
        tokio::time::sleep(ELSEWHERE_PAUSE).await;
    }
    None
}

/// The first message, after what it chooses for its session. However often it is sent, the choice is
/// made once, and what was chosen later stays.
async fn say_first(
    shared: &Shared,
    caller: &Caller,
    session: &SessionId,
    chat: Chat,
) -> Result<ChatAck, EngineError> {
    let engine = &shared.engine;
    let part = |of: &str, said: &str| {
        let request = chat.request_id.as_ref()?;
        Some(Request::new(format!("{request}/{of}"), said))
    };
    if let Some(ChatModel {
        channel_id,
        model_id,
    }) = chat.model.clone()
    {
        let request = part("model", &format!("{channel_id}/{model_id}"));
        let choice = SetModel {
            session_id: session.clone(),
            channel_id,
            model_id,
            request_id: None,
        };
        engine.set_model(caller, choice, request).await?;
    }
    if let Some(level) = chat.thinking_level {
        let request = part("thinking", level.as_str());
        engine
            .set_thinking_level(caller, session, level, request)
            .await?;
    }
    engine.chat(caller, chat).await
}

/// The session that a first message begins. It is named by the request, so that a client that
/// heard no answer and asks again, even of another process, gets the same one.
async fn first_session(
    shared: &Shared,
    caller: &Caller,
    chat: &Chat,
) -> Result<SessionId, Refusal> {
    if chat.content.trim().is_empty() && chat.attachments.is_empty() {
        let words = Words::new("消息为空", "the message is empty");
        return Err(Refusal::new(ErrorCode::BadRequest, words));
    }
    let request = chat.request_id.as_deref();
    let id = request.map(|request| session_of_request(&caller.user_id, request));
    let made = shared.engine.begin_session(caller, chat, id).await;
    made.map_err(|error| error.refusal())
}

pub(super) fn session_of_request(user_id: &str, request_id: &str) -> SessionId {
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
    let acknowledged = Acknowledged { ok: true, body };
    serde_json::value::to_raw_value(&acknowledged).expect("answers are plain data")
}

fn fields(value: Value) -> Body {
    match value {
        Value::Object(fields) => fields,
        other => Body::from_iter([("value".to_owned(), other)]),
    }
}
