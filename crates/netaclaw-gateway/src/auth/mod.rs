//! Authentication and authorization.

mod address;
mod browser;
mod cookie;
mod extract;
mod known_browsers;
mod limit;
mod login;
mod origin;
mod password;

pub(crate) use browser::keep_login;
pub(crate) use cookie::credential;
pub(crate) use extract::{Administrator, CanInspect, FullScope, SignedIn, Writer};
pub(crate) use known_browsers::KnownBrowsers;
pub(crate) use limit::LoginLimiter;
pub(crate) use login::{actor, routes};
pub(crate) use origin::{KnownOrigins, RequestOrigin, foreign, made_by, refuse_foreign};

use crate::metrics;
use crate::settings::AuthSettings;
use netaclaw_admin::{AdminError, AdminStore, FIRST_USER, TokenCheck, same_secret};
use netaclaw_engine::Caller;
use netaclaw_protocol::{
    Reason, Role, Token, TokenScope, Unauthorized, Unavailable, User, UserId, UserStatus,
};
use secrecy::SecretString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::OnceCell;

/// An authenticated user.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) user_id: String,
    pub(crate) user_name: String,
    pub(crate) role: Role,
    pub(crate) scope: TokenScope,
    pub(crate) user: User,
    /// Absent for the initial access token, which is not a record.
    pub(crate) token: Option<Token>,
}

impl Identity {
    /// The caller for the engine. With the scope `chat` even an administrator sees only their own
    /// sessions.
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

/// Why authentication failed. The text reaches the client.
#[derive(Debug)]
pub(crate) enum AuthError {
    Refused(Unauthorized),
    /// It could not be checked.
    Unavailable,
}

impl AuthError {
    pub(crate) fn reason(&self) -> Reason {
        match self {
            Self::Refused(reason) => reason.clone().into(),
            Self::Unavailable => Unavailable::CredentialsNotChecked.into(),
        }
    }
}

/// Checks credentials.
pub(crate) struct Authenticator {
    admin: Arc<dyn AdminStore>,
    access_token: Option<SecretString>,
    /// The user of the initial access token, for as long as this server runs.
    owner_id: OnceCell<UserId>,
    /// The same user, and the revision of the accounts at which it was read: every command needs it.
    owner: Mutex<Option<(User, u64)>>,
}

impl Authenticator {
    pub(crate) fn new(admin: Arc<dyn AdminStore>, settings: &AuthSettings) -> Self {
        Self {
            admin,
            access_token: settings.access_token.clone(),
            owner_id: OnceCell::new(),
            owner: Mutex::default(),
        }
    }

    pub(crate) async fn check(
        &self,
        presented: Option<&SecretString>,
    ) -> Result<Identity, AuthError> {
        let presented = presented.ok_or(AuthError::Refused(Unauthorized::NoCredential))?;
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
            Ok(TokenCheck::Unknown) => Err(AuthError::Refused(Unauthorized::CredentialUnknown)),
            Ok(TokenCheck::Expired) => Err(AuthError::Refused(Unauthorized::TokenExpired)),
            Ok(TokenCheck::Revoked) => Err(AuthError::Refused(Unauthorized::TokenRevoked)),
            Ok(TokenCheck::UserDisabled) => Err(AuthError::Refused(Unauthorized::UserDisabled)),
            Err(error) => Err(unavailable(&error)),
        }
    }

    async fn owner(&self) -> Result<Identity, AuthError> {
        let revision = self.admin.accounts_revision().await;
        let revision = revision.map_err(|error| unavailable(&error))?;
        let known = self.lock_owner().clone();
        let user = match known.filter(|(_, read_at)| *read_at == revision) {
            Some((user, _)) => user,
            None => self.read_owner(revision).await?,
        };
        match user.spec.status {
            UserStatus::Enabled => Ok(identity(user, TokenScope::Full)),
            UserStatus::Disabled => Err(AuthError::Refused(Unauthorized::UserDisabled)),
        }
    }

    async fn read_owner(&self, revision: u64) -> Result<User, AuthError> {
        let failed = |error| match error {
            AdminError::NotFound { .. } => AuthError::Refused(Unauthorized::CredentialUnknown),
            error => unavailable(&error),
        };
        let first = self.owner_id.get_or_try_init(|| self.first_administrator());
        let id = first.await.map_err(failed)?;
        let user = self.admin.user(id).await.map_err(failed)?;
        *self.lock_owner() = Some((user.clone(), revision));
        Ok(user)
    }

    /// The user of the first start, or if that name is gone, the oldest administrator. If that user
    /// is deleted later, no other one replaces it while the server runs.
    async fn first_administrator(&self) -> Result<UserId, AdminError> {
        let missing = match self.admin.user_named(FIRST_USER).await {
            Ok(user) => return Ok(user.id),
            Err(error @ AdminError::NotFound { .. }) => error,
            Err(error) => return Err(error),
        };
        let mut users = self.admin.users().await?;
        users.retain(|user| user.spec.role == Role::Admin);
        let oldest = users.into_iter().min_by_key(|user| user.stamp.created_at);
        oldest.map(|user| user.id).ok_or(missing)
    }

    fn lock_owner(&self) -> MutexGuard<'_, Option<(User, u64)>> {
        // The value is replaced as a whole.
        self.owner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn identity(user: User, scope: TokenScope) -> Identity {
    Identity {
        user_id: user.id.as_str().to_owned(),
        user_name: user.spec.name.clone(),
        role: user.spec.role,
        scope,
        user,
        token: None,
    }
}

fn unavailable(error: &AdminError) -> AuthError {
    tracing::error!(%error, "failed to check a credential");
    AuthError::Unavailable
}
