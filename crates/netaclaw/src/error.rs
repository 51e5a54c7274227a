//! Errors of commands: one line, `what: why; what to do`.

use crate::text::Lang;
use netaclaw_protocol::{Language, LocalizedText};
use netaclaw_session::SessionError;
use std::fmt;
use std::io::{self, ErrorKind};

pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// A command that ended without doing what was asked. Nothing was changed.
#[derive(Debug)]
pub(crate) enum Failure {
    Said {
        what: String,
        why: String,
        todo: Option<String>,
    },
    /// The reader of the output has closed it, as in `| head`. There is nowhere to report anything.
    ReaderGone,
}

impl Failure {
    pub(crate) fn new(
        what: impl Into<String>,
        why: impl Into<String>,
        todo: impl Into<String>,
    ) -> Self {
        Self::Said {
            what: what.into(),
            why: why.into(),
            todo: Some(todo.into()),
        }
    }

    pub(crate) fn plain(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Said {
            what: what.into(),
            why: why.into(),
            todo: None,
        }
    }

    /// A file or directory that could not be used.
    pub(crate) fn io(lang: Lang, what: impl Into<String>, error: &io::Error) -> Self {
        let (why, todo) = match error.kind() {
            ErrorKind::NotFound => (lang.file_not_found(), lang.check_path()),
            ErrorKind::PermissionDenied => (lang.permission_denied(), lang.check_permission()),
            ErrorKind::IsADirectory => (lang.is_directory(), lang.give_file()),
            ErrorKind::NotADirectory => (lang.not_directory(), lang.check_path()),
            ErrorKind::AlreadyExists => (lang.file_exists(), lang.use_force()),
            _ => return Self::plain(what, error.to_string()),
        };
        Self::new(what, why, todo)
    }

    /// A request that a session provider did not carry out.
    pub(crate) fn session(lang: Lang, error: SessionError) -> Self {
        let of = |session: &dyn fmt::Display| lang.session_named(session);
        match &error {
            SessionError::NotFound(id) => Self::new(of(id), lang.does_not_exist(), lang.see_list()),
            SessionError::AlreadyExists(id) => {
                Self::new(of(id), lang.session_exists(), lang.use_other_id())
            }
            SessionError::Busy { session, owner } => {
                Self::new(of(session), lang.session_busy(owner), lang.try_later())
            }
            SessionError::NewerFormat {
                session,
                found,
                supported,
            } => Self::new(
                of(session),
                lang.newer_session(found, supported),
                lang.update_netaclaw(),
            ),
            SessionError::Unreadable { session, reason } => Self::new(
                of(session),
                in_language(lang, reason.words()),
                lang.see_verify(),
            ),
            SessionError::Path { session, source } => Self::new(
                of(session),
                in_language(lang, source.damage().words()),
                lang.see_verify(),
            ),
            SessionError::Store { what, source } => Self::plain(what.clone(), source.to_string()),
            _ => Self::plain(lang.session_word(), error.to_string()),
        }
    }
}

/// What the server tells clients, for the person in front of the terminal.
pub(crate) fn in_language(lang: Lang, words: LocalizedText) -> String {
    words.in_language(language(lang))
}

pub(crate) fn language(lang: Lang) -> Language {
    match lang {
        Lang::En => Language::English,
        Lang::Zh => Language::Chinese,
    }
}

/// Only the output is written through `?`; everything else says which file it is about.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::BrokenPipe => Self::ReaderGone,
            _ => Self::plain("output", error.to_string()),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Said { what, why, todo } = self else {
            return Ok(());
        };
        let is_chinese = |text: &str| text.contains(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
        let (colon, semicolon) = match is_chinese(why) || todo.as_deref().is_some_and(is_chinese) {
            true => ("：", "；"),
            false => (": ", "; "),
        };
        let line = match todo {
            Some(todo) => format!("{what}{colon}{why}{semicolon}{todo}"),
            None => format!("{what}{colon}{why}"),
        };
        // Causes of other crates may come in several lines.
        let words: Vec<&str> = line.split_whitespace().collect();
        f.write_str(&words.join(" "))
    }
}
