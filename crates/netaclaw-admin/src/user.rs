//! The port to users.

use crate::audit::Actor;
use crate::error::{Invalid, Problem, Result};
use crate::rules;
use crate::store::Expect;
use async_trait::async_trait;
use netaclaw_protocol::{NewUser, User, UserId, UserSpec};
use secrecy::{ExposeSecret, SecretString};

/// Where users are kept. Passwords are kept as Argon2id hashes and never come out; at least one
/// administrator stays, enabled.
#[async_trait]
pub trait UserStore: Send + Sync {
    /// All users, by name.
    async fn users(&self) -> Result<Vec<User>>;
    async fn user(&self, id: &UserId) -> Result<User>;
    async fn user_named(&self, name: &str) -> Result<User>;

    async fn create_user(&self, by: &Actor, new: NewUser) -> Result<User>;
    /// Changing or clearing a password revokes the tokens of the browsers that may have logged in
    /// with it, except the one that authenticated the change.
    async fn update_user(
        &self,
        by: &Actor,
        id: &UserId,
        expect: Expect,
        spec: UserSpec,
        password: PasswordChange,
    ) -> Result<User>;
    /// Deletes the user with their tokens.
    async fn delete_user(&self, by: &Actor, id: &UserId, expect: Expect) -> Result<()>;

    /// Takes as long for an unknown name as for a wrong password, and is recorded either way.
    async fn check_login(&self, name: &str, password: &SecretString) -> Result<LoginCheck>;
}

#[derive(Clone, Debug)]
pub enum PasswordChange {
    Keep,
    /// From now on only tokens let the user in.
    Clear,
    Set(SecretString),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginCheck {
    Right(User),
    /// Unknown name, wrong password, no password, or a disabled user: a guesser learns nothing.
    Refused,
}

const PASSWORD_CHARS_MIN: usize = 8;
/// Hashing takes longer the longer a password is, and an attacker could choose it.
const PASSWORD_CHARS_MAX: usize = 512;

pub fn check_user(spec: &UserSpec) -> Result<(), Invalid> {
    rules::name("name", &spec.name)?;
    rules::at_most("label", &spec.label, rules::LABEL_CHARS_MAX)
}

pub fn check_password_rules(password: &SecretString) -> Result<(), Invalid> {
    let text = password.expose_secret();
    let chars_min = PASSWORD_CHARS_MIN;
    let long = text.chars().count() >= chars_min;
    rules::ensure(long, "password", Problem::TooShort { chars_min })?;
    rules::at_most("password", text, PASSWORD_CHARS_MAX)
}
