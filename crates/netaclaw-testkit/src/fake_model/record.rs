//! What the fake was asked.

use serde_json::Value;
use std::fmt;

/// One request, as it arrived.
#[derive(Clone)]
pub struct Recorded {
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Value,
    /// The message of the refusal, if it was refused.
    pub refused: Option<String>,
}

/// Headers that hold keys; tests may read them, prints must not show them.
const SECRET: [&str; 3] = ["authorization", "x-api-key", "api-key"];

impl Recorded {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The text of the last message of the user, wherever the API puts it.
    pub fn last_user_text(&self) -> String {
        last_user_text(&self.body)
    }
}

pub(crate) fn last_user_text(body: &Value) -> String {
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let last = messages.iter().rev().find(|m| m["role"] == "user");
    match last.map(|message| &message["content"]) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

impl fmt::Debug for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<(&str, &str)> = self
            .headers
            .iter()
            .map(|(name, value)| match SECRET.contains(&name.as_str()) {
                true => (name.as_str(), "[redacted]"),
                false => (name.as_str(), value.as_str()),
            })
            .collect();
        f.debug_struct("Recorded")
            .field("path", &self.path)
            .field("headers", &headers)
            .field("body", &self.body)
            .field("refused", &self.refused)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_request_can_be_printed_without_its_key() {
        let recorded = Recorded {
            path: "/v1/messages".into(),
            headers: vec![
                ("x-api-key".into(), "sk-marker".into()),
                ("authorization".into(), "Bearer sk-marker".into()),
            ],
            body: json!({}),
            refused: None,
        };
        assert!(!format!("{recorded:?}").contains("marker"));
        assert_eq!(recorded.header("X-Api-Key"), Some("sk-marker"));
    }
}
