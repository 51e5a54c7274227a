//! Removes secrets and paths of this machine from texts for clients.

use netaclaw_redact::{REDACTED, redact};
use regex::{Captures, Regex};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

const STRING_CHARS_MAX: usize = 500;
/// Shorter ones are words that may occur anywhere.
const SECRET_BYTES_MIN: usize = 6;

const SECRET_WORDS: &str = r"api[ _-]?key|access[ _-]?key|private[ _-]?key|token|passw(?:or)?d|passphrase|secret|authorization|credential";

/// A name that says what its value is.
static SECRET_NAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(&format!("(?i){SECRET_WORDS}")).expect("a valid pattern"));
/// `key=value`, `key: value` and the same in quotes.
static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
    let name = format!(r#"["']?[\w.-]*(?:{SECRET_WORDS})[\w.-]*["']?"#);
    // What is redacted already stays as it is.
    let value = r#"\[redacted\]|"[^"]*"?|'[^']*'?|(?:(?:bearer|basic)\s+)?[^\s,;&"'}\]]+"#;
    Regex::new(&format!(r"(?i)({name}\s*[=:]\s*)({value})")).expect("a valid pattern")
});
static BEARER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(bearer|basic)\s+[a-z0-9._~+/=-]{8,}").expect("a valid pattern")
});
/// A path from the root of the file tree; not what follows a host in an address.
static ABSOLUTE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(^|[\s"'`(\[=,:;<])((?:/[^\s/"'`)\]>,;:]+){2,}/?)"#).expect("a valid pattern")
});

/// Removes secrets and paths from texts. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    /// Values that were handed to a program in confidence, longest first.
    secrets: Arc<Vec<String>>,
    /// What paths are shown relative to, longest first.
    roots: Arc<Vec<String>>,
}

impl Redactor {
    pub fn new(roots: &[PathBuf]) -> Self {
        let roots = roots.iter().filter(|root| root.parent().is_some());
        let roots = roots.map(|root| root.to_string_lossy().into_owned());
        Self {
            secrets: Arc::default(),
            roots: Arc::new(longest_first(roots.collect())),
        }
    }

    /// The same, with these secrets as well.
    pub fn with_secrets(&self, secrets: impl IntoIterator<Item = String>) -> Self {
        let all = self.secrets.iter().cloned().chain(secrets);
        let all = all.filter(|secret| secret.len() >= SECRET_BYTES_MIN);
        Self {
            secrets: Arc::new(longest_first(all.collect())),
            roots: Arc::clone(&self.roots),
        }
    }

    pub fn with_root(&self, root: &Path) -> Self {
        let all = self.roots.iter().cloned();
        let all = all.chain([root.to_string_lossy().into_owned()]);
        Self {
            secrets: Arc::clone(&self.secrets),
            roots: Arc::new(longest_first(all.collect())),
        }
    }

    /// The secret values, and nothing else.
    pub fn values(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in self.secrets.iter() {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), REDACTED);
            }
        }
        text
    }

    /// A text without secrets, in which paths are relative or only names.
    pub fn text(&self, text: &str) -> String {
        let text = self.values(text);
        let text = ASSIGNED.replace_all(&text, |found: &Captures<'_>| {
            format!("{}{REDACTED}", &found[1])
        });
        let text = BEARER.replace_all(&text, format!("${{1}} {REDACTED}"));
        self.paths(&redact(&text))
    }

    fn paths(&self, text: &str) -> String {
        let shown = ABSOLUTE.replace_all(text, |found: &Captures<'_>| {
            let path = &found[2];
            let inside = self.roots.iter().find_map(|root| {
                let rest = path.strip_prefix(root.as_str())?;
                (rest.is_empty() || rest.starts_with('/')).then(|| rest.trim_start_matches('/'))
            });
            let path = match inside {
                Some("") => ".".to_owned(),
                Some(inside) => inside.to_owned(),
                None => {
                    let name = path.trim_end_matches('/').rsplit('/').next();
                    format!("…/{}", name.unwrap_or_default())
                }
            };
            format!("{}{path}", &found[1])
        });
        shown.into_owned()
    }

    /// Scalars with harmless values.
    pub(crate) fn payload(&self, payload: Map<String, Value>) -> Map<String, Value> {
        let redacted = payload.into_iter().map(|(key, value)| {
            let value = match value {
                _ if SECRET_NAME.is_match(&key) => Value::from(REDACTED),
                Value::String(text) => Value::from(super::cut(&self.text(&text), STRING_CHARS_MAX)),
                Value::Array(_) | Value::Object(_) => Value::from("[object]"),
                scalar => scalar,
            };
            (key, value)
        });
        redacted.collect()
    }
}

fn longest_first(mut texts: Vec<String>) -> Vec<String> {
    texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
    texts.dedup();
    texts
}
