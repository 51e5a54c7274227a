//! The port to tokens.

use crate::audit::Actor;
use crate::error::{Invalid, Problem, Result};
use crate::rules;
use async_trait::async_trait;
use netaclaw_protocol::{Token, TokenId, TokenIssued, TokenSpec, User, UserId};
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

/// Where tokens are kept: as hashes, so that nobody who reads the store can use one.
#[async_trait]
pub trait TokenStore: Send + Sync {
    /// All tokens, newest first.
    async fn tokens(&self) -> Result<Vec<Token>>;
    async fn tokens_of(&self, user: &UserId) -> Result<Vec<Token>>;

    /// Makes a token. Its text is in this answer and nowhere else.
    async fn issue_token(&self, by: &Actor, spec: TokenSpec) -> Result<IssuedToken>;
    /// Makes a token for a browser that came in with another one, which it never outlives.
    async fn issue_token_with(
        &self,
        by: &Actor,
        spec: TokenSpec,
        with: &TokenId,
    ) -> Result<IssuedToken>;
    /// From now on nobody gets in with it, nor with those that were issued with it. Revoking it
    /// again changes nothing.
    async fn revoke_token(&self, by: &Actor, id: &TokenId) -> Result<Token>;

    /// Forgets the tokens that were revoked or had expired before then, in Unix milliseconds.
    async fn forget_tokens(&self, dead_before: i64) -> Result<()>;

    /// Whom a token lets in. The time it takes does not tell how much of a guess was right.
    async fn check_token(&self, presented: &SecretString) -> Result<TokenCheck>;
}

/// The label of tokens that browsers are given for a password, a link or another token.
pub const BROWSER_LABEL: &str = "browser";

pub fn is_browsers(token: &Token) -> bool {
    token.spec.label == BROWSER_LABEL
}

#[derive(Clone, Debug)]
pub struct IssuedToken {
    pub token: Token,
    pub secret: SecretString,
}

impl IssuedToken {
    /// For the one answer that shows it.
    pub fn into_wire(self) -> TokenIssued {
        TokenIssued {
            token: self.token,
            secret: self.secret.expose_secret().to_owned(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenCheck {
    Right(Box<Access>),
    Unknown,
    Expired,
    Revoked,
    /// The token is good, but its user is switched off.
    UserDisabled,
}

/// Whom a token lets in, and how far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    pub user: User,
    pub token: Token,
}

pub fn check_token_spec(spec: &TokenSpec, now_ms: i64) -> Result<(), Invalid> {
    rules::at_most("label", &spec.label, rules::LABEL_CHARS_MAX)?;
    let lasts = spec.expires_at.is_none_or(|at| at > now_ms);
    rules::ensure(lasts, "expiresAt", Problem::InThePast)
}

/// Compares two secrets in a time that does not tell where they differ.
pub fn same_secret(one: &SecretString, other: &SecretString) -> bool {
    let (one, other) = (one.expose_secret(), other.expose_secret());
    one.as_bytes().ct_eq(other.as_bytes()).into()
}
