//! The port to tokens.

use crate::audit::Actor;
use crate::error::{Invalid, Problem, Result};
use crate::rules;
use async_trait::async_trait;
use netaclaw_protocol::{Token, TokenId, TokenIssued, TokenSpec, User, UserId, UserStatus};
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

/// Stores tokens as hashes, so that a copy of the store cannot be used to log in.
#[async_trait]
pub trait TokenStore: Send + Sync {
    /// All tokens, newest first.
    async fn tokens(&self) -> Result<Vec<Token>>;
    async fn tokens_of(&self, user: &UserId) -> Result<Vec<Token>>;

    /// Creates a token. Its text is in this answer and nowhere else.
    async fn issue_token(&self, by: &Actor, spec: TokenSpec) -> Result<IssuedToken>;
    /// Makes a token for a browser that came in with another one, which it never outlives.
    async fn issue_token_with(
        &self,
        by: &Actor,
        spec: TokenSpec,
        with: &TokenId,
    ) -> Result<IssuedToken>;
    /// Invalidates the token, and those that were issued with it. Revoking it again changes
    /// nothing.
    async fn revoke_token(&self, by: &Actor, id: &TokenId) -> Result<Token>;

    /// Forgets the tokens that were revoked or had expired before then, in Unix milliseconds.
    async fn forget_tokens(&self, dead_before: i64) -> Result<()>;

    /// Whom a token authenticates. The time it takes does not depend on how much of a guess was
    /// right.
    async fn check_token(&self, presented: &SecretString) -> Result<TokenCheck>;

    /// Changes with every change of a user or a token, whichever process makes it.
    /// [`TokenStore::check_token`] sees the accounts as they were at this revision or later.
    async fn accounts_revision(&self) -> Result<u64>;
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

/// What the tokens are called that browsers keep in their cookies.
pub const BROWSER_LABEL: &str = "browser";

/// Whether a token was issued to a browser at a login.
pub fn is_browsers(token: &Token) -> bool {
    token.spec.label == BROWSER_LABEL
}

/// Whether a token is still valid, as long as its user is enabled.
pub fn is_alive(token: &Token, now_ms: i64) -> bool {
    token.revoked_at.is_none() && token.spec.expires_at.is_none_or(|at| at > now_ms)
}

/// Whether a user can log in without the initial access token: with a password, or with a token
/// that was created for them. A browser's token does not count: each login with the initial access
/// token creates one.
pub fn login_is_possible(users: &[User], tokens: &[Token], now_ms: i64) -> bool {
    let enabled = |user: &&User| user.spec.status == UserStatus::Enabled;
    let has_token = |user: &User| {
        let of_user = tokens.iter().filter(|token| token.spec.user_id == user.id);
        let mut good = of_user.filter(|token| !is_browsers(token));
        good.any(|token| is_alive(token, now_ms))
    };
    let mut enabled = users.iter().filter(enabled);
    enabled.any(|user| user.password_set || has_token(user))
}

pub fn check_token_spec(spec: &TokenSpec, now_ms: i64) -> Result<(), Invalid> {
    rules::at_most("label", &spec.label, rules::LABEL_CHARS_MAX)?;
    let lasts = spec.expires_at.is_none_or(|at| at > now_ms);
    rules::ensure(lasts, "expiresAt", Problem::InThePast)
}

/// Compares two secrets in a time that does not depend on where they differ.
pub fn same_secret(one: &SecretString, other: &SecretString) -> bool {
    let (one, other) = (one.expose_secret(), other.expose_secret());
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use netaclaw_protocol::{Role, Stamp, TokenScope, UserSpec};

    const NOW: i64 = 1_000;
    const STAMP: Stamp = Stamp {
        rev: 1,
        created_at: 0,
        updated_at: 0,
    };

    fn user(name: &str) -> User {
        User {
            id: UserId::new(name),
            spec: UserSpec {
                name: name.to_owned(),
                label: String::new(),
                role: Role::Admin,
                status: UserStatus::Enabled,
            },
            password_set: false,
            stamp: STAMP,
        }
    }

    fn token(user: &str) -> Token {
        Token {
            id: TokenId::new("t"),
            spec: TokenSpec {
                user_id: UserId::new(user),
                label: "program".to_owned(),
                scope: TokenScope::Full,
                expires_at: Some(NOW + 1),
            },
            issued_with: None,
            revoked_at: None,
            last_used_at: None,
            stamp: STAMP,
        }
    }

    #[test]
    fn a_password_or_a_created_token_makes_login_possible() {
        let mut one = user("admin");
        assert!(!login_is_possible(&[one.clone()], &[], NOW));
        assert!(
            !login_is_possible(&[one.clone(), user("ann")], &[], NOW),
            "a second user without either cannot come in"
        );
        assert!(login_is_possible(&[one.clone()], &[token("admin")], NOW));
        one.password_set = true;
        assert!(login_is_possible(&[one.clone()], &[], NOW));
        one.spec.status = UserStatus::Disabled;
        assert!(!login_is_possible(&[one], &[token("admin")], NOW));
    }

    #[test]
    fn tokens_that_have_ended_and_those_of_browsers_do_not_count() {
        let users = [user("admin")];
        let enter = |change: fn(&mut Token)| {
            let mut token = token("admin");
            change(&mut token);
            login_is_possible(&users, &[token], NOW)
        };
        assert!(enter(|_| {}));
        assert!(!enter(|token| token.revoked_at = Some(1)));
        assert!(!enter(|token| token.spec.expires_at = Some(NOW)));
        assert!(!enter(|token| token.spec.label = BROWSER_LABEL.to_owned()));
        assert!(!enter(|token| token.spec.user_id = UserId::new("gone")));
    }
}
