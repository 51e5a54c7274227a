//! A user's approval of one call, bound to its exact content.

use crate::standing::{ApprovalSeat, CallFacts};
use netaclaw_protocol::{ForeignNote, StandingApproval, ToolLabel, ToolRisk};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// The question to a user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalRequest {
    pub tool_call_id: String,
    pub tool_name: String,
    pub tool_label: ToolLabel,
    pub risk: ToolRisk,
    /// As the call would run: with pinned arguments in place.
    pub args: Value,
    pub reason: String,
    /// What the session has read from outside, if anything, and where the call would go.
    pub foreign: Option<ForeignNote>,
    pub hash: CallHash,
    /// What standing approvals are judged by.
    #[serde(default)]
    pub facts: CallFacts,
}

/// The answer to a request. It names the call that was approved: with another hash it counts as a
/// refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    pub hash: CallHash,
    pub consent: Consent,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Consent {
    Given,
    /// By approvals that were granted before. Whether they cover the call is decided again.
    Standing {
        seat: ApprovalSeat,
        approvals: Vec<StandingApproval>,
    },
    Refused {
        /// The user's note, for the model.
        reason: Option<String>,
    },
}

/// Identifies a tool with its arguments. Other arguments, other hash: an approval does not carry
/// over.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallHash(String);

impl CallHash {
    pub fn of(tool: &str, args: &Value) -> Self {
        let mut hasher = Sha256::new();
        hasher.update((tool.len() as u64).to_le_bytes());
        hasher.update(tool);
        hasher.update(canonical(args));
        let mut hex = String::with_capacity(64);
        for byte in hasher.finalize() {
            write!(hex, "{byte:02x}").expect("writing to a string cannot fail");
        }
        Self(hex)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// JSON with sorted members, so that the same arguments in another order are the same.
pub(crate) fn canonical(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort();
            let members = names.into_iter().map(|name| {
                format!(
                    "{}:{}",
                    Value::from(name.as_str()),
                    canonical(&members[name])
                )
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        plain => plain.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_hash_knows_tool_and_arguments_but_not_their_order() {
        let hash =
            |tool: &str, json: &str| CallHash::of(tool, &serde_json::from_str(json).unwrap());
        let one = hash("bash", r#"{"a":{"x":1,"y":[1,2]},"b":"2"}"#);
        assert_eq!(one, hash("bash", r#"{"b":"2","a":{"y":[1,2],"x":1}}"#));
        for (tool, other) in [
            ("bash", r#"{"a":{"x":1,"y":[2,1]},"b":"2"}"#),
            ("bash", r#"{"a":{"x":1,"y":[1,2]},"b":2}"#),
            ("bas", r#"{"a":{"x":1,"y":[1,2]},"b":"2"}"#),
        ] {
            assert_ne!(one, hash(tool, other), "{tool} {other}");
        }
        assert_ne!(
            CallHash::of("a", &json!("b")),
            CallHash::of("ab", &json!(""))
        );
    }
}
