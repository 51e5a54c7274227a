//! Messages: started, queued, steered, or taken as an answer. There is no other case.

use super::LiveSession;
use super::agent::agent_named;
use crate::error::EngineError;
use crate::server::{Caller, Engine, first};
use crate::session::command::Handle;
use crate::session::durable::Queued;
use crate::session::requests::{AnsweredRequest, Outcome, Request};
use crate::session::slash::{compact_command, escaped};
use crate::session::user_message::UserMark;
use crate::source::AgentRef;
use netaclaw_protocol::{
    Ack, BadRequest, Chat, ChatAck, ChatMode, Disposition, QueueItem, RunId, now_ms,
};
use netaclaw_session::NewEntry;
use serde_json::json;
use uuid::Uuid;

impl Handle for Chat {
    fn check(&self, caller: &Caller) -> Result<(), EngineError> {
        first::own_files(caller, self)
    }

    /// A repeated message is recognized by its content, whatever else it carries.
    fn request(&self) -> Option<Request> {
        Request::of_chat(self)
    }

    async fn execute(self, engine: &Engine, caller: &Caller) -> Result<Ack<ChatAck>, EngineError> {
        if self.session_id.is_some() {
            match engine.chat(caller, self.clone()).await {
                // Its sender has chosen the id of a session that it begins.
                Err(EngineError::NoSession) => {}
                answered => return answered,
            }
        }
        let session = engine.begin_session(caller, &self).await?;
        let request = self.request();
        match engine.chat_first(caller, &session, self).await {
            Err(error) => {
                let refused = engine.refused_first(caller, &session, request, error);
                refused.await
            }
            sent => sent,
        }
    }

    async fn handle(
        self,
        session: &mut LiveSession,
        _: &Caller,
        request: Option<Request>,
    ) -> Result<Ack<ChatAck>, EngineError> {
        if let Some(focus) = compact_command(&self.content) {
            return session.compact_by_message(focus, request).await;
        }
        let taken = session.chat(self, request).await;
        // What was refused has begun nothing.
        let runs = session.current.is_some();
        session.allowance.keep_while(runs);
        taken.map(Ack::new)
    }
}

impl LiveSession {
    async fn chat(&mut self, chat: Chat, request: Option<Request>) -> Result<ChatAck, EngineError> {
        if chat.content.trim().is_empty() && chat.attachments.is_empty() {
            return Err(BadRequest::MessageEmpty.into());
        }
        let ack = self.accept_message(&chat, request.as_ref()).await?;
        // Before anything else can fail: an accepted message is not accepted again.
        if let Some(request) = request {
            let outcome = Outcome::Chat(ack.clone());
            let answered = AnsweredRequest::new(request, now_ms(), outcome);
            self.requests.remember(answered);
        }
        if ack.disposition == Disposition::Started {
            self.make_durable().await?;
        }
        Ok(ack)
    }

    /// Carries out the command `/compact` that came as a message.
    async fn compact_by_message(
        &mut self,
        focus: Option<String>,
        request: Option<Request>,
    ) -> Result<Ack<ChatAck>, EngineError> {
        let status = self.compact(focus)?;
        let ack = ChatAck {
            compaction: Some(status),
            ..self.ack(Disposition::Compacting)
        };
        let outcome = Outcome::Chat(ack.clone());
        self.record(request, outcome, async |_| Ok(())).await?;
        Ok(Ack::new(ack))
    }

    /// Makes the message that began the run safe from a power cut, while the run makes ready. If it
    /// cannot be made safe the run ends; a sender that repeats the request has it tried again.
    async fn make_durable(&self) -> Result<(), EngineError> {
        let synced = self.writer.sync().await;
        if synced.is_err()
            && let Some(run) = &self.current
        {
            run.cancel.cancel();
        }
        synced
    }

    async fn accept_message(
        &mut self,
        chat: &Chat,
        request: Option<&Request>,
    ) -> Result<ChatAck, EngineError> {
        let agent = agent_named(&*self.source, chat.agent()).await?;
        let switches = match &agent {
            Some(agent) => self.writer.meta().await?.agent_id.as_ref() != Some(&agent.id),
            None => false,
        };
        // While a question is open, a text message is its answer: the user answers what is on the
        // screen. An answer cannot carry images, so a message with some is one of its own, and so
        // is one for another agent.
        let plain = chat.leaf_entry_id.is_none() && chat.attachments.is_empty() && !switches;
        if chat.mode == ChatMode::Auto
            && plain
            && let Some(question) = self.live.read(|state| state.questions.first())
        {
            let ack = self.ack(Disposition::AnsweredClarify);
            let by = request.map(|request| {
                let outcome = Outcome::Chat(ack.clone());
                AnsweredRequest::new(request.clone(), now_ms(), outcome)
            });
            let answer = escaped(&chat.content).unwrap_or(&chat.content);
            self.answer_question(&question, &json!(answer), by).await?;
            return Ok(ack);
        }
        if self.current.is_some() {
            self.allowance.queue()?;
            // The current run is another agent's.
            let mode = match chat.mode {
                ChatMode::Steer if switches => ChatMode::Queue,
                mode => mode,
            };
            return self.enqueue(chat, mode, agent, request).await;
        }
        self.allowance.begin()?;
        if let Some(parent) = &chat.leaf_entry_id {
            self.writer.must_contain(parent).await?;
        }
        // The conversation continues without an answer to what a dead run had asked.
        self.questions.dismiss().await?;
        let run_id = RunId::new(Uuid::now_v7().to_string());
        let mark = request.map_or_else(UserMark::default, |request| UserMark {
            request_id: Some(request.id.clone()),
            fingerprint: Some(request.fingerprint.clone()),
            run_id: Some(run_id.clone()),
            ..UserMark::default()
        });
        let body = self
            .writer
            .user_message(&chat.content, &chat.attachments, mark)
            .await?;
        let new = match &chat.leaf_entry_id {
            Some(parent) => NewEntry::below(Some(parent.clone()), body),
            None => NewEntry::at_leaf(body),
        };
        let entry_id = self.start(new, run_id.clone(), agent).await?;
        Ok(ChatAck {
            entry_id: Some(entry_id),
            run_id: Some(run_id),
            ..self.ack(Disposition::Started)
        })
    }

    /// Keeps a message for later. It is durable before it is acknowledged.
    async fn enqueue(
        &mut self,
        chat: &Chat,
        mode: ChatMode,
        agent: Option<AgentRef>,
        request: Option<&Request>,
    ) -> Result<ChatAck, EngineError> {
        if let Some(parent) = &chat.leaf_entry_id {
            self.writer.must_contain(parent).await?;
        }
        self.writer.keep_files(&chat.attachments).await?;
        let item_id = Uuid::now_v7().to_string();
        let mut writing = self.writer.begin().await;
        let queued = Queued {
            item: QueueItem {
                item_id: item_id.clone(),
                content: chat.content.clone(),
                attachments: chat.attachments.clone(),
                mode,
                queued_at: now_ms(),
                held: false,
                unsupported: false,
            },
            leaf_entry_id: chat.leaf_entry_id.clone(),
            agent_id: agent.map(|agent| agent.id),
            request_id: request.map(|request| request.id.clone()),
            fingerprint: request.map(|request| request.fingerprint.clone()),
            place: 0,
        };
        let disposition = queued.disposition();
        let pushed = writing.change(|durable| durable.queue.push(queued));
        pushed.await?;
        Ok(ChatAck {
            item_id: Some(item_id),
            ..self.ack(disposition)
        })
    }

    fn ack(&self, disposition: Disposition) -> ChatAck {
        ChatAck {
            session_id: self.writer.id.clone(),
            entry_id: None,
            run_id: self.current.as_ref().and_then(|run| run.id.clone()),
            item_id: None,
            disposition,
            compaction: None,
            feed: None,
        }
    }
}
