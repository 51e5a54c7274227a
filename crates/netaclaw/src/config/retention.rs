//! How long deleted sessions are kept.

use super::environment::{Environment, var};
use super::file::FileDays;
use super::server::wrong;
use crate::error::Failure;
use crate::text::Lang;

const DEFAULT_DAYS: u32 = 30;
/// A century; more is a mistake.
const DAYS_MAX: u32 = 36_500;
const UNLIMITED: &str = "unlimited";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retention {
    /// 0 purges a session as soon as it is deleted.
    Days(u32),
    /// Deleted sessions stay until they are purged by hand.
    Unlimited,
}

impl Retention {
    pub(super) fn load(
        env: &Environment,
        file: Option<FileDays>,
        lang: Lang,
    ) -> Result<Self, Failure> {
        let in_file = file.map(|days| match days {
            FileDays::Number(days) => days.to_string(),
            FileDays::Word(word) => word,
        });
        let Some(text) = env.keep_deleted_days.clone().or(in_file) else {
            return Ok(Self::Days(DEFAULT_DAYS));
        };
        match (text.trim(), text.trim().parse()) {
            (UNLIMITED, _) => Ok(Self::Unlimited),
            (_, Ok(days)) if days <= DAYS_MAX => Ok(Self::Days(days)),
            _ => Err(wrong(
                var::KEEP_DELETED_DAYS,
                &text,
                lang.keep_deleted_values(),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: Option<&str>, file: Option<FileDays>) -> Option<Retention> {
        let env = Environment {
            keep_deleted_days: text.map(str::to_owned),
            ..Environment::default()
        };
        Retention::load(&env, file, Lang::En).ok()
    }

    #[test]
    fn days_and_unlimited_are_understood_and_nothing_else() {
        assert_eq!(load(None, None), Some(Retention::Days(30)));
        assert_eq!(load(Some("0"), None), Some(Retention::Days(0)));
        assert_eq!(load(Some(" unlimited "), None), Some(Retention::Unlimited));
        for bad in ["-1", "soon", "36501"] {
            assert_eq!(load(Some(bad), None), None, "{bad}");
        }
        let number = || Some(FileDays::Number(7));
        assert_eq!(load(None, number()), Some(Retention::Days(7)));
        assert_eq!(load(Some("8"), number()), Some(Retention::Days(8)));
        assert_eq!(load(None, Some(FileDays::Number(-1))), None);
    }
}
