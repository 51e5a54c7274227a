//! The port to the audit log, and its authors.

use crate::error::Result;
use async_trait::async_trait;
use netaclaw_protocol::{AuditAction, AuditPage, RecordKind, TokenId, User};
use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// The author of a change. Every change names one, and the store records it together with the
/// change itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    name: String,
    token: Option<TokenId>,
}

impl Actor {
    /// The server on its own account.
    pub fn system() -> Self {
        Self::named("system".to_owned())
    }

    /// A user with access to the data directory.
    pub fn command_line() -> Self {
        Self::named("command line".to_owned())
    }

    pub fn user(user: &User) -> Self {
        Self::named(format!("user {}", user.spec.name))
    }

    fn named(name: String) -> Self {
        Self { name, token: None }
    }

    /// The same one, who has shown this token.
    #[must_use]
    pub fn with_token(self, token: Option<TokenId>) -> Self {
        Self { token, ..self }
    }

    /// The token that was shown, if it was one.
    pub fn token(&self) -> Option<&TokenId> {
        self.token.as_ref()
    }

    pub fn as_str(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// What was done to what. Holds names of fields, never their values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    pub action: AuditAction,
    pub kind: RecordKind,
    pub target_id: String,
    pub target_name: String,
    pub fields: Vec<String>,
}

#[async_trait]
pub trait AuditStore: Send + Sync {
    /// A page of the list, newest first. Pages count from 1.
    async fn audit(&self, page: u32, size: u32) -> Result<AuditPage>;
    /// Adds what does not change a record, such as a login.
    async fn record_act(&self, by: &Actor, act: Act) -> Result<()>;
}

/// The names of the fields in which two versions of a record differ.
pub fn changed_fields<T: Serialize>(before: &T, after: &T) -> Vec<String> {
    let fields = |value: &T| match serde_json::to_value(value) {
        Ok(Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let (before, after) = (fields(before), fields(after));
    let mut names: Vec<String> = before.keys().chain(after.keys()).cloned().collect();
    names.sort();
    names.dedup();
    names.retain(|name| before.get(name) != after.get(name));
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use netaclaw_protocol::AgentSpec;

    #[test]
    fn changes_are_recorded_by_name_and_not_by_value() {
        let before = AgentSpec::default();
        let mut after = before.clone();
        assert!(changed_fields(&before, &after).is_empty());
        after.system_prompt = "secret plan".to_owned();
        after.workspace = Some("/srv".to_owned());
        assert_eq!(
            changed_fields(&before, &after),
            ["systemPrompt", "workspace"]
        );
    }
}
