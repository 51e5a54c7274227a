//! Extractors by which handlers declare the rights that they require.

use super::{AuthError, Identity, credential};
use crate::error::ApiError;
use crate::gateway::Shared;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use netaclaw_protocol::{Forbidden, TokenScope};
use std::sync::Arc;

/// A client with a valid credential.
pub(crate) struct SignedIn(pub(crate) Identity);

/// A client whose credential allows changes to its user's own data.
pub(crate) struct Writer(pub(crate) Identity);

/// A credential of full scope, which tokens are made and revoked with.
pub(crate) struct FullScope(pub(crate) Identity);

/// Who may look at how the server is configured.
pub(crate) struct CanInspect(pub(crate) Identity);

/// Who may configure the server.
pub(crate) struct Administrator(pub(crate) Identity);

impl FromRequestParts<Arc<Shared>> for SignedIn {
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
        let SignedIn(identity) = SignedIn::from_request_parts(parts, shared).await?;
        match identity.may_write() {
            true => Ok(Self(identity)),
            false => Err(Forbidden::OnlyReads.into()),
        }
    }
}

impl FromRequestParts<Arc<Shared>> for FullScope {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, ApiError> {
        let SignedIn(identity) = SignedIn::from_request_parts(parts, shared).await?;
        match identity.scope {
            TokenScope::Full => Ok(Self(identity)),
            TokenScope::Read | TokenScope::Chat => Err(Forbidden::FullScopeNeeded.into()),
        }
    }
}

impl FromRequestParts<Arc<Shared>> for CanInspect {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, ApiError> {
        let SignedIn(identity) = SignedIn::from_request_parts(parts, shared).await?;
        match identity.may_inspect() {
            true => Ok(Self(identity)),
            false => Err(Forbidden::AdministratorSees.into()),
        }
    }
}

impl FromRequestParts<Arc<Shared>> for Administrator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, ApiError> {
        let SignedIn(identity) = SignedIn::from_request_parts(parts, shared).await?;
        match identity.may_configure() {
            true => Ok(Self(identity)),
            false => Err(Forbidden::AdministratorChanges.into()),
        }
    }
}

impl From<AuthError> for ApiError {
    fn from(error: AuthError) -> Self {
        Self::new(error.reason())
    }
}
