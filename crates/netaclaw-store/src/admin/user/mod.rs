//! Users in their table.

mod password;
mod rows;

pub(super) use password::Passwords;
pub(super) use rows::{insert_user, read_user};

use super::SqlAdminStore;
use super::database::commit;
use super::fault::{Result, found};
use super::record::{self, act, next_stamp};
use super::revision_cache::Area;
use super::token::end_browsers;
use async_trait::async_trait;
use netaclaw_admin::{
    Actor, AdminError, AuditStore, Expect, LoginCheck, PasswordChange, UserStore, changed_fields,
    check_password_rules, check_user,
};
use netaclaw_protocol::{AuditAction, NewUser, RecordKind, User, UserId, UserSpec, UserStatus};
use rows::{ensure_admin_stays, read_hash, read_users, write_user};
use secrecy::SecretString;

const KIND: RecordKind = RecordKind::User;

#[async_trait]
impl UserStore for SqlAdminStore {
    async fn users(&self) -> Result<Vec<User>, AdminError> {
        Ok(read_users(&mut *self.database.connection().await?).await?)
    }

    async fn user(&self, id: &UserId) -> Result<User, AdminError> {
        Ok(read_user(&mut *self.database.connection().await?, id).await?)
    }

    async fn user_named(&self, name: &str) -> Result<User, AdminError> {
        let users = self.users().await?;
        let user = users.iter().find(|user| user.spec.name == name);
        let names = users.iter().map(|user| user.spec.name.as_str());
        Ok(found(user.cloned(), KIND, name, names)?)
    }

    async fn create_user(&self, by: &Actor, new: NewUser) -> Result<User, AdminError> {
        check_user(&new.spec)?;
        let hash = match new.password {
            Some(password) => Some(self.new_hash(password).await?),
            None => None,
        };
        let mut writer = self.database.writer(Area::Accounts).await?;
        let user = insert_user(&mut writer, by, new.spec, hash).await?;
        commit(writer).await?;
        Ok(user)
    }

    async fn update_user(
        &self,
        by: &Actor,
        id: &UserId,
        expect: Expect,
        spec: UserSpec,
        password: PasswordChange,
    ) -> Result<User, AdminError> {
        check_user(&spec)?;
        // Before the write lock is taken: no writer waits while a password is hashed.
        let new_hash = match password {
            PasswordChange::Keep => None,
            PasswordChange::Clear => Some(None),
            PasswordChange::Set(password) => Some(Some(self.new_hash(password).await?)),
        };
        let mut writer = self.database.writer(Area::Accounts).await?;
        let mut user = read_user(&mut writer, id).await?;
        record::expect(expect, &user)?;
        let mut fields = changed_fields(&user.spec, &spec);
        user.spec = spec;
        let mut hash = read_hash(&mut writer, id).await?;
        if let Some(new_hash) = new_hash {
            if user.password_set {
                end_browsers(&mut writer, by, id).await?;
            }
            hash = new_hash;
            user.password_set = hash.is_some();
            fields.push("password".to_owned());
        }
        if !fields.is_empty() {
            user.stamp = next_stamp(user.stamp);
            write_user(&mut writer, &user, hash).await?;
            ensure_admin_stays(&mut writer).await?;
            record::audit_update(&mut writer, by, &user, fields).await?;
        }
        commit(writer).await?;
        Ok(user)
    }

    async fn delete_user(&self, by: &Actor, id: &UserId, expect: Expect) -> Result<(), AdminError> {
        let mut writer = self.database.writer(Area::Accounts).await?;
        let user = read_user(&mut writer, id).await?;
        record::expect(expect, &user)?;
        // Their tokens are deleted with them, by the foreign key.
        let statement = "DELETE FROM netaclaw_user WHERE id = ?";
        record::delete(&mut writer, by, &user, statement).await?;
        ensure_admin_stays(&mut writer).await?;
        commit(writer).await?;
        Ok(())
    }

    async fn check_login(
        &self,
        name: &str,
        password: &SecretString,
    ) -> Result<LoginCheck, AdminError> {
        let users = self.users().await?;
        let user = users.into_iter().find(|user| user.spec.name == name);
        let hash = match &user {
            Some(user) => read_hash(&mut *self.database.connection().await?, &user.id).await?,
            None => None,
        };
        let is_right = self.passwords.verify(password.clone(), hash).await?;
        let may_enter = |user: &User| is_right && user.spec.status == UserStatus::Enabled;
        // An unknown name is not recorded: it may be a password in the wrong field.
        let (id, name) = user
            .as_ref()
            .map_or(("", ""), |user| (user.id.as_str(), name));
        let action = match user.as_ref().is_some_and(may_enter) {
            true => AuditAction::Login,
            false => AuditAction::LoginRefused,
        };
        let act = act(action, KIND, id, name, Vec::new());
        self.record_act(&Actor::system(), act).await?;
        Ok(user
            .filter(may_enter)
            .map_or(LoginCheck::Refused, LoginCheck::Right))
    }
}

impl SqlAdminStore {
    async fn new_hash(&self, password: SecretString) -> Result<String> {
        check_password_rules(&password)?;
        self.passwords.hash(password).await
    }
}
