//! Commands: read from their text into the types of the protocol, or refused with the place.

use netaclaw_engine::REQUEST_ID_CHARS_MAX;
use netaclaw_protocol::{
    ApprovalResponse, Chat, ClarifyResponse, Compact, ErrorCode, Fork, QueueEdit, Refusal, Rename,
    Retry, SessionId, SessionOpen, SessionRef, SetLabel, SetModel, SetThinkingLevel, Stop,
    SwitchLeaf, Words, command_name as name,
};
use serde::de::DeserializeOwned;

#[derive(Debug)]
pub(super) enum ClientCommand {
    Chat(Box<Chat>),
    Stop(Stop),
    Ping,
    SetThinkingLevel(SetThinkingLevel),
    SetModel(SetModel),
    ClarifyResponse(ClarifyResponse),
    ApprovalResponse(ApprovalResponse),
    Compact(Compact),
    DismissCompaction(SessionRef),
    SessionOpen(SessionOpen),
    SessionClose(SessionRef),
    SwitchLeaf(SwitchLeaf),
    Label(SetLabel),
    Rename(Rename),
    Retry(Retry),
    Fork(Fork),
    QueueEdit(QueueEdit),
}

impl ClientCommand {
    pub(super) fn read(event: &str, payload: &str) -> Result<Self, Refusal> {
        let command = Self::parse(event, payload)?;
        let id = match &command {
            Self::Chat(chat) => chat.request_id.as_deref(),
            Self::Stop(stop) => stop.request_id.as_deref(),
            command => command.request_id(),
        };
        match id {
            Some(id) if id.chars().nth(REQUEST_ID_CHARS_MAX).is_some() => Err(Refusal::new(
                ErrorCode::TooLarge,
                Words::new(
                    format!("requestId 过长：最多 {REQUEST_ID_CHARS_MAX} 个字符"),
                    format!("requestId is too long: at most {REQUEST_ID_CHARS_MAX} characters"),
                ),
            )),
            _ => Ok(command),
        }
    }

    fn parse(event: &str, payload: &str) -> Result<Self, Refusal> {
        Ok(match event {
            name::CHAT => Self::Chat(parse(payload)?),
            name::STOP => Self::Stop(parse(payload)?),
            name::PING => Self::Ping,
            name::SET_THINKING_LEVEL => Self::SetThinkingLevel(parse(payload)?),
            name::SET_MODEL => Self::SetModel(parse(payload)?),
            name::CLARIFY_RESPONSE => Self::ClarifyResponse(parse(payload)?),
            name::APPROVAL_RESPONSE => Self::ApprovalResponse(parse(payload)?),
            name::COMPACT => Self::Compact(parse(payload)?),
            name::DISMISS_COMPACTION => Self::DismissCompaction(parse(payload)?),
            name::SESSION_OPEN => Self::SessionOpen(parse(payload)?),
            name::SESSION_CLOSE => Self::SessionClose(parse(payload)?),
            name::SWITCH_LEAF => Self::SwitchLeaf(parse(payload)?),
            name::LABEL => Self::Label(parse(payload)?),
            name::RENAME => Self::Rename(parse(payload)?),
            name::RETRY => Self::Retry(parse(payload)?),
            name::FORK => Self::Fork(parse(payload)?),
            name::QUEUE_EDIT => Self::QueueEdit(parse(payload)?),
            other => {
                let shown: String = other.chars().take(64).collect();
                let words = Words::new(
                    format!("没有命令 {shown:?}"),
                    format!("there is no command {shown:?}"),
                );
                return Err(Refusal::new(ErrorCode::BadRequest, words));
            }
        })
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Chat(_) => name::CHAT,
            Self::Stop(_) => name::STOP,
            Self::Ping => name::PING,
            Self::SetThinkingLevel(_) => name::SET_THINKING_LEVEL,
            Self::SetModel(_) => name::SET_MODEL,
            Self::ClarifyResponse(_) => name::CLARIFY_RESPONSE,
            Self::ApprovalResponse(_) => name::APPROVAL_RESPONSE,
            Self::Compact(_) => name::COMPACT,
            Self::DismissCompaction(_) => name::DISMISS_COMPACTION,
            Self::SessionOpen(_) => name::SESSION_OPEN,
            Self::SessionClose(_) => name::SESSION_CLOSE,
            Self::SwitchLeaf(_) => name::SWITCH_LEAF,
            Self::Label(_) => name::LABEL,
            Self::Rename(_) => name::RENAME,
            Self::Retry(_) => name::RETRY,
            Self::Fork(_) => name::FORK,
            Self::QueueEdit(_) => name::QUEUE_EDIT,
        }
    }

    /// The session whose commands must stay in order with this one.
    pub(super) fn session(&self) -> Option<&SessionId> {
        match self {
            Self::Chat(chat) => chat.session_id.as_ref(),
            Self::Ping => None,
            Self::Stop(stop) => stop.session_id.as_ref(),
            Self::Compact(command) => Some(&command.session_id),
            Self::DismissCompaction(session) | Self::SessionClose(session) => {
                Some(&session.session_id)
            }
            Self::SetThinkingLevel(command) => Some(&command.session_id),
            Self::SetModel(command) => Some(&command.session_id),
            Self::ClarifyResponse(command) => Some(&command.session_id),
            Self::ApprovalResponse(command) => Some(&command.session_id),
            Self::SessionOpen(command) => Some(&command.session_id),
            Self::SwitchLeaf(command) => Some(&command.session_id),
            Self::Label(command) => Some(&command.session_id),
            Self::Rename(command) => Some(&command.session_id),
            Self::Retry(command) => Some(&command.session_id),
            Self::Fork(command) => Some(&command.session_id),
            Self::QueueEdit(command) => Some(&command.session_id),
        }
    }

    /// The client's own id of the request. A message carries its own to the engine, and what
    /// `clarify_response` calls so is the question.
    pub(super) fn request_id(&self) -> Option<&str> {
        match self {
            Self::SetThinkingLevel(command) => command.request_id.as_deref(),
            Self::SetModel(command) => command.request_id.as_deref(),
            Self::Compact(command) => command.request_id.as_deref(),
            Self::SwitchLeaf(command) => command.request_id.as_deref(),
            Self::Label(command) => command.request_id.as_deref(),
            Self::Rename(command) => command.request_id.as_deref(),
            Self::Retry(command) => command.request_id.as_deref(),
            Self::Fork(command) => command.request_id.as_deref(),
            Self::QueueEdit(command) => command.request_id.as_deref(),
            _ => None,
        }
    }

    /// Whether a credential that may only read is enough.
    pub(super) fn only_reads(&self) -> bool {
        matches!(
            self,
            Self::Ping | Self::SessionOpen(_) | Self::SessionClose(_)
        )
    }
}

fn parse<T: DeserializeOwned>(payload: &str) -> Result<T, Refusal> {
    let json = &mut serde_json::Deserializer::from_str(payload);
    serde_path_to_error::deserialize(json).map_err(|error| {
        let path = error.path().to_string();
        let problem = without_place(&error.into_inner().to_string());
        let message = match path.as_str() {
            "." => problem,
            path => format!("{path}: {problem}"),
        };
        let zh = format!("命令内容有误：{message}");
        Refusal::new(ErrorCode::BadRequest, Words::new(zh, message))
    })
}

/// Line and column in a text that the client's library has made help nobody.
fn without_place(problem: &str) -> String {
    let end = problem.rfind(" at line ").unwrap_or(problem.len());
    problem[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(event: &str, payload: &str) -> String {
        ClientCommand::read(event, payload).unwrap_err().message
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        assert_eq!(
            refusal("chat", r#"{"content":7}"#),
            "content: invalid type: integer `7`, expected a string"
        );
        assert_eq!(
            refusal("chat", r#"{"content":"a","attachments":[{"name":1}]}"#),
            "attachments[0].name: invalid type: integer `1`, expected a string"
        );
        assert_eq!(refusal("rename", "{}"), "missing field `sessionId`");
        assert_eq!(refusal("dance", "{}"), "there is no command \"dance\"");
        assert!(refusal("chat", r#""hello""#).contains("invalid type"));
    }

    #[test]
    fn unknown_fields_are_ignored() {
        let command = ClientCommand::read("stop", r#"{"sessionId":"s","later":true}"#);
        assert_eq!(command.unwrap().session().unwrap().as_str(), "s");
    }
}
