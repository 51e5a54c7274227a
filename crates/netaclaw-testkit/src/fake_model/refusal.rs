//! What a strict server says no with.

use serde_json::{Value, json};

/// A refusal in the words of the real server; the API decides on the shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub status: u16,
    /// `type` of the error.
    pub kind: &'static str,
    pub code: Option<&'static str>,
    pub message: String,
}

impl Refusal {
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self {
            status: 400,
            kind: "invalid_request_error",
            code: None,
            message: message.into(),
        }
    }

    pub(crate) fn with_code(self, code: &'static str) -> Self {
        Self {
            code: Some(code),
            ..self
        }
    }

    pub(crate) fn openai(&self) -> Value {
        json!({"error": {
            "message": self.message,
            "type": self.kind,
            "param": null,
            "code": self.code,
        }})
    }

    pub(crate) fn anthropic(&self) -> Value {
        json!({
            "type": "error",
            "error": {"type": self.kind, "message": self.message},
            "request_id": "req_fake",
        })
    }
}
