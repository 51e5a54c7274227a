//! Trial runs of skills, and the log of their steps.

use super::{Caller, Engine};
use crate::error::EngineError;
use crate::process_log::unreadable;
use crate::session::approvals::AllowCall;
use crate::skills::skill_call_id;
use netaclaw_protocol::{
    BadRequest, Chat, NotFound, ProcessLogPage, SessionId, SkillTried, SkillTry, ToolLabel,
    Unavailable,
};
use netaclaw_tools::EXECUTE_SKILL;
use serde_json::{Value, json};

impl Engine {
    /// A page of the log of an operation. Access to the session is enough.
    pub async fn process_log(
        &self,
        caller: &Caller,
        session: &SessionId,
        operation: &str,
        page: u32,
        size: u32,
    ) -> Result<ProcessLogPage, EngineError> {
        self.inner.providers.find(caller, session).await?;
        let found = match &self.inner.beside.logs {
            Some(logs) => logs.page(session, operation, page, size).await,
            None => Ok(None),
        };
        Ok(found.map_err(unreadable)?.ok_or(NotFound::NoProcessLog)?)
    }

    /// Runs a skill with an input in a session of its own, as a message would that names it.
    pub async fn try_skill(
        &self,
        caller: &Caller,
        name: &str,
        wanted: SkillTry,
    ) -> Result<SkillTried, EngineError> {
        let input = match wanted.input {
            input @ Value::Object(_) => input,
            Value::Null => Value::Object(serde_json::Map::new()),
            _ => return Err(BadRequest::SkillInputNotAnObject.into()),
        };
        let chat = Chat {
            content: format!("/skill {name} {input}"),
            agent_name: wanted.agent_name,
            ..Chat::default()
        };
        let session = self.begin_session(caller, &chat).await?;
        // A user who starts a skill with an input allows this call by doing so.
        let allowed = AllowCall {
            by: caller.clone(),
            tool_name: EXECUTE_SKILL,
            tool_label: ToolLabel {
                zh: "运行技能".to_owned(),
                en: "Run skill".to_owned(),
            },
            args: json!({ "name": name, "input": input }),
        };
        self.ask(caller, &session, allowed).await?;
        let ack = self.chat_first(caller, &session, chat).await?.answer;
        let message = ack.entry_id.ok_or(Unavailable::ShuttingDown)?;
        Ok(SkillTried {
            session_id: ack.session_id,
            tool_call_id: skill_call_id(&message),
        })
    }
}
