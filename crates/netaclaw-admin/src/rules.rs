//! Rules that several kinds of records share.

use crate::error::{Invalid, Problem};
use std::path::Path;

pub(crate) const NAME_CHARS_MAX: usize = 64;
pub(crate) const LABEL_CHARS_MAX: usize = 200;
pub(crate) const TEXT_CHARS_MAX: usize = 10_000;

pub(crate) type Checked = Result<(), Invalid>;

/// Names are typed on command lines and occur in URLs, so special characters are refused.
pub(crate) fn name(field: &str, name: &str) -> Checked {
    filled(field, name)?;
    at_most(field, name, NAME_CHARS_MAX)?;
    let inner = |char: char| char.is_alphanumeric() || matches!(char, '.' | '_' | '-' | ' ');
    let ends_well = |char: Option<char>| char.is_some_and(char::is_alphanumeric);
    ensure(
        name.chars().all(inner)
            && ends_well(name.chars().next())
            && ends_well(name.chars().next_back()),
        field,
        Problem::NotAName,
    )
}

pub(crate) fn filled(field: &str, text: &str) -> Checked {
    ensure(!text.trim().is_empty(), field, Problem::Empty)
}

pub(crate) fn at_most(field: &str, text: &str, chars_max: usize) -> Checked {
    // The length in bytes is never less, and is known without counting.
    let fits = text.len() <= chars_max || text.chars().count() <= chars_max;
    ensure(fits, field, Problem::TooLong { chars_max })
}

pub(crate) fn in_range(field: &str, value: impl Into<i64>, min: i64, max: i64) -> Checked {
    let value = value.into();
    let problem = Problem::OutOfRange { min, max };
    ensure((min..=max).contains(&value), field, problem)
}

/// Every item says something, and only once.
pub(crate) fn distinct(field: &str, items: &[String]) -> Checked {
    for (at, item) in items.iter().enumerate() {
        filled(field, item)?;
        at_most(field, item, LABEL_CHARS_MAX)?;
        let problem = || Problem::Twice {
            value: item.clone(),
        };
        ensure_with(!items[..at].contains(item), field, problem)?;
    }
    Ok(())
}

/// A directory that means the same wherever the server was started.
pub(crate) fn absolute(field: &str, path: &str) -> Checked {
    filled(field, path)?;
    let is_absolute = Path::new(path).is_absolute() || path == "~" || path.starts_with("~/");
    ensure(is_absolute, field, Problem::NotAbsolute)
}

pub(crate) fn ensure(holds: bool, field: &str, problem: Problem) -> Checked {
    ensure_with(holds, field, || problem)
}

pub(crate) fn ensure_with(holds: bool, field: &str, problem: impl FnOnce() -> Problem) -> Checked {
    match holds {
        true => Ok(()),
        false => Err(Invalid::new(field, problem())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_no_surprises_in_them() {
        for good in ["a", "default", "gpt-5.1", "My Agent", "通用", "a_b"] {
            assert_eq!(name("name", good), Ok(()), "{good}");
        }
        for bad in [
            "",
            " ",
            " a",
            "a ",
            "-a",
            "a/b",
            "a\n",
            "a\u{202e}b",
            "../a",
            "a.",
            "a;b",
        ] {
            assert!(name("name", bad).is_err(), "{bad:?}");
        }
        assert!(name("name", &"通".repeat(64)).is_ok());
        assert!(name("name", &"通".repeat(65)).is_err());
    }
}
