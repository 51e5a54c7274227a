//! The port to the dictionary: groups (`dict_type`) of named texts (`dict_info`).

use crate::audit::Actor;
use crate::error::{Invalid, Problem, Result};
use crate::rules;
use crate::store::Expect;
use async_trait::async_trait;
use netaclaw_protocol::{DictInfo, DictInfoId, DictInfoSpec, DictType, DictTypeId, DictTypeSpec};

/// The group that NetaClaw itself reads.
pub const NETACLAW_GROUP: &str = "netaclaw";
/// The channel for summaries and titles, unless the agent names one.
pub const AUXILIARY_CHANNEL_ID: &str = "auxiliary_channel_id";
pub const AUXILIARY_MODEL_ID: &str = "auxiliary_model_id";

#[async_trait]
pub trait DictionaryStore: Send + Sync {
    /// All groups by key, each with its entries in their order.
    async fn dictionary(&self) -> Result<Vec<DictType>>;
    /// The value of an entry; `None` if it is absent or empty.
    async fn dict_value(&self, group: &str, name: &str) -> Result<Option<String>>;
    /// Sets an entry by its name, making entry and group if they are not there.
    async fn put_dict_value(
        &self,
        by: &Actor,
        group: &str,
        name: &str,
        value: &str,
    ) -> Result<DictInfo>;

    async fn create_dict_type(&self, by: &Actor, spec: DictTypeSpec) -> Result<DictType>;
    async fn update_dict_type(
        &self,
        by: &Actor,
        id: &DictTypeId,
        expect: Expect,
        spec: DictTypeSpec,
    ) -> Result<DictType>;
    /// Deletes the group with its entries.
    async fn delete_dict_type(&self, by: &Actor, id: &DictTypeId, expect: Expect) -> Result<()>;

    async fn create_dict_info(
        &self,
        by: &Actor,
        group: &DictTypeId,
        spec: DictInfoSpec,
    ) -> Result<DictInfo>;
    async fn update_dict_info(
        &self,
        by: &Actor,
        id: &DictInfoId,
        expect: Expect,
        spec: DictInfoSpec,
    ) -> Result<DictInfo>;
    async fn delete_dict_info(&self, by: &Actor, id: &DictInfoId, expect: Expect) -> Result<()>;
}

pub fn check_dict_type(spec: &DictTypeSpec) -> Result<(), Invalid> {
    key("key", &spec.key)?;
    rules::at_most("name", &spec.name, rules::LABEL_CHARS_MAX)
}

pub fn check_dict_info(spec: &DictInfoSpec) -> Result<(), Invalid> {
    key("name", &spec.name)?;
    rules::at_most("value", &spec.value, rules::TEXT_CHARS_MAX)?;
    rules::at_most("remark", &spec.remark, rules::TEXT_CHARS_MAX)
}

fn key(field: &str, key: &str) -> Result<(), Invalid> {
    rules::name(field, key)?;
    // The dot separates group and entry.
    let plain = !key.contains([' ', '.']);
    rules::ensure(plain, field, Problem::NotAName)
}
