//! Parses commands into the types of the protocol, or refuses them with the position of the error.

use netaclaw_protocol::{BadRequest, ClientCommand, Refusal};
use serde_path_to_error::{Deserializer, Track};

pub(super) fn read(event: &str, payload: &str) -> Result<ClientCommand, Refusal> {
    let json = &mut serde_json::Deserializer::from_str(payload);
    let mut track = Track::new();
    let read = ClientCommand::read(event, Deserializer::new(json, &mut track));
    let Some(read) = read else {
        let name = event.chars().take(64).collect();
        return Err(Refusal::new(BadRequest::UnknownCommand { name }));
    };
    read.map_err(|error| {
        let problem = without_place(&error.to_string());
        let detail = match track.path().to_string().as_str() {
            "." => problem,
            path => format!("{path}: {problem}"),
        };
        Refusal::new(BadRequest::CommandNotAsExpected { detail })
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
    fn mistakes_are_reported_with_their_position() {
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
