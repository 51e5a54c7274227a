//! The port to settings: a JSON value by name.

use crate::audit::Actor;
use crate::error::{AdminError, Invalid, Problem, Result};
use crate::nearest::nearest;
use crate::rules;
use crate::store::Expect;
use async_trait::async_trait;
use netaclaw_protocol::{RecordKind, Setting};
use serde_json::Value;

#[async_trait]
pub trait SettingStore: Send + Sync {
    /// All settings, by name.
    async fn settings(&self) -> Result<Vec<Setting>>;
    /// `None` if it is not set.
    async fn setting(&self, name: &str) -> Result<Option<Setting>>;
    /// Sets it, whether it was there or not; with an expected revision it has to be there.
    async fn put_setting(
        &self,
        by: &Actor,
        name: &str,
        expect: Expect,
        value: Value,
    ) -> Result<Setting>;
    async fn delete_setting(&self, by: &Actor, name: &str, expect: Expect) -> Result<()>;
}

/// The names of settings that the program reads; others cannot be set, because they would only seem
/// to have an effect. Add a new setting here, with a test of its effect.
pub const SETTINGS: &[&str] = &[CLARIFY_TIMEOUT];

/// How long questions of agents stay open, in milliseconds. Unset, they never expire.
pub const CLARIFY_TIMEOUT: &str = "clarify.timeoutMs";
/// A year: beyond that, use no limit.
const CLARIFY_TIMEOUT_MAX: i64 = 365 * 24 * 60 * 60 * 1000;

/// Refuses an unknown name.
pub fn check_setting_name(name: &str) -> Result<()> {
    known(name, SETTINGS)
}

fn known(name: &str, names: &[&str]) -> Result<()> {
    match names.contains(&name) {
        true => Ok(()),
        false => Err(AdminError::NotFound {
            kind: RecordKind::Setting,
            name: name.to_owned(),
            nearest: nearest(name, names.iter().copied()).map(str::to_owned),
        }),
    }
}

const VALUE_BYTES_MAX: usize = 1 << 20;

pub fn check_setting(name: &str, value: &Value) -> Result<(), Invalid> {
    rules::name("name", name)?;
    rules::ensure(!name.contains(' '), "name", Problem::NotAName)?;
    let chars_max = VALUE_BYTES_MAX;
    let size = value.to_string().len();
    rules::ensure(size <= chars_max, "value", Problem::TooLong { chars_max })?;
    let (min, max) = (1, CLARIFY_TIMEOUT_MAX);
    let fits =
        name != CLARIFY_TIMEOUT || value.as_i64().is_some_and(|ms| (min..=max).contains(&ms));
    rules::ensure(fits, "value", Problem::OutOfRange { min, max })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_refused_with_the_nearest_one() {
        let names = ["clarify.timeoutMs", "titles.length"];
        assert!(known("clarify.timeoutMs", &names).is_ok());
        let error = known("clarify.timeoutMS", &names).unwrap_err().to_string();
        assert!(error.contains("did you mean"), "{error}");
        assert!(known("a.b", &names).is_err());
        assert!(known("a.b", &[]).is_err());
    }

    #[test]
    fn a_time_is_a_time() {
        let check = |value: Value| check_setting(CLARIFY_TIMEOUT, &value);
        assert!(check(60_000.into()).is_ok());
        for wrong in [
            0.into(),
            (-1).into(),
            "60s".into(),
            Value::Null,
            i64::MAX.into(),
        ] {
            assert!(check(wrong).is_err());
        }
    }
}
