//! The port to MCP servers, and their validation.

use crate::agent::directories_apart;
use crate::audit::Actor;
use crate::error::{Invalid, Problem, Result};
use crate::rules;
use crate::store::Expect;
use async_trait::async_trait;
use netaclaw_protocol::{McpServerId, McpServerSpec, McpServerView, McpTransport};
use secrecy::{ExposeSecret, SecretString};
use std::collections::BTreeMap;
use std::path::Path;
use url::Url;

/// Environment of a program, or headers of requests, by name.
pub type McpSecrets = BTreeMap<String, SecretString>;

/// A change of a server's secrets.
#[derive(Clone, Debug, Default)]
pub enum McpSecretsChange {
    #[default]
    Keep,
    /// These, and no others; those without a value keep the one they have.
    Set(BTreeMap<String, Option<SecretString>>),
}

impl McpSecretsChange {
    /// The secrets as they are from now on.
    pub fn apply(self, old: McpSecrets) -> Result<McpSecrets, Invalid> {
        let Self::Set(new) = self else {
            return Ok(old);
        };
        let value = |name: &String, value: Option<SecretString>| {
            value
                .or_else(|| old.get(name).cloned())
                .ok_or_else(|| Invalid::new(format!("secrets.{name}"), Problem::NothingToKeep))
        };
        new.into_iter()
            .map(|(name, given)| Ok((name.clone(), value(&name, given)?)))
            .collect()
    }
}

/// Where MCP servers are kept, with their secrets encrypted.
#[async_trait]
pub trait McpStore: Send + Sync {
    /// All servers, the oldest first.
    async fn mcp_servers(&self) -> Result<Vec<McpServerView>>;
    async fn mcp_server(&self, id: &McpServerId) -> Result<McpServerView>;
    async fn mcp_server_named(&self, name: &str) -> Result<McpServerView>;
    /// The only answer with the secrets. What cannot be decrypted is
    /// [`AdminError::McpSealed`](crate::AdminError::McpSealed).
    async fn open_mcp_server(&self, id: &McpServerId) -> Result<(McpServerSpec, McpSecrets)>;

    async fn create_mcp_server(
        &self,
        by: &Actor,
        spec: McpServerSpec,
        secrets: McpSecrets,
    ) -> Result<McpServerView>;
    async fn update_mcp_server(
        &self,
        by: &Actor,
        id: &McpServerId,
        expect: Expect,
        spec: McpServerSpec,
        secrets: McpSecretsChange,
    ) -> Result<McpServerView>;
    async fn delete_mcp_server(&self, by: &Actor, id: &McpServerId, expect: Expect) -> Result<()>;
}

pub fn check_mcp_server(spec: &McpServerSpec) -> Result<(), Invalid> {
    const TIMEOUT_MS_MAX: i64 = 3_600_000;
    const ARG_CHARS_MAX: usize = 8_000;
    rules::name("name", &spec.name)?;
    match &spec.transport {
        McpTransport::Stdio { command, args } => {
            rules::filled("transport.command", command)?;
            rules::at_most("transport.command", command, rules::LABEL_CHARS_MAX)?;
            for arg in args {
                rules::at_most("transport.args", arg, ARG_CHARS_MAX)?;
            }
        }
        McpTransport::Http { url } => check_address(url)?,
    }
    rules::distinct("tools.enabled", &spec.tools.enabled)?;
    rules::distinct("tools.disabled", &spec.tools.disabled)?;
    for root in &spec.roots {
        let is_absolute = Path::new(root).is_absolute();
        rules::ensure(is_absolute, "roots", Problem::NotAbsolute)?;
    }
    let timeout = i64::try_from(spec.timeout_ms).unwrap_or(i64::MAX);
    rules::in_range("timeoutMs", timeout, 100, TIMEOUT_MS_MAX)
}

/// Keeps the directories that a server may write to apart from the data directory, like those of
/// agents. Follows links, so it blocks.
pub fn check_mcp_roots(roots: &[String], data_dir: &Path) -> Result<(), Invalid> {
    directories_apart("roots", roots, data_dir)
}

fn check_address(address: &str) -> Result<(), Invalid> {
    let field = "transport.url";
    rules::at_most(field, address, 2_000)?;
    let url = Url::parse(address).ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let url = url.ok_or_else(|| Invalid::new(field, Problem::NotAnAddress))?;
    let is_open = url.username().is_empty() && url.password().is_none();
    rules::ensure(is_open, field, Problem::SecretInAddress)
}

/// Names and values that are valid in an environment or a request.
pub fn check_mcp_secrets(secrets: &McpSecrets) -> Result<(), Invalid> {
    const NAME_BYTES_MAX: usize = 200;
    const VALUE_CHARS_MAX: usize = 10_000;
    for (name, value) in secrets {
        let field = format!("secrets.{name}");
        let plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
        let is_name = !name.is_empty() && name.len() <= NAME_BYTES_MAX && name.chars().all(plain);
        rules::ensure(
            is_name && !is_reserved(name),
            "secrets",
            Problem::NotAVariable,
        )?;
        let value = value.expose_secret();
        rules::filled(&field, value)?;
        rules::at_most(&field, value, VALUE_CHARS_MAX)?;
        let is_line = !value.chars().any(|char| matches!(char, '\0' | '\r' | '\n'));
        rules::ensure(is_line, &field, Problem::NotOneLine)?;
    }
    Ok(())
}

/// Variables that make the loader run code, which would happen before the sandbox; and variables
/// that our own processes use.
fn is_reserved(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let begins = ["LD_", "DYLD_", "NETACLAW_"].iter();
    name == "GLIBC_TUNABLES" || begins.into_iter().any(|begin| name.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_cannot_steer_how_programs_are_loaded() {
        let check =
            |name: &str, value: &str| check_mcp_secrets(&[(name.to_owned(), value.into())].into());
        assert_eq!(check("API_KEY", "x y"), Ok(()));
        assert_eq!(check("X-Api-Key", "x"), Ok(()));
        for name in [
            "",
            "A=B",
            "LD_PRELOAD",
            "ld_audit",
            "GLIBC_TUNABLES",
            "NETACLAW_SPAWN",
        ] {
            assert!(check(name, "x").is_err(), "{name}");
        }
        for value in ["", "a\nb", "a\0"] {
            assert!(check("A", value).is_err(), "{value:?}");
        }
    }

    #[test]
    fn secrets_without_a_value_keep_theirs() {
        let old: McpSecrets = [("A".to_owned(), "1".into()), ("B".to_owned(), "2".into())].into();
        let new = [("A".to_owned(), None), ("C".to_owned(), Some("3".into()))].into();
        let now = McpSecretsChange::Set(new).apply(old.clone()).unwrap();
        let now: Vec<_> = now
            .iter()
            .map(|(name, value)| (name.as_str(), value.expose_secret()))
            .collect();
        assert_eq!(now, [("A", "1"), ("C", "3")]);
        let missing = McpSecretsChange::Set([("D".to_owned(), None)].into()).apply(old);
        assert_eq!(missing.unwrap_err().problem, Problem::NothingToKeep);
    }
}
