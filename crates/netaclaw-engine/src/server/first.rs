//! Messages: to a session, and the first one of a session. An invalid first message is refused
//! before a session is created.

use super::execute::check;
use super::{Caller, Engine};
use crate::attachments::{self, AttachmentError, owner_of};
use crate::error::EngineError;
use crate::session::command::Handle;
use crate::session::durable::PersistedState;
use crate::session::requests::{Outcome, Request, Requests};
use crate::session::slash::is_compact_command;
use crate::source::ChosenModel;
use netaclaw_protocol::{
    Ack, BadRequest, Chat, ChatAck, ChatModel, SessionId, SetModel, SetThinkingLevel, now_ms,
};
use netaclaw_session::RequestKey;
use sha2::{Digest, Sha256};
use std::time::Duration;
use uuid::Uuid;

/// How often another process's session is looked at for a message, and how long between.
const ELSEWHERE_LOOKS: u32 = 20;
const ELSEWHERE_PAUSE: Duration = Duration::from_millis(50);

impl Engine {
    /// Sends a message to its session.
    pub(crate) async fn chat(
        &self,
        caller: &Caller,
        chat: Chat,
    ) -> Result<Ack<ChatAck>, EngineError> {
        let session = chat.session_id.clone().ok_or(EngineError::NoSession)?;
        let (request, id) = (chat.request(), chat.request_id.clone());
        let ack = match self.deliver(caller, chat, request.clone()).await {
            Err(EngineError::Busy(why)) => {
                let answered = self.answered_elsewhere(caller, &session, request.as_ref());
                let ack = answered.await.ok_or(EngineError::Busy(why))?;
                return Ok(Ack::deduped(ack));
            }
            ack => ack?,
        };
        // Looked for when the message is there: a stop that comes later finds its run.
        let stopped = id.is_some_and(|id| self.inner.early_stops.take(&caller.user_id, &id));
        if stopped && !ack.deduped {
            self.stop_run(caller, &session).await?;
        }
        Ok(ack)
    }

    /// Makes the session that a first message begins, or finds it if the message came before, or
    /// names one that is there. A message that would be refused leaves none behind.
    pub async fn begin_session(
        &self,
        caller: &Caller,
        chat: &Chat,
    ) -> Result<SessionId, EngineError> {
        if chat.content.trim().is_empty() && chat.attachments.is_empty() {
            return Err(BadRequest::MessageEmpty.into());
        }
        check(caller, chat)?;
        if let Some(session) = &chat.session_id {
            if !session.is_safe() {
                let id = session.to_string();
                return Err(BadRequest::NotASessionId { id }.into());
            }
            match self.inner.providers.find(caller, session).await {
                // It may be another user's, or deleted.
                Err(EngineError::NoSession) if !self.inner.providers.is_taken(session).await? => {}
                found => return found.map(|_| session.clone()),
            }
        }
        if is_compact_command(&chat.content) {
            return Err(BadRequest::NothingToCompact.into());
        }
        let request = chat.request_id.as_deref();
        let request = request.map(|request| request_key(&caller.user_id, request));
        // What is wrong with it now was right when it came before.
        if has_choices(chat)
            && let Err(refused) = self.check_first(chat).await
        {
            let begun = self.begun_by(caller, request.as_ref()).await?;
            return begun.ok_or(refused);
        }
        let of_request = || request.as_ref().map(|request| request.session_id(now_ms()));
        let id = chat.session_id.clone().or_else(of_request);
        let id = id.unwrap_or_else(|| SessionId::new(Uuid::now_v7().to_string()));
        let usage = &self.inner.usage;
        if let Err(limited) = usage.reserve(&caller.user_id, &id) {
            // A message that was accepted before gets the same answer.
            let begun = self.begun_by(caller, request.as_ref()).await?;
            return begun.ok_or_else(|| limited.into());
        }
        let made = self
            .make_session(caller, chat.agent(), Some(id.clone()))
            .await;
        if !matches!(&made, Ok(made) if *made == id) {
            usage.release(&caller.user_id, &id);
        }
        made
    }

    /// The session that a first message with this request has begun.
    pub(super) async fn begun_by(
        &self,
        caller: &Caller,
        request: Option<&RequestKey>,
    ) -> Result<Option<SessionId>, EngineError> {
        let Some(request) = request else {
            return Ok(None);
        };
        for provider in self.inner.providers.all() {
            if let Some(session) = provider.session_of_request(request).await?
                && self.inner.providers.find(caller, &session).await.is_ok()
            {
                return Ok(Some(session));
            }
        }
        Ok(None)
    }

    /// Sends the first message of a session, after the settings for its session. However often it
    /// is sent, the settings are applied once, and later changes stay.
    pub async fn chat_first(
        &self,
        caller: &Caller,
        session: &SessionId,
        mut chat: Chat,
    ) -> Result<Ack<ChatAck>, EngineError> {
        chat.session_id = Some(session.clone());
        self.choose(caller, session, &chat).await?;
        self.chat(caller, chat).await
    }

    /// The answer to a first message that could not be sent here. It may have reached another
    /// process as well, which has the session open and stores the message within moments.
    pub async fn refused_first(
        &self,
        caller: &Caller,
        session: &SessionId,
        request: Option<Request>,
        error: EngineError,
    ) -> Result<Ack<ChatAck>, EngineError> {
        if !matches!(error, EngineError::Busy(_)) || request.is_none() {
            return Err(error);
        }
        for _ in 0..ELSEWHERE_LOOKS {
            let answered = self.answered_elsewhere(caller, session, request.as_ref());
            if let Some(ack) = answered.await {
                return Ok(Ack::deduped(ack));
            }
            tokio::time::sleep(ELSEWHERE_PAUSE).await;
        }
        Err(error)
    }

    /// What a first message chooses for its session.
    async fn choose(
        &self,
        caller: &Caller,
        session: &SessionId,
        chat: &Chat,
    ) -> Result<(), EngineError> {
        let part = |of: &str, content: &str| {
            let request = chat.request_id.as_ref()?;
            Some(Request::new(format!("{request}/{of}"), content))
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
            self.deliver(caller, choice, request).await?;
        }
        if let Some(level) = chat.thinking_level {
            let request = part("thinking", level.as_str());
            let choice = SetThinkingLevel {
                session_id: session.clone(),
                level,
                request_id: None,
            };
            self.deliver(caller, choice, request).await?;
        }
        Ok(())
    }

    /// The answer to a message that another process, which has the session open, has stored
    /// already.
    async fn answered_elsewhere(
        &self,
        caller: &Caller,
        session: &SessionId,
        request: Option<&Request>,
    ) -> Option<ChatAck> {
        let request = request?;
        let (provider, meta) = self.inner.providers.find(caller, session).await.ok()?;
        let tree = provider.load_tree(session).await.ok()?;
        let requests = Requests::read(&tree, &PersistedState::read(&meta));
        match requests.repeat(Some(request), now_ms()) {
            Ok(Some(Outcome::Chat(ack))) => Some(ack.clone()),
            _ => None,
        }
    }

    /// Refuses a message that no new session could accept.
    async fn check_first(&self, chat: &Chat) -> Result<(), EngineError> {
        if let Some(leaf) = &chat.leaf_entry_id {
            return Err(EngineError::StaleParent(leaf.clone()));
        }
        attachments::load(self.attachments(), &chat.attachments).await?;
        match &chat.model {
            Some(model) => {
                let chosen = ChosenModel {
                    channel_id: model.channel_id.clone(),
                    model_id: model.model_id.clone(),
                };
                let source = &self.inner.source;
                source.check_model(chat.agent(), &chosen).await
            }
            None => Ok(()),
        }
    }
}

fn has_choices(chat: &Chat) -> bool {
    chat.leaf_entry_id.is_some() || !chat.attachments.is_empty() || chat.model.is_some()
}

/// Files of others do not exist for a user.
pub(crate) fn own_files(caller: &Caller, chat: &Chat) -> Result<(), EngineError> {
    let files = chat.attachments.iter();
    let files = files.filter_map(|file| file.id.as_deref());
    let mut others = files.filter(|id| owner_of(id) != Some(&caller.user_id));
    match !caller.is_admin && others.next().is_some() {
        true => Err(AttachmentError::NotFound.into()),
        false => Ok(()),
    }
}

/// What the ids of sessions have in common that first messages with this request begin: a client
/// that received no answer and retries, even with another process, gets the same session.
pub fn request_key(user_id: &str, request_id: &str) -> RequestKey {
    let mut hash = Sha256::new();
    // The length keeps "a" + "bc" and "ab" + "c" apart.
    hash.update((user_id.len() as u64).to_le_bytes());
    hash.update(user_id);
    hash.update(request_id);
    let digest = hash.finalize();
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&digest[..8]);
    RequestKey::new(u64::from_be_bytes(bytes))
}
