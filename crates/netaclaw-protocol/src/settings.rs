//! The dictionary, and settings by name.

use crate::{DictInfoId, DictTypeId, Stamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// A group of the dictionary with its entries in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct DictType {
    pub id: DictTypeId,
    #[serde(flatten)]
    pub spec: DictTypeSpec,
    pub entries: Vec<DictInfo>,
    #[serde(flatten)]
    pub stamp: Stamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct DictTypeSpec {
    /// Unique; the first half of a name such as `netaclaw.auxiliary_channel_id`.
    pub key: String,
    /// Display name.
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct DictInfo {
    pub id: DictInfoId,
    pub type_id: DictTypeId,
    #[serde(flatten)]
    pub spec: DictInfoSpec,
    #[serde(flatten)]
    pub stamp: Stamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct DictInfoSpec {
    /// Unique in its group.
    pub name: String,
    /// Empty: not set.
    #[serde(default)]
    pub value: String,
    #[serde(default)]
    pub order_num: i32,
    #[serde(default)]
    pub remark: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Setting {
    /// Unique, with dots between its parts.
    pub name: String,
    pub value: Value,
    #[serde(flatten)]
    pub stamp: Stamp,
}

/// Changes a setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SettingWrite {
    pub value: Value,
}

/// Sets an entry of the dictionary by its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DictValue {
    pub value: String,
}
