//! Users, and access tokens.

use crate::{KeyChange, Stamp, TokenId, UserId};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct User {
    pub id: UserId,
    #[serde(flatten)]
    pub spec: UserSpec,
    /// Without a password, the user can only log in with tokens.
    pub password_set: bool,
    #[serde(flatten)]
    pub stamp: Stamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct UserSpec {
    /// Unique; the user logs in with it.
    pub name: String,
    #[serde(default)]
    pub label: String,
    pub role: Role,
    #[serde(default)]
    pub status: UserStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Can configure the server.
    Admin,
    /// Can use agents, and sees only their own sessions.
    User,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum UserStatus {
    #[default]
    Enabled,
    Disabled,
}

/// Creates a user.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct NewUser {
    #[serde(flatten)]
    pub spec: UserSpec,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
    pub password: Option<SecretString>,
}

/// A changed user.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct UserWrite {
    #[serde(flatten)]
    pub spec: UserSpec,
    /// Absent to keep it, `null` to clear it, or a new one.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Option<String>>"))]
    pub password: KeyChange,
}

/// Logs a browser in, by name and password or by a token.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(untagged)]
pub enum Login {
    Password {
        name: String,
        #[schema(value_type = String)]
        #[cfg_attr(feature = "typescript", ts(type = "string"))]
        password: SecretString,
    },
    Token {
        #[schema(value_type = String)]
        #[cfg_attr(feature = "typescript", ts(type = "string"))]
        token: SecretString,
    },
}

/// Changes the user's own password; requires the current one.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct OwnPassword {
    #[schema(value_type = String)]
    #[cfg_attr(feature = "typescript", ts(type = "string"))]
    pub current: SecretString,
    #[schema(value_type = String)]
    #[cfg_attr(feature = "typescript", ts(type = "string"))]
    pub password: SecretString,
}

/// The user of the credential, and what it allows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Me {
    pub user_id: UserId,
    pub name: String,
    pub label: String,
    pub role: Role,
    pub scope: TokenScope,
    /// Without a password, the user can only log in with tokens and links.
    #[serde(default)]
    pub password_set: bool,
    /// Whether the user can chat and change their own sessions.
    pub may_write: bool,
    /// Whether the user can read the configuration of the server.
    pub may_inspect: bool,
    pub may_configure: bool,
    /// The token of this credential, as `GET tokens` lists it; absent for the initial access token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_id: Option<TokenId>,
    pub protocol: u32,
    pub version: String,
}

/// An access token, without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Token {
    /// Also the beginning of the token itself, so that users can identify it.
    pub id: TokenId,
    #[serde(flatten)]
    pub spec: TokenSpec,
    /// The token that the browser logged in with to receive this one. Both end together.
    pub issued_with: Option<TokenId>,
    /// Unix time in milliseconds, like all times here.
    pub revoked_at: Option<i64>,
    /// Exact to a minute.
    pub last_used_at: Option<i64>,
    #[serde(flatten)]
    pub stamp: Stamp,
}

/// Creates an access token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct TokenSpec {
    pub user_id: UserId,
    /// A name that says what it is for.
    pub label: String,
    pub scope: TokenScope,
    #[serde(default)]
    pub expires_at: Option<i64>,
}

/// The scope of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum TokenScope {
    /// Everything that the user can do.
    Full,
    /// Use agents in the user's own sessions, without configuring anything.
    Chat,
    /// Read only.
    Read,
}

/// The only response that contains a token. Its `Debug` output hides the secret.
#[derive(Clone, PartialEq, Eq, Serialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct TokenIssued {
    #[serde(flatten)]
    pub token: Token,
    pub secret: String,
}

impl fmt::Debug for TokenIssued {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenIssued")
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}
