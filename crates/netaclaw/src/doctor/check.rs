//! The result of one check.

use crate::error::Failure;

/// The result. `Info` is neither good nor bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Level {
    Ok,
    Info,
    Warn,
    Fail,
}

#[derive(Debug, serde::Serialize)]
pub(super) struct Check {
    /// What kind of check it is, for programs.
    check: &'static str,
    pub(super) level: Level,
    /// What was looked at, for people.
    pub(super) what: String,
    pub(super) message: String,
    /// What helps.
    pub(super) todo: Option<String>,
}

impl Check {
    pub(super) fn ok(check: &'static str, what: String, message: String) -> Self {
        Self::new(Level::Ok, check, what, message, None)
    }

    pub(super) fn info(check: &'static str, what: String, message: String) -> Self {
        Self::new(Level::Info, check, what, message, None)
    }

    pub(super) fn warn(check: &'static str, what: String, message: String, todo: String) -> Self {
        Self::new(Level::Warn, check, what, message, Some(todo))
    }

    pub(super) fn fail(check: &'static str, what: String, message: String, todo: String) -> Self {
        Self::new(Level::Fail, check, what, message, Some(todo))
    }

    /// What a command would have ended with.
    pub(super) fn failed(check: &'static str, failure: Failure) -> Self {
        match failure {
            Failure::Said { what, why, todo } => Self::new(Level::Fail, check, what, why, todo),
            Failure::ReaderGone => Self::fail(check, String::new(), String::new(), String::new()),
        }
    }

    pub(super) fn at(self, level: Level) -> Self {
        Self { level, ..self }
    }

    fn new(
        level: Level,
        check: &'static str,
        what: String,
        message: String,
        todo: Option<String>,
    ) -> Self {
        // Causes of other crates may come in several lines.
        let one_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        Self {
            check,
            level,
            what: one_line(what),
            message: one_line(message),
            todo: todo.map(one_line),
        }
    }
}
