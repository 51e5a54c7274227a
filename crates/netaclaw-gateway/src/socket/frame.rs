//! A client's event as it arrives, before its content is parsed.

use netaclaw_protocol::{BadRequest, COMMAND_BYTES_MAX, Refusal, TooLarge};
use serde_json::value::RawValue;
use socketioxide::adapter::LocalAdapter;
use socketioxide::handler::{FromMessageParts, Value};
use socketioxide::socket::Socket;
use std::convert::Infallible;
use std::sync::Arc;

/// One event. Extracting it never fails: what is wrong with it is answered, not logged.
pub(super) struct IncomingEvent {
    /// The payload's text, or why there is none.
    pub(super) payload: Result<(String, String), Refusal>,
    /// Whether and under which number the client waits for an answer.
    pub(super) ack_id: Option<i64>,
}

impl FromMessageParts<LocalAdapter> for IncomingEvent {
    type Error = Infallible;

    fn from_message_parts(
        _: &Arc<Socket<LocalAdapter>>,
        value: &mut Value,
        ack_id: &Option<i64>,
    ) -> Result<Self, Infallible> {
        let payload = match value {
            Value::Str(text, None) => read(text.as_str()),
            Value::Str(_, Some(_)) | Value::Bytes(_) => {
                Err(Refusal::new(BadRequest::CommandNotJson))
            }
        };
        Ok(Self {
            payload,
            ack_id: *ack_id,
        })
    }
}

/// Splits `["name", {…}]` into name and payload. A missing payload counts as an empty one.
fn read(text: &str) -> Result<(String, String), Refusal> {
    if text.len() > COMMAND_BYTES_MAX {
        return Err(Refusal::new(TooLarge::CommandTooLarge {
            bytes: text.len(),
            bytes_max: COMMAND_BYTES_MAX,
        }));
    }
    let unreadable = |_| Refusal::new(BadRequest::EventNotReadable);
    let parts: Vec<&RawValue> = serde_json::from_str(text).map_err(unreadable)?;
    let name = parts.first().map_or("\"\"", |name| name.get());
    let name = serde_json::from_str(name).map_err(unreadable)?;
    let payload = parts.get(1).map_or("{}", |payload| payload.get());
    // Clients with no payload to send often send null.
    let payload = if payload == "null" { "{}" } else { payload };
    Ok((name, payload.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use netaclaw_protocol::ErrorCode;

    #[test]
    fn name_and_payload_are_distinguished() {
        let read = |text| read(text).unwrap();
        assert_eq!(
            read(r#"["chat",{"a":1},"more"]"#),
            ("chat".to_owned(), r#"{"a":1}"#.to_owned())
        );
        assert_eq!(read(r#"["ping"]"#).1, "{}");
        assert_eq!(read(r#"["ping",null]"#).1, "{}");
    }

    #[test]
    fn long_commands_are_refused_by_size_alone() {
        let text = format!("[\"chat\",\"{}\"]", "x".repeat(COMMAND_BYTES_MAX));
        assert_eq!(read(&text).unwrap_err().code, ErrorCode::TooLarge);
    }
}
