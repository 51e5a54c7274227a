//! Who asks, and what they may do.

mod browser;
mod cookie;
mod extract;
mod limit;
mod login;
mod origin;
mod password;

pub(crate) use browser::welcome;
pub(crate) use cookie::credential;
pub(crate) use extract::{Administrator, Onlooker, Signed, Writer, only_reads};
pub(crate) use limit::LoginLimiter;
pub(crate) use login::{actor, routes};
pub(crate) use origin::refuse_foreign;

use crate::metrics;
use crate::settings::AuthSettings;
use netaclaw_admin::{AdminError, AdminStore, FIRST_USER, TokenCheck, same_secret};
use netaclaw_engine::Caller;
use netaclaw_protocol::{Role, Token, TokenScope, User, Words};
use secrecy::SecretString;
use std::sync::Arc;
use std::time::Instant;
use thiserror::Error;
use tokio::sync::OnceCell;

/// Somebody who has shown a credential.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) user_id: String,
    pub(crate) user_name: String,
    pub(crate) role: Role,
    pub(crate) scope: TokenScope,
    /// `None` only for the access token of a store that has no first user.
    pub(crate) user: Option<User>,
    /// Absent for the access token, which is no record.
    pub(crate) token: Option<Token>,
}

impl Identity {
    /// As the engine knows them. Whoever may only chat sees only their own sessions, also as an
    /// administrator.
    pub(crate) fn caller(&self) -> Caller {
        Caller {
            user_id: self.user_id.clone(),
            is_admin: self.role == Role::Admin && self.scope != TokenScope::Chat,
        }
    }

    pub(crate) fn may_write(&self) -> bool {
        self.scope != TokenScope::Read
    }

    /// May look at how the server is configured.
    pub(crate) fn may_inspect(&self) -> bool {
        self.role == Role::Admin && self.scope != TokenScope::Chat
    }

    pub(crate) fn may_configure(&self) -> bool {
        self.role == Role::Admin && self.scope == TokenScope::Full
    }
}

/// Why nobody was let in. The words reach the client.
#[derive(Debug, Error)]
pub(crate) enum AuthError {
    #[error("no credential was given; use the access token or log in")]
    Missing,
    #[error("the credential is not known here")]
    Unknown,
    #[error("the token has expired")]
    Expired,
    #[error("the token has been revoked")]
    Revoked,
    #[error("the user is switched off")]
    UserDisabled,
    #[error("credentials cannot be checked right now; try again")]
    Unavailable,
}

impl AuthError {
    pub(crate) fn words(&self) -> Words {
        let zh = match self {
            Self::Missing => "未提供凭据；请使用访问令牌或登录",
            Self::Unknown => "凭据无效",
            Self::Expired => "令牌已过期",
            Self::Revoked => "令牌已吊销",
            Self::UserDisabled => "该用户已停用",
            Self::Unavailable => "暂时无法验证凭据；请稍后重试",
        };
        Words::new(zh, self.to_string())
    }
}

/// Checks credentials.
pub(crate) struct Authenticator {
    admin: Arc<dyn AdminStore>,
    access_token: Option<SecretString>,
    /// Whom the access token stands for. Looked up once: it is on the way of every command.
    owner: OnceCell<User>,
}

impl Authenticator {
    pub(crate) fn new(admin: Arc<dyn AdminStore>, settings: &AuthSettings) -> Self {
        Self {
            admin,
            access_token: settings.access_token.clone(),
            owner: OnceCell::new(),
        }
    }

    pub(crate) async fn check(
        &self,
        presented: Option<&SecretString>,
    ) -> Result<Identity, AuthError> {
        let presented = presented.ok_or(AuthError::Missing)?;
        let access = self.access_token.as_ref();
        if access.is_some_and(|token| same_secret(token, presented)) {
            return self.owner().await;
        }
        let began = Instant::now();
        let checked = self.admin.check_token(presented).await;
        metrics::token_checked(began.elapsed());
        match checked {
            Ok(TokenCheck::Right(access)) => Ok(Identity {
                token: Some(access.token.clone()),
                ..identity(access.user, access.token.spec.scope)
            }),
            Ok(TokenCheck::Unknown) => Err(AuthError::Unknown),
            Ok(TokenCheck::Expired) => Err(AuthError::Expired),
            Ok(TokenCheck::Revoked) => Err(AuthError::Revoked),
            Ok(TokenCheck::UserDisabled) => Err(AuthError::UserDisabled),
            Err(error) => Err(unavailable(&error)),
        }
    }

    async fn owner(&self) -> Result<Identity, AuthError> {
        let owner = self
            .owner
            .get_or_try_init(|| self.admin.user_named(FIRST_USER))
            .await;
        match owner {
            Ok(user) => Ok(identity(user.clone(), TokenScope::Full)),
            Err(AdminError::NotFound { .. }) => Ok(Identity {
                user_id: FIRST_USER.to_owned(),
                user_name: FIRST_USER.to_owned(),
                role: Role::Admin,
                scope: TokenScope::Full,
                user: None,
                token: None,
            }),
            Err(error) => Err(unavailable(&error)),
        }
    }
}

pub(crate) fn identity(user: User, scope: TokenScope) -> Identity {
    Identity {
        user_id: user.id.as_str().to_owned(),
        user_name: user.spec.name.clone(),
        role: user.spec.role,
        scope,
        user: Some(user),
        token: None,
    }
}

fn unavailable(error: &AdminError) -> AuthError {
    tracing::error!(%error, "a credential could not be checked");
    AuthError::Unavailable
}
