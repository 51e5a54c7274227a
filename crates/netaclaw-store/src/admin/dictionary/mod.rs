//! The dictionary: groups and their entries.

mod rows;

pub(super) use rows::{insert_entry, insert_group, read_dictionary, read_value};

use super::SqlAdminStore;
use super::database::commit;
use super::fault::Result;
use super::record;
use super::revision_cache::Area;
use async_trait::async_trait;
use netaclaw_admin::{Actor, AdminError, DictionaryStore, Expect};
use netaclaw_protocol::{
    DictInfo, DictInfoId, DictInfoSpec, DictType, DictTypeId, DictTypeSpec, RecordKind,
};
use rows::{change_entry, change_group, read_entry, read_group};

const GROUP: RecordKind = RecordKind::DictType;
const ENTRY: RecordKind = RecordKind::DictInfo;

#[async_trait]
impl DictionaryStore for SqlAdminStore {
    async fn dictionary(&self) -> Result<Vec<DictType>, AdminError> {
        Ok(read_dictionary(&mut *self.database.connection().await?).await?)
    }

    async fn dict_value(&self, group: &str, name: &str) -> Result<Option<String>, AdminError> {
        let mut reader = self.database.connection().await?;
        Ok(read_value(&mut reader, group, name).await?)
    }

    async fn put_dict_value(
        &self,
        by: &Actor,
        group: &str,
        name: &str,
        value: &str,
    ) -> Result<DictInfo, AdminError> {
        let mut writer = self.database.writer(Area::Configuration).await?;
        let groups = read_dictionary(&mut writer).await?;
        let group = match groups.into_iter().find(|known| known.spec.key == group) {
            Some(group) => group,
            None => {
                let spec = DictTypeSpec {
                    key: group.to_owned(),
                    name: group.to_owned(),
                };
                insert_group(&mut writer, by, spec).await?
            }
        };
        let known = group.entries.iter().find(|entry| entry.spec.name == name);
        let entry = match known {
            Some(entry) => {
                let spec = DictInfoSpec {
                    value: value.to_owned(),
                    ..entry.spec.clone()
                };
                change_entry(&mut writer, by, entry.clone(), spec).await?
            }
            None => {
                let spec = DictInfoSpec {
                    name: name.to_owned(),
                    value: value.to_owned(),
                    order_num: i32::try_from(group.entries.len()).unwrap_or(i32::MAX),
                    remark: String::new(),
                };
                insert_entry(&mut writer, by, &group.id, spec).await?
            }
        };
        commit(writer).await?;
        Ok(entry)
    }

    async fn create_dict_type(
        &self,
        by: &Actor,
        spec: DictTypeSpec,
    ) -> Result<DictType, AdminError> {
        let mut writer = self.database.writer(Area::Configuration).await?;
        let group = insert_group(&mut writer, by, spec).await?;
        commit(writer).await?;
        Ok(group)
    }

    async fn update_dict_type(
        &self,
        by: &Actor,
        id: &DictTypeId,
        expect: Expect,
        spec: DictTypeSpec,
    ) -> Result<DictType, AdminError> {
        let mut writer = self.database.writer(Area::Configuration).await?;
        let before = read_group(&mut writer, id).await?;
        record::expect(expect, &before)?;
        let group = change_group(&mut writer, by, before, spec).await?;
        commit(writer).await?;
        Ok(group)
    }

    async fn delete_dict_type(
        &self,
        by: &Actor,
        id: &DictTypeId,
        expect: Expect,
    ) -> Result<(), AdminError> {
        let mut writer = self.database.writer(Area::Configuration).await?;
        let group = read_group(&mut writer, id).await?;
        record::expect(expect, &group)?;
        // Its entries are deleted with it, by the foreign key.
        let statement = "DELETE FROM dict_type WHERE id = ?";
        record::delete(&mut writer, by, &group, statement).await?;
        commit(writer).await?;
        Ok(())
    }

    async fn create_dict_info(
        &self,
        by: &Actor,
        group: &DictTypeId,
        spec: DictInfoSpec,
    ) -> Result<DictInfo, AdminError> {
        let mut writer = self.database.writer(Area::Configuration).await?;
        read_group(&mut writer, group).await?;
        let entry = insert_entry(&mut writer, by, group, spec).await?;
        commit(writer).await?;
        Ok(entry)
    }

    async fn update_dict_info(
        &self,
        by: &Actor,
        id: &DictInfoId,
        expect: Expect,
        spec: DictInfoSpec,
    ) -> Result<DictInfo, AdminError> {
        let mut writer = self.database.writer(Area::Configuration).await?;
        let before = read_entry(&mut writer, id).await?;
        record::expect(expect, &before)?;
        let entry = change_entry(&mut writer, by, before, spec).await?;
        commit(writer).await?;
        Ok(entry)
    }

    async fn delete_dict_info(
        &self,
        by: &Actor,
        id: &DictInfoId,
        expect: Expect,
    ) -> Result<(), AdminError> {
        let mut writer = self.database.writer(Area::Configuration).await?;
        let entry = read_entry(&mut writer, id).await?;
        record::expect(expect, &entry)?;
        let statement = "DELETE FROM dict_info WHERE id = ?";
        record::delete(&mut writer, by, &entry, statement).await?;
        commit(writer).await?;
        Ok(())
    }
}
