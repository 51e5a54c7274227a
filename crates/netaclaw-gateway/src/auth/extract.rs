//! Handlers say in their arguments who may call them.

use super::{AuthError, Identity, credential};
use crate::error::ApiError;
use crate::gateway::Shared;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use netaclaw_protocol::{ErrorCode, TokenScope, Words};
use std::sync::Arc;

/// A client with a valid credential.
pub(crate) struct Signed(pub(crate) Identity);

/// A client whose credential allows changes to its user's own data.
pub(crate) struct Writer(pub(crate) Identity);

/// A credential of full scope, which tokens are made and revoked with.
pub(crate) struct FullScope(pub(crate) Identity);

/// Who may look at how the server is configured.
pub(crate) struct Onlooker(pub(crate) Identity);

/// Who may configure the server.
pub(crate) struct Administrator(pub(crate) Identity);

impl FromRequestParts<Arc<Shared>> for Signed {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, ApiError> {
        let presented = credential(&parts.headers, shared.secure_cookie);
        let identity = shared.auth.check(presented.as_ref()).await?;
        Ok(Self(identity))
    }
}

impl FromRequestParts<Arc<Shared>> for Writer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, ApiError> {
        let Signed(identity) = Signed::from_request_parts(parts, shared).await?;
        match identity.may_write() {
            true => Ok(Self(identity)),
            false => Err(ApiError::forbidden(only_reads())),
        }
    }
}

impl FromRequestParts<Arc<Shared>> for FullScope {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, ApiError> {
        let Signed(identity) = Signed::from_request_parts(parts, shared).await?;
        match identity.scope {
            TokenScope::Full => Ok(Self(identity)),
            TokenScope::Read | TokenScope::Chat => Err(ApiError::forbidden(Words::new(
                "须使用完全权限的凭据",
                "this needs a credential of full scope",
            ))),
        }
    }
}

impl FromRequestParts<Arc<Shared>> for Onlooker {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, ApiError> {
        let Signed(identity) = Signed::from_request_parts(parts, shared).await?;
        match identity.may_inspect() {
            true => Ok(Self(identity)),
            false => Err(ApiError::forbidden(Words::new(
                "只有管理员可以查看",
                "only an administrator may see this",
            ))),
        }
    }
}

impl FromRequestParts<Arc<Shared>> for Administrator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, ApiError> {
        let Signed(identity) = Signed::from_request_parts(parts, shared).await?;
        match identity.may_configure() {
            true => Ok(Self(identity)),
            false => Err(ApiError::forbidden(Words::new(
                "只有持完全权限令牌的管理员可以修改",
                "only an administrator with a full token may change this",
            ))),
        }
    }
}

impl From<AuthError> for ApiError {
    fn from(error: AuthError) -> Self {
        let code = match error {
            AuthError::Unavailable => ErrorCode::Unavailable,
            _ => ErrorCode::Unauthorized,
        };
        Self::new(code, error.words())
    }
}

pub(crate) fn only_reads() -> Words {
    Words::new("此令牌只能读取", "this token may only read")
}
