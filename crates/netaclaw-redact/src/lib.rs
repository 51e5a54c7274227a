#![doc = include_str!("../README.md")]

use std::borrow::Cow;

/// The replacement of a secret.
pub const REDACTED: &str = "[redacted]";

/// What keys of well-known services begin with, and how long they are at least.
const PREFIXES: &[(&str, usize)] = &[
    ("sk-", 16),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("pk_live_", 16),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("xoxa-", 16),
    ("xoxb-", 16),
    ("xoxp-", 16),
    ("xoxs-", 16),
    ("AKIA", 20),
    ("ASIA", 20),
    ("AIza", 30),
    ("hf_", 20),
    ("npm_", 20),
    ("pypi-", 20),
    ("dop_v1_", 20),
    ("eyJ", 40),
];

/// The shortest of them.
const KEY_CHARS_MIN: usize = 16;

/// Names whose values are secret, in lower case.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "secret",
    "api_key",
    "apikey",
    "api-key",
    "access_key",
    "access_token",
    "auth_token",
    "client_secret",
    "private_key",
    "refresh_token",
    "密码",
    "密钥",
];

/// The text without what looks like a credential.
pub fn redact(text: &str) -> Cow<'_, str> {
    let blocks = without_private_keys(text);
    match without_words(&blocks) {
        Cow::Borrowed(_) => blocks,
        Cow::Owned(text) => Cow::Owned(text),
    }
}

fn without_private_keys(text: &str) -> Cow<'_, str> {
    if !text.contains("PRIVATE KEY") {
        return Cow::Borrowed(text);
    }
    const BEGIN: &str = "-----BEGIN ";
    const END: &str = "-----END ";
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(BEGIN) {
        let head = rest[at..].lines().next().unwrap_or_default();
        if !head.contains("PRIVATE KEY") {
            let to = at + BEGIN.len();
            out.push_str(&rest[..to]);
            rest = &rest[to..];
            continue;
        }
        out.push_str(&rest[..at]);
        out.push_str(REDACTED);
        let end = rest[at..].find(END).map(|end| at + end);
        let after = end.map_or("", |end| {
            rest[end + END.len()..].trim_start_matches(|c| c != '-')
        });
        rest = after.trim_start_matches('-');
    }
    match out.is_empty() && rest.len() == text.len() {
        true => Cow::Borrowed(text),
        false => Cow::Owned(out + rest),
    }
}

/// Goes through the words of a text. A word is what no space, quote or bracket interrupts.
fn without_words(text: &str) -> Cow<'_, str> {
    let mut out: Option<String> = None;
    let mut copied = 0;
    let mut named = false;
    let mut before = "";
    for (start, word) in words(text) {
        let secret = match secret_in(word) {
            Some(secret) => Some(secret),
            None if named && word.chars().count() >= 6 => Some((0, word.len())),
            None => None,
        };
        named = match secret {
            Some(_) => false,
            None if word.chars().all(is_sign) => named || names_secret(before),
            None => announces(word),
        };
        before = word;
        if let Some((from, to)) = secret {
            let out = out.get_or_insert_default();
            out.push_str(&text[copied..start + from]);
            out.push_str(REDACTED);
            copied = start + to;
        }
    }
    match out {
        None => Cow::Borrowed(text),
        Some(out) => Cow::Owned(out + &text[copied..]),
    }
}

fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let splits = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '"' | '\'' | '`' | ',' | ';' | '(' | ')' | '{' | '}' | '<' | '>'
            )
            || matches!(
                c,
                '，' | '。' | '；' | '（' | '）' | '「' | '」' | '“' | '”'
            )
    };
    let base = text.as_ptr() as usize;
    text.split(splits)
        .filter(|word| !word.is_empty())
        .map(move |word| (word.as_ptr() as usize - base, word))
}

/// The range of a secret within a word.
fn secret_in(word: &str) -> Option<(usize, usize)> {
    key_in(word)
        .or_else(|| password_in_url(word))
        .or_else(|| assigned(word))
}

fn key_in(word: &str) -> Option<(usize, usize)> {
    if word.len() < KEY_CHARS_MIN {
        return None;
    }
    PREFIXES.iter().find_map(|(prefix, length)| {
        let at = word.find(prefix)?;
        let starts = word[..at]
            .chars()
            .next_back()
            .is_none_or(|c| !c.is_alphanumeric());
        let key: usize = word[at..]
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
            .map(char::len_utf8)
            .sum();
        (starts && key >= *length).then_some((at, at + key))
    })
}

/// `scheme://user:password@host`
fn password_in_url(word: &str) -> Option<(usize, usize)> {
    let from = word.find("://")? + 3;
    let host = word[from..].find('@')? + from;
    let colon = word[from..host].find(':')? + from;
    (!word[from..host].contains('/') && host > colon + 1).then_some((colon + 1, host))
}

/// `password=…`, `API_KEY:…`, also behind a `--` or a `?`.
fn assigned(word: &str) -> Option<(usize, usize)> {
    let at = word.find(is_sign)?;
    let sign = word[at..].chars().next().map_or(1, char::len_utf8);
    let value = at + sign;
    let end = word[value..]
        .find('&')
        .map_or(word.len(), |end| value + end);
    (names_secret(&word[..at]) && end > value).then_some((value, end))
}

/// Whether the next word is the value of this one.
fn announces(word: &str) -> bool {
    let name = word.trim_end_matches(is_sign);
    match name.len() < word.len() || word.starts_with("--") {
        true => names_secret(name),
        false => word.eq_ignore_ascii_case("bearer"),
    }
}

/// The separators between a name and its value.
fn is_sign(c: char) -> bool {
    matches!(c, '=' | ':' | '：')
}

fn names_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    NAMES.iter().any(|known| name.ends_with(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_credential_is_taken_out() {
        for (text, safe) in [
            (
                "use sk-proj-abcdef0123456789abcdef, please",
                "use [redacted], please",
            ),
            (
                "OPENAI_API_KEY=verysecret123 make run",
                "OPENAI_API_KEY=[redacted] make run",
            ),
            (
                r#"{"password": "hunter2hunter2", "user": "ann"}"#,
                r#"{"password": "[redacted]", "user": "ann"}"#,
            ),
            (
                "Authorization: Bearer abc.def-123456",
                "Authorization: Bearer [redacted]",
            ),
            (
                "mysql://root:s3cret@db.local:3306/app",
                "mysql://root:[redacted]@db.local:3306/app",
            ),
            ("密码：correct-horse-battery", "密码：[redacted]"),
            (
                "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\nb",
                "a\n[redacted]\nb",
            ),
            ("AKIAIOSFODNN7EXAMPLE.", "[redacted]"),
            ("--password hunter2hunter2 x", "--password [redacted] x"),
        ] {
            assert_eq!(redact(text), safe, "{text}");
        }
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        for text in [
            "The password is asked for on the first page.",
            "see https://example.com/a:b@c and src/secret_store.rs",
            "ask-me-anything-about-the-secretary task-12345678901234567890",
            "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
            "忘记密码怎么办？",
            "",
        ] {
            assert_eq!(redact(text), text);
            assert!(matches!(redact(text), Cow::Borrowed(_)), "{text}");
        }
    }
}
