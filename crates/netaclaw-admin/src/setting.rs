//! The port to settings: a JSON value by name.

use crate::audit::Actor;
use crate::error::{Invalid, Problem, Result};
use crate::rules;
use crate::store::Expect;
use async_trait::async_trait;
use netaclaw_protocol::Setting;
use serde_json::Value;

#[async_trait]
pub trait SettingStore: Send + Sync {
    /// All settings, by name.
    async fn settings(&self) -> Result<Vec<Setting>>;
    /// `None` if nobody has set it.
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

const VALUE_BYTES_MAX: usize = 1 << 20;

pub fn check_setting(name: &str, value: &Value) -> Result<(), Invalid> {
    rules::name("name", name)?;
    rules::ensure(!name.contains(' '), "name", Problem::NotAName)?;
    let chars_max = VALUE_BYTES_MAX;
    let size = value.to_string().len();
    rules::ensure(size <= chars_max, "value", Problem::TooLong { chars_max })
}
