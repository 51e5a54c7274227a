//! Tokens in their table, as hashes.
//!
//! A token is `neta_<id>_<secret>`. The id finds the row, and only the hash of the secret is
//! compared, in constant time; so the response time reveals nothing about a secret.

use super::SqlAdminStore;
use super::database::commit;
use super::fault::{Fault, Result, found, unreadable};
use super::record::{self, column, first_stamp, next_stamp, of_word, stamp_of, word};
use super::revision_cache::{Area, Cacheable};
use super::user::read_user;
use crate::now_ms;
use async_trait::async_trait;
use netaclaw_admin::{
    Access, Actor, AdminError, Invalid, IssuedToken, Problem, TokenCheck, TokenStore,
    check_token_spec, is_browsers,
};
use netaclaw_protocol::{
    AuditAction, RecordKind, Token, TokenId, TokenSpec, User, UserId, UserStatus,
};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use sqlx::AnyConnection;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use subtle::ConstantTimeEq;

const KIND: RecordKind = RecordKind::Token;
const PREFIX: &str = "neta_";
const ID_BYTES: usize = 8;
const SECRET_BYTES: usize = 32;
/// Tokens that are cached at most; beyond it all are read again.
const CACHED_MAX: usize = 4096;

#[async_trait]
impl TokenStore for SqlAdminStore {
    async fn tokens(&self) -> Result<Vec<Token>, AdminError> {
        let mut tokens = read_tokens(&mut *self.database.connection().await?).await?;
        self.token_uses.complete(&mut tokens);
        Ok(tokens)
    }

    async fn tokens_of(&self, user: &UserId) -> Result<Vec<Token>, AdminError> {
        let mut tokens = self.tokens().await?;
        tokens.retain(|token| token.spec.user_id == *user);
        Ok(tokens)
    }

    async fn issue_token(&self, by: &Actor, spec: TokenSpec) -> Result<IssuedToken, AdminError> {
        let mut writer = self.database.writer(Area::Accounts).await?;
        let issued = issue(&mut writer, by, spec).await?;
        commit(writer).await?;
        Ok(issued)
    }

    async fn issue_token_with(
        &self,
        by: &Actor,
        mut spec: TokenSpec,
        with: &TokenId,
    ) -> Result<IssuedToken, AdminError> {
        let mut writer = self.database.writer(Area::Accounts).await?;
        let stored = read_token(&mut writer, with).await?;
        let living = stored.filter(|(token, _)| ending(token, now_ms()).is_none());
        let (with, _) = found(living, KIND, with.as_str(), [])?;
        spec.expires_at = [spec.expires_at, with.spec.expires_at]
            .into_iter()
            .flatten()
            .min();
        let mut issued = issue(&mut writer, by, spec).await?;
        write_issued_with(&mut writer, &issued.token.id, &with.id).await?;
        issued.token.issued_with = Some(with.id);
        commit(writer).await?;
        Ok(issued)
    }

    async fn revoke_token(&self, by: &Actor, id: &TokenId) -> Result<Token, AdminError> {
        let mut writer = self.database.writer(Area::Accounts).await?;
        let token = revoke_all(&mut writer, by, id).await?;
        commit(writer).await?;
        Ok(token)
    }

    async fn forget_tokens(&self, dead_before: i64) -> Result<(), AdminError> {
        const DELETE: &str = "DELETE FROM netaclaw_token WHERE revokedAt < ? OR expiresAt < ?";
        let mut writer = self.database.writer(Area::Accounts).await?;
        sqlx::query(DELETE)
            .bind(dead_before)
            .bind(dead_before)
            .execute(&mut *writer)
            .await
            .map_err(Fault::from)?;
        commit(writer).await?;
        Ok(())
    }

    async fn check_token(&self, presented: &SecretString) -> Result<TokenCheck, AdminError> {
        let parts = presented.expose_secret().strip_prefix(PREFIX);
        let Some((id, secret)) = parts.and_then(|rest| rest.split_once('_')) else {
            return Ok(TokenCheck::Unknown);
        };
        let Some(cached) = self.cached_token(&TokenId::new(id)).await? else {
            return Ok(TokenCheck::Unknown);
        };
        let now = now_ms();
        if !bool::from(cached.hash.ct_eq(hash(secret).as_slice())) {
            return Ok(TokenCheck::Unknown);
        }
        if let Some(ending) = ending(&cached.token, now) {
            return Ok(ending);
        }
        let CachedToken { user, token, .. } = &*cached;
        if user.spec.status == UserStatus::Disabled {
            return Ok(TokenCheck::UserDisabled);
        }
        let (user, mut token) = (user.clone(), token.clone());
        let uses = self.token_uses.used(&mut token, now);
        self.write_uses(uses).await;
        Ok(TokenCheck::Right(Box::new(Access { user, token })))
    }

    async fn accounts_revision(&self) -> Result<u64, AdminError> {
        Ok(self.tokens.get(self).await?.revision)
    }
}

/// Tokens that were presented at one revision of the accounts. The cache ends with the revision, so
/// a token that is revoked, or whose user is disabled, is read again.
#[derive(Debug)]
pub(super) struct TokenCache {
    revision: u64,
    tokens: Mutex<HashMap<TokenId, Arc<CachedToken>>>,
}

/// A token as it is stored, with its user.
#[derive(Debug)]
struct CachedToken {
    token: Token,
    hash: Vec<u8>,
    user: User,
}

impl Cacheable for TokenCache {
    const AREA: Area = Area::Accounts;

    async fn read(_: &SqlAdminStore, _: &mut AnyConnection, revision: u64) -> Result<Self> {
        Ok(Self {
            revision,
            tokens: Mutex::default(),
        })
    }
}

impl TokenCache {
    fn get(&self, id: &TokenId) -> Option<Arc<CachedToken>> {
        self.lock().get(id).cloned()
    }

    fn keep(&self, token: &Arc<CachedToken>) {
        let mut tokens = self.lock();
        if tokens.len() >= CACHED_MAX {
            tokens.clear();
        }
        tokens.insert(token.token.id.clone(), Arc::clone(token));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TokenId, Arc<CachedToken>>> {
        // A map is whole between any two of its operations.
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SqlAdminStore {
    async fn cached_token(&self, id: &TokenId) -> Result<Option<Arc<CachedToken>>> {
        let cache = self.tokens.get(self).await?;
        if let Some(cached) = cache.get(id) {
            return Ok(Some(cached));
        }
        let mut connection = self.database.connection().await?;
        let Some((token, hash)) = read_token(&mut connection, id).await? else {
            return Ok(None);
        };
        let user = read_user(&mut connection, &token.spec.user_id).await?;
        let cached = Arc::new(CachedToken { token, hash, user });
        cache.keep(&cached);
        Ok(Some(cached))
    }

    /// Authentication does not depend on whether the use is recorded.
    pub(super) async fn write_uses(&self, uses: Vec<(TokenId, i64)>) {
        if uses.is_empty() {
            return;
        }
        let written = async {
            let mut writer = self.database.writer(Area::Accounts).await?;
            for (id, at) in &uses {
                write_used(&mut writer, id, *at).await?;
            }
            commit(writer).await
        };
        if let Err(error) = written.await {
            tracing::warn!(?error, "failed to store the last use of tokens");
        }
    }
}

/// Why a token is not valid, if so.
fn ending(token: &Token, now_ms: i64) -> Option<TokenCheck> {
    if token.revoked_at.is_some() {
        return Some(TokenCheck::Revoked);
    }
    let is_over = token.spec.expires_at.is_some_and(|at| at <= now_ms);
    is_over.then_some(TokenCheck::Expired)
}

async fn issue(
    writer: &mut AnyConnection,
    by: &Actor,
    spec: TokenSpec,
) -> Result<IssuedToken, AdminError> {
    check_token_spec(&spec, now_ms())?;
    let id = TokenId::new(random_hex::<ID_BYTES>()?);
    let secret = random_hex::<SECRET_BYTES>()?;
    if let Err(error) = read_user(writer, &spec.user_id).await {
        let problem = Problem::NoSuchUser {
            id: spec.user_id.as_str().to_owned(),
        };
        return Err(match error.into() {
            AdminError::NotFound { .. } => Invalid::new("userId", problem).into(),
            other => other,
        });
    }
    let token = insert_token(writer, id, spec, &hash(&secret)).await?;
    record::audit_create(writer, by, &token).await?;
    let secret = SecretString::from(format!("{PREFIX}{}_{secret}", token.id));
    Ok(IssuedToken { token, secret })
}

/// Revokes the tokens of a user's browsers that may have logged in with the password, and not with
/// another token. The token that authenticated this request stays.
pub(super) async fn end_browsers(
    writer: &mut AnyConnection,
    by: &Actor,
    user: &UserId,
) -> Result<()> {
    let now = now_ms();
    for token in read_tokens(writer).await? {
        let by_password = is_browsers(&token) && token.issued_with.is_none();
        let is_theirs = token.spec.user_id == *user && ending(&token, now).is_none();
        if by_password && is_theirs && by.token() != Some(&token.id) {
            revoke_all(writer, by, &token.id).await?;
        }
    }
    Ok(())
}

/// Revokes a token, and those that were issued with it.
async fn revoke_all(writer: &mut AnyConnection, by: &Actor, id: &TokenId) -> Result<Token> {
    let token = revoke(writer, by, id).await?;
    let mut ending = read_issued_with(writer, id).await?;
    while let Some(id) = ending.pop() {
        revoke(writer, by, &id).await?;
        ending.extend(read_issued_with(writer, &id).await?);
    }
    Ok(token)
}

async fn revoke(writer: &mut AnyConnection, by: &Actor, id: &TokenId) -> Result<Token> {
    let stored = read_token(writer, id).await?;
    let mut token = found(stored, KIND, id.as_str(), [])?.0;
    if token.revoked_at.is_none() {
        token.stamp = next_stamp(token.stamp);
        token.revoked_at = Some(token.stamp.updated_at);
        write_revoked(writer, &token).await?;
        record::audit(writer, by, AuditAction::Revoke, &token, Vec::new()).await?;
    }
    Ok(token)
}

fn random_hex<const BYTES: usize>() -> Result<String> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| {
        AdminError::store(
            "the operating system provides no random numbers",
            error.to_string(),
        )
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A plain hash is enough: 2^256 secrets cannot be guessed.
fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

type Row = (
    String,
    String,
    String,
    String,
    Vec<u8>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<String>,
    i64,
    i64,
    i64,
);

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, userId, label, scope, hash, expiresAt, revokedAt, lastUsedAt, \
             issuedWith, rev, createdAt, updatedAt FROM netaclaw_token \
             LEFT JOIN netaclaw_browser_token ON tokenId = id ",
            $rest
        )
    };
}

async fn read_tokens(connection: &mut AnyConnection) -> Result<Vec<Token>> {
    let rows: Vec<Row> = sqlx::query_as(select!("ORDER BY createdAt DESC, id"))
        .fetch_all(connection)
        .await?;
    rows.into_iter().map(|row| Ok(token_of(row)?.0)).collect()
}

async fn read_token(
    connection: &mut AnyConnection,
    id: &TokenId,
) -> Result<Option<(Token, Vec<u8>)>> {
    let row: Option<Row> = sqlx::query_as(select!("WHERE id = ?"))
        .bind(id.as_str())
        .fetch_optional(connection)
        .await?;
    row.map(token_of).transpose()
}

/// The token, and the hash of its secret.
fn token_of(row: Row) -> Result<(Token, Vec<u8>)> {
    let (id, user_id, label, scope, hash, expires_at, revoked_at, last_used_at, ..) = &row;
    let issued_with = row.8.as_deref();
    let token = Token {
        id: TokenId::new(id),
        spec: TokenSpec {
            user_id: UserId::new(user_id),
            label: label.clone(),
            scope: of_word(scope.clone()).map_err(|error| unreadable(KIND, id, error))?,
            expires_at: *expires_at,
        },
        issued_with: issued_with.map(TokenId::new),
        revoked_at: *revoked_at,
        last_used_at: *last_used_at,
        stamp: stamp_of(row.9, row.10, row.11),
    };
    Ok((token, hash.clone()))
}

async fn insert_token(
    writer: &mut AnyConnection,
    id: TokenId,
    spec: TokenSpec,
    hash: &[u8],
) -> Result<Token> {
    const INSERT: &str = "INSERT INTO netaclaw_token \
         (id, userId, label, scope, hash, expiresAt, rev, createdAt, updatedAt) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let stamp = first_stamp();
    sqlx::query(INSERT)
        .bind(id.as_str())
        .bind(spec.user_id.as_str())
        .bind(&spec.label)
        .bind(word(&spec.scope))
        .bind(hash)
        .bind(spec.expires_at)
        .bind(column(stamp.rev))
        .bind(stamp.created_at)
        .bind(stamp.updated_at)
        .execute(writer)
        .await?;
    Ok(Token {
        id,
        spec,
        issued_with: None,
        revoked_at: None,
        last_used_at: None,
        stamp,
    })
}

async fn write_issued_with(writer: &mut AnyConnection, id: &TokenId, with: &TokenId) -> Result<()> {
    sqlx::query("INSERT INTO netaclaw_browser_token (tokenId, issuedWith) VALUES (?, ?)")
        .bind(id.as_str())
        .bind(with.as_str())
        .execute(writer)
        .await?;
    Ok(())
}

/// The tokens that were issued with this one.
async fn read_issued_with(connection: &mut AnyConnection, with: &TokenId) -> Result<Vec<TokenId>> {
    const SELECT: &str = "SELECT tokenId FROM netaclaw_browser_token WHERE issuedWith = ?";
    let ids: Vec<String> = sqlx::query_scalar(SELECT)
        .bind(with.as_str())
        .fetch_all(connection)
        .await?;
    Ok(ids.into_iter().map(TokenId::new).collect())
}

async fn write_revoked(writer: &mut AnyConnection, token: &Token) -> Result<()> {
    sqlx::query("UPDATE netaclaw_token SET revokedAt = ?, rev = ?, updatedAt = ? WHERE id = ?")
        .bind(token.revoked_at)
        .bind(column(token.stamp.rev))
        .bind(token.stamp.updated_at)
        .bind(token.id.as_str())
        .execute(writer)
        .await?;
    Ok(())
}

async fn write_used(writer: &mut AnyConnection, id: &TokenId, at: i64) -> Result<()> {
    sqlx::query("UPDATE netaclaw_token SET lastUsedAt = ? WHERE id = ?")
        .bind(at)
        .bind(id.as_str())
        .execute(writer)
        .await?;
    Ok(())
}
