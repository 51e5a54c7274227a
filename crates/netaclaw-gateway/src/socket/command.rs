//! Commands: read from their text into the types of the protocol, or refused with the place.

use netaclaw_protocol::{ClientCommand, ErrorCode, Refusal, Words};
use serde_path_to_error::{Deserializer, Track};

pub(super) fn read(event: &str, payload: &str) -> Result<ClientCommand, Refusal> {
    let json = &mut serde_json::Deserializer::from_str(payload);
    let mut track = Track::new();
    let read = ClientCommand::read(event, Deserializer::new(json, &mut track));
    let Some(read) = read else {
        let shown: String = event.chars().take(64).collect();
        let words = Words::new(
            format!("没有命令 {shown:?}"),
            format!("there is no command {shown:?}"),
        );
        return Err(Refusal::new(ErrorCode::BadRequest, words));
    };
    read.map_err(|error| {
        let problem = without_place(&error.to_string());
        let message = match track.path().to_string().as_str() {
            "." => problem,
            path => format!("{path}: {problem}"),
        };
        let zh = format!("命令内容有误：{message}");
        Refusal::new(ErrorCode::BadRequest, Words::new(zh, message))
    })
}

/// Line and column in a text that the client's library has generated do not help.
fn without_place(problem: &str) -> String {
    let end = problem.rfind(" at line ").unwrap_or(problem.len());
    problem[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(event: &str, payload: &str) -> String {
        read(event, payload).unwrap_err().message
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
        let command = read("stop", r#"{"sessionId":"s","later":true}"#).unwrap();
        assert_eq!(command.session_id().unwrap().as_str(), "s");
        assert_eq!(read("ping", r#""anything""#).unwrap().name(), "ping");
    }
}
