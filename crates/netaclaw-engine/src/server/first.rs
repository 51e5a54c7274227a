//! The first message of a session: what is wrong with it is said before there is a session.

use super::{Caller, Engine};
use crate::attachments::{self, AttachmentError, owner_of};
use crate::error::EngineError;
use crate::events::feed::now_ms;
use crate::session::durable::Durable;
use crate::session::requests::{Outcome, Request, Requests};
use crate::source::ChosenModel;
use netaclaw_protocol::{Chat, ChatAck, SessionId};
use uuid::Uuid;

impl Engine {
    /// The session that a first message begins. With an id of the caller's choice it is made once:
    /// whoever sends the message again gets the one that is there. A message that would be refused
    /// leaves none behind.
    pub async fn begin_session(
        &self,
        caller: &Caller,
        chat: &Chat,
        id: Option<SessionId>,
    ) -> Result<SessionId, EngineError> {
        // Most messages choose nothing that could be wrong, and need not look whether the session
        // is there already.
        if has_choices(chat) {
            if let Some(id) = &id
                && self.find(caller, id).await.is_ok()
            {
                return Ok(id.clone());
            }
            self.check_first(caller, chat).await?;
        }
        let agent = chat.agent_id.as_deref().or(chat.agent_name.as_deref());
        let id = id.unwrap_or_else(|| SessionId::new(Uuid::now_v7().to_string()));
        let usage = &self.inner.usage;
        if let Err(limited) = usage.reserve(&caller.user_id, &id) {
            // A message that was taken in before is answered as it was then.
            return match self.find(caller, &id).await {
                Ok(_) => Ok(id),
                Err(_) => Err(limited.into()),
            };
        }
        let made = self.make_session(caller, agent, Some(id.clone())).await;
        if made.is_err() {
            usage.release(&caller.user_id, &id);
        }
        made
    }

    /// The answer to a message that another process, which has the session open, has stored already.
    pub async fn answered_elsewhere(
        &self,
        caller: &Caller,
        session: &SessionId,
        request: Option<&Request>,
    ) -> Option<ChatAck> {
        let request = request?;
        let (provider, meta) = self.find(caller, session).await.ok()?;
        let tree = provider.load_tree(session).await.ok()?;
        let requests = Requests::read(&tree, &Durable::read(&meta));
        match requests.repeat(Some(request), now_ms()) {
            Ok(Some(Outcome::Chat(ack))) => Some(ChatAck {
                deduped: true,
                ..ack.clone()
            }),
            _ => None,
        }
    }

    /// Refuses a message that no new session could take in.
    pub async fn check_first(&self, caller: &Caller, chat: &Chat) -> Result<(), EngineError> {
        if let Some(leaf) = &chat.leaf_entry_id {
            return Err(EngineError::StaleParent(leaf.to_string()));
        }
        own_files(caller, chat)?;
        attachments::load(self.attachments(), &chat.attachments).await?;
        match &chat.model {
            Some(model) => {
                let agent = chat.agent_id.as_deref().or(chat.agent_name.as_deref());
                let chosen = ChosenModel {
                    channel_id: model.channel_id.clone(),
                    model_id: model.model_id.clone(),
                };
                self.inner.source.check_model(agent, &chosen).await
            }
            None => Ok(()),
        }
    }
}

fn has_choices(chat: &Chat) -> bool {
    chat.leaf_entry_id.is_some() || !chat.attachments.is_empty() || chat.model.is_some()
}

/// Files of others do not exist for a user.
pub(super) fn own_files(caller: &Caller, chat: &Chat) -> Result<(), EngineError> {
    let files = chat.attachments.iter();
    let files = files.filter_map(|file| file.id.as_deref());
    let mut others = files.filter(|id| owner_of(id) != Some(&caller.user_id));
    match !caller.is_admin && others.next().is_some() {
        true => Err(AttachmentError::NotFound.into()),
        false => Ok(()),
    }
}
