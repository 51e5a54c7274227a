//! Passwords: Argon2id, away from the threads that serve requests.

use crate::admin::fault::Result;
use argon2::{Argon2, PasswordHasher, PasswordVerifier};
use netaclaw_admin::AdminError;
use secrecy::{ExposeSecret, SecretString};
use std::sync::OnceLock;
use tokio::sync::Semaphore;

/// One hash takes 19 MiB and a core for a while. Further logins wait their turn.
const AT_ONCE_MAX: usize = 2;

pub(in crate::admin) struct Passwords {
    turns: Semaphore,
}

impl Default for Passwords {
    fn default() -> Self {
        Self {
            turns: Semaphore::new(AT_ONCE_MAX),
        }
    }
}

impl Passwords {
    /// The hash in PHC form, with its salt and parameters.
    pub(super) async fn hash(&self, password: SecretString) -> Result<String> {
        self.work(move || hash(&password)).await?
    }

    /// Whether it is the password of this hash. Without a hash it takes as long, and is not.
    pub(super) async fn verify(
        &self,
        password: SecretString,
        kept: Option<String>,
    ) -> Result<bool> {
        self.work(move || {
            let against = match &kept {
                Some(kept) => kept.as_str(),
                None => unknown_user_hash()?,
            };
            let verified =
                Argon2::default().verify_password(password.expose_secret().as_bytes(), against);
            Ok(verified.is_ok() && kept.is_some())
        })
        .await?
    }

    async fn work<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let _turn = self.turns.acquire().await;
        let done = tokio::task::spawn_blocking(job).await;
        Ok(done.map_err(|error| AdminError::store("a password could not be hashed", error))?)
    }
}

fn hash(password: &SecretString) -> Result<String> {
    let hash = Argon2::default().hash_password(password.expose_secret().as_bytes());
    let hash = hash.map_err(|error| AdminError::store("a password could not be hashed", error))?;
    Ok(hash.to_string())
}

/// The hash for unknown users, so that the response time does not reveal which names exist.
fn unknown_user_hash() -> Result<&'static str> {
    static HASH: OnceLock<String> = OnceLock::new();
    if let Some(hash) = HASH.get() {
        return Ok(hash);
    }
    let made = hash(&SecretString::from("a password without a user"))?;
    Ok(HASH.get_or_init(|| made))
}
