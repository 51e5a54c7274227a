//! A client's event as it arrives, before its content is parsed.

use netaclaw_protocol::{COMMAND_BYTES_MAX, ErrorCode, Refusal, Words};
use serde_json::value::RawValue;
use socketioxide::adapter::LocalAdapter;
use socketioxide::handler::{FromMessageParts, Value};
use socketioxide::socket::Socket;
use std::convert::Infallible;
use std::sync::Arc;

/// One event. Extracting it never fails: what is wrong with it is answered, not logged.
pub(super) struct Frame {
    /// The payload's text, or why there is none.
    pub(super) payload: Result<(String, String), Refusal>,
    /// Whether and under which number the client waits for an answer.
    pub(super) ack_id: Option<i64>,
}

impl FromMessageParts<LocalAdapter> for Frame {
    type Error = Infallible;

    fn from_message_parts(
        _: &Arc<Socket<LocalAdapter>>,
        value: &mut Value,
        ack_id: &Option<i64>,
    ) -> Result<Self, Infallible> {
        let payload = match value {
            Value::Str(text, None) => read(text.as_str()),
            Value::Str(_, Some(_)) | Value::Bytes(_) => Err(refused(
                ErrorCode::BadRequest,
                Words::new(
                    "命令须为 JSON；请通过 HTTP 上传文件",
                    "commands are JSON; upload files by HTTP",
                ),
            )),
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
        let bytes = text.len();
        let words = Words::new(
            format!("命令有 {bytes} 字节，最多允许 {COMMAND_BYTES_MAX} 字节；请通过 HTTP 上传文件"),
            format!(
                "the command has {bytes} bytes, and {COMMAND_BYTES_MAX} are allowed; upload files by HTTP"
            ),
        );
        return Err(refused(ErrorCode::TooLarge, words));
    }
    let unreadable = |_| {
        let words = Words::new("无法读取该事件", "the event could not be read");
        refused(ErrorCode::BadRequest, words)
    };
    let parts: Vec<&RawValue> = serde_json::from_str(text).map_err(unreadable)?;
    let name = parts.first().map_or("\"\"", |name| name.get());
    let name = serde_json::from_str(name).map_err(unreadable)?;
    let payload = parts.get(1).map_or("{}", |payload| payload.get());
    // Clients with no payload to send often send null.
    let payload = if payload == "null" { "{}" } else { payload };
    Ok((name, payload.to_owned()))
}

pub(super) fn refused(code: ErrorCode, words: impl Into<Words>) -> Refusal {
    Refusal::new(code, words.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_and_payload_are_told_apart() {
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
