//! Groups and entries as rows.

use super::{ENTRY, GROUP};
use crate::admin::fault::{Result, found, or_name_taken};
use crate::admin::record::{self, column, first_stamp, new_id, next_stamp, stamp_of};
use netaclaw_admin::{Actor, changed_fields, check_dict_info, check_dict_type};
use netaclaw_protocol::{DictInfo, DictInfoId, DictInfoSpec, DictType, DictTypeId, DictTypeSpec};
use sqlx::AnyConnection;

type GroupRow = (String, String, String, i64, i64, i64);
type EntryRow = (String, String, String, String, i64, String, i64, i64, i64);

macro_rules! select_groups {
    ($rest:literal) => {
        concat!(
            "SELECT id, `key`, name, rev, createdAt, updatedAt FROM dict_type ",
            $rest
        )
    };
}

macro_rules! select_entries {
    ($rest:literal) => {
        concat!(
            "SELECT id, typeId, name, value, orderNum, remark, rev, createdAt, updatedAt \
             FROM dict_info ",
            $rest
        )
    };
}

pub(in crate::admin) async fn read_dictionary(
    connection: &mut AnyConnection,
) -> Result<Vec<DictType>> {
    let groups: Vec<GroupRow> = sqlx::query_as(select_groups!("ORDER BY `key`"))
        .fetch_all(&mut *connection)
        .await?;
    let entries: Vec<EntryRow> = sqlx::query_as(select_entries!("ORDER BY orderNum, name"))
        .fetch_all(connection)
        .await?;
    let mut groups: Vec<DictType> = groups.into_iter().map(group_of).collect();
    for entry in entries.into_iter().map(entry_of) {
        if let Some(group) = groups.iter_mut().find(|group| group.id == entry.type_id) {
            group.entries.push(entry);
        }
    }
    Ok(groups)
}

/// The value of an entry; `None` if it is absent or empty.
pub(in crate::admin) async fn read_value(
    connection: &mut AnyConnection,
    group: &str,
    name: &str,
) -> Result<Option<String>> {
    const SELECT: &str = "SELECT dict_info.value FROM dict_info \
         JOIN dict_type ON dict_type.id = dict_info.typeId \
         WHERE dict_type.`key` = ? AND dict_info.name = ?";
    let value: Option<String> = sqlx::query_scalar(SELECT)
        .bind(group)
        .bind(name)
        .fetch_optional(connection)
        .await?;
    Ok(value.filter(|value| !value.is_empty()))
}

pub(super) async fn read_group(
    connection: &mut AnyConnection,
    id: &DictTypeId,
) -> Result<DictType> {
    let groups = read_dictionary(connection).await?;
    let group = groups.into_iter().find(|group| group.id == *id);
    found(group, GROUP, id.as_str(), [])
}

pub(super) async fn read_entry(
    connection: &mut AnyConnection,
    id: &DictInfoId,
) -> Result<DictInfo> {
    let row: Option<EntryRow> = sqlx::query_as(select_entries!("WHERE id = ?"))
        .bind(id.as_str())
        .fetch_optional(connection)
        .await?;
    Ok(entry_of(found(row, ENTRY, id.as_str(), [])?))
}

fn group_of((id, key, name, rev, created_at, updated_at): GroupRow) -> DictType {
    DictType {
        id: DictTypeId::new(id),
        spec: DictTypeSpec { key, name },
        entries: Vec::new(),
        stamp: stamp_of(rev, created_at, updated_at),
    }
}

fn entry_of(row: EntryRow) -> DictInfo {
    let (id, type_id, name, value, order_num, remark, rev, created_at, updated_at) = row;
    DictInfo {
        id: DictInfoId::new(id),
        type_id: DictTypeId::new(type_id),
        spec: DictInfoSpec {
            name,
            value,
            order_num: i32::try_from(order_num).unwrap_or(i32::MAX),
            remark,
        },
        stamp: stamp_of(rev, created_at, updated_at),
    }
}

pub(in crate::admin) async fn insert_group(
    writer: &mut AnyConnection,
    by: &Actor,
    spec: DictTypeSpec,
) -> Result<DictType> {
    const INSERT: &str = "INSERT INTO dict_type (id, `key`, name, rev, createdAt, updatedAt) \
         VALUES (?, ?, ?, ?, ?, ?)";
    check_dict_type(&spec)?;
    let (id, stamp) = (new_id(), first_stamp());
    let inserted = sqlx::query(INSERT)
        .bind(&id)
        .bind(&spec.key)
        .bind(&spec.name)
        .bind(column(stamp.rev))
        .bind(stamp.created_at)
        .bind(stamp.updated_at)
        .execute(&mut *writer)
        .await;
    or_name_taken(inserted, GROUP, &spec.key)?;
    let group = DictType {
        id: DictTypeId::new(id),
        spec,
        entries: Vec::new(),
        stamp,
    };
    record::audit_create(writer, by, &group).await?;
    Ok(group)
}

pub(super) async fn change_group(
    writer: &mut AnyConnection,
    by: &Actor,
    mut group: DictType,
    spec: DictTypeSpec,
) -> Result<DictType> {
    const UPDATE: &str =
        "UPDATE dict_type SET `key` = ?, name = ?, rev = ?, updatedAt = ? WHERE id = ?";
    check_dict_type(&spec)?;
    let fields = changed_fields(&group.spec, &spec);
    if fields.is_empty() {
        return Ok(group);
    }
    group.spec = spec;
    group.stamp = next_stamp(group.stamp);
    let DictType {
        id, spec, stamp, ..
    } = &group;
    let updated = sqlx::query(UPDATE)
        .bind(&spec.key)
        .bind(&spec.name)
        .bind(column(stamp.rev))
        .bind(stamp.updated_at)
        .bind(id.as_str())
        .execute(&mut *writer)
        .await;
    or_name_taken(updated, GROUP, &spec.key)?;
    record::audit_update(writer, by, &group, fields).await?;
    Ok(group)
}

pub(in crate::admin) async fn insert_entry(
    writer: &mut AnyConnection,
    by: &Actor,
    group: &DictTypeId,
    spec: DictInfoSpec,
) -> Result<DictInfo> {
    const INSERT: &str = "INSERT INTO dict_info \
         (id, typeId, name, value, orderNum, remark, rev, createdAt, updatedAt) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
    check_dict_info(&spec)?;
    let (id, stamp) = (new_id(), first_stamp());
    let inserted = sqlx::query(INSERT)
        .bind(&id)
        .bind(group.as_str())
        .bind(&spec.name)
        .bind(&spec.value)
        .bind(i64::from(spec.order_num))
        .bind(&spec.remark)
        .bind(column(stamp.rev))
        .bind(stamp.created_at)
        .bind(stamp.updated_at)
        .execute(&mut *writer)
        .await;
    or_name_taken(inserted, ENTRY, &spec.name)?;
    let entry = DictInfo {
        id: DictInfoId::new(id),
        type_id: group.clone(),
        spec,
        stamp,
    };
    record::audit_create(writer, by, &entry).await?;
    Ok(entry)
}

pub(super) async fn change_entry(
    writer: &mut AnyConnection,
    by: &Actor,
    mut entry: DictInfo,
    spec: DictInfoSpec,
) -> Result<DictInfo> {
    const UPDATE: &str = "UPDATE dict_info \
         SET name = ?, value = ?, orderNum = ?, remark = ?, rev = ?, updatedAt = ? WHERE id = ?";
    check_dict_info(&spec)?;
    let fields = changed_fields(&entry.spec, &spec);
    if fields.is_empty() {
        return Ok(entry);
    }
    entry.spec = spec;
    entry.stamp = next_stamp(entry.stamp);
    let DictInfo {
        id, spec, stamp, ..
    } = &entry;
    let updated = sqlx::query(UPDATE)
        .bind(&spec.name)
        .bind(&spec.value)
        .bind(i64::from(spec.order_num))
        .bind(&spec.remark)
        .bind(column(stamp.rev))
        .bind(stamp.updated_at)
        .bind(id.as_str())
        .execute(&mut *writer)
        .await;
    or_name_taken(updated, ENTRY, &spec.name)?;
    record::audit_update(writer, by, &entry, fields).await?;
    Ok(entry)
}
