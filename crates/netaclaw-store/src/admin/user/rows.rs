//! Users as rows.

use super::KIND;
use crate::admin::fault::{Result, found, or_name_taken, unreadable};
use crate::admin::record::{self, column, first_stamp, new_id, of_word, stamp_of, word};
use netaclaw_admin::{Actor, Invalid, Problem};
use netaclaw_protocol::{Role, User, UserId, UserSpec, UserStatus};
use sqlx::AnyConnection;

/// The flag says whether there is a password, which itself is not read along.
type Row = (String, String, String, String, String, i64, i64, i64, i64);

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, label, role, status, \
             CASE WHEN passwordHash IS NULL THEN 0 ELSE 1 END, rev, createdAt, updatedAt \
             FROM netaclaw_user ",
            $rest
        )
    };
}

pub(super) async fn read_users(connection: &mut AnyConnection) -> Result<Vec<User>> {
    let rows: Vec<Row> = sqlx::query_as(select!("ORDER BY name"))
        .fetch_all(connection)
        .await?;
    rows.into_iter().map(user_of).collect()
}

pub(in crate::admin) async fn read_user(
    connection: &mut AnyConnection,
    id: &UserId,
) -> Result<User> {
    let row: Option<Row> = sqlx::query_as(select!("WHERE id = ?"))
        .bind(id.as_str())
        .fetch_optional(connection)
        .await?;
    user_of(found(row, KIND, id.as_str(), [])?)
}

fn user_of(row: Row) -> Result<User> {
    let (id, name, label, role, status, password_set, rev, created_at, updated_at) = row;
    let failed = |error| unreadable(KIND, &name, error);
    Ok(User {
        id: UserId::new(id),
        spec: UserSpec {
            role: of_word(role).map_err(failed)?,
            status: of_word(status).map_err(failed)?,
            name,
            label,
        },
        password_set: password_set != 0,
        stamp: stamp_of(rev, created_at, updated_at),
    })
}

pub(super) async fn read_hash(
    connection: &mut AnyConnection,
    id: &UserId,
) -> Result<Option<String>> {
    let hash: Option<Option<String>> =
        sqlx::query_scalar("SELECT passwordHash FROM netaclaw_user WHERE id = ?")
            .bind(id.as_str())
            .fetch_optional(connection)
            .await?;
    Ok(hash.flatten())
}

pub(in crate::admin) async fn insert_user(
    writer: &mut AnyConnection,
    by: &Actor,
    spec: UserSpec,
    hash: Option<String>,
) -> Result<User> {
    const INSERT: &str = "INSERT INTO netaclaw_user \
         (id, name, label, role, status, passwordHash, rev, createdAt, updatedAt) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let user = User {
        id: UserId::new(new_id()),
        password_set: hash.is_some(),
        spec,
        stamp: first_stamp(),
    };
    let User {
        id, spec, stamp, ..
    } = &user;
    let inserted = sqlx::query(INSERT)
        .bind(id.as_str())
        .bind(&spec.name)
        .bind(&spec.label)
        .bind(word(&spec.role))
        .bind(word(&spec.status))
        .bind(hash)
        .bind(column(stamp.rev))
        .bind(stamp.created_at)
        .bind(stamp.updated_at)
        .execute(&mut *writer)
        .await;
    or_name_taken(inserted, KIND, &spec.name)?;
    record::audit_create(writer, by, &user).await?;
    Ok(user)
}

pub(super) async fn write_user(
    writer: &mut AnyConnection,
    user: &User,
    hash: Option<String>,
) -> Result<()> {
    const UPDATE: &str = "UPDATE netaclaw_user SET name = ?, label = ?, role = ?, status = ?, \
         passwordHash = ?, rev = ?, updatedAt = ? WHERE id = ?";
    let User {
        id, spec, stamp, ..
    } = user;
    let updated = sqlx::query(UPDATE)
        .bind(&spec.name)
        .bind(&spec.label)
        .bind(word(&spec.role))
        .bind(word(&spec.status))
        .bind(hash)
        .bind(column(stamp.rev))
        .bind(stamp.updated_at)
        .bind(id.as_str())
        .execute(writer)
        .await;
    or_name_taken(updated, KIND, &spec.name)?;
    Ok(())
}

/// Refuses, and so rolls back, a change that would leave no administrator.
pub(super) async fn ensure_admin_stays(writer: &mut AnyConnection) -> Result<()> {
    let users = read_users(writer).await?;
    let can_configure =
        |user: &User| user.spec.role == Role::Admin && user.spec.status == UserStatus::Enabled;
    match users.iter().any(can_configure) {
        true => Ok(()),
        false => Err(Invalid::new("role", Problem::LastAdmin).into()),
    }
}
