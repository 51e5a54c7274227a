//! Retries failed transactions, or reports the error.

use super::connections::Connections;
use netaclaw_session::SessionError;
use sqlx::mysql::MySqlDatabaseError;
use std::time::Duration;
use uuid::Uuid;

/// With the pauses between them this is a little over a second, long enough for a server that is
/// being restarted to answer again most of the time.
const ATTEMPTS_MAX: u32 = 8;
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(640);
/// How long an attempt may go without an answer. The lock timeout is a third of it, and a statement
/// takes milliseconds: a connection that is silent for so long is dead, even without an error.
const ATTEMPT_MAX: Duration = Duration::from_secs(30);
/// The same for one that moves a whole session, or searches them all.
const LONG_ATTEMPT_MAX: Duration = Duration::from_secs(300);
/// An attempt that ran out of time counts as this many, so that the second one is the last.
const TIMED_OUT_COUNTS: u32 = ATTEMPTS_MAX / 2;

/// Why an attempt came to nothing.
#[derive(Debug)]
pub(super) enum Failure {
    /// The request cannot be carried out; trying again would change nothing.
    Refused(SessionError),
    Database(sqlx::Error),
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        Self::Refused(error)
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

/// The attempts at one request.
pub(super) struct Retry<'c> {
    connections: &'c Connections,
    /// What is being done, for the error message.
    what: String,
    attempts: u32,
}

impl<'c> Retry<'c> {
    pub(super) fn new(connections: &'c Connections, what: impl Into<String>) -> Self {
        Self {
            connections,
            what: what.into(),
            attempts: 0,
        }
    }

    /// Makes an attempt. One that is dropped because no answer came counts as a lost connection:
    /// the outcome on the server is unknown.
    pub(super) async fn attempt<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        within(ATTEMPT_MAX, work).await
    }

    /// The same, for work that may take its time.
    pub(super) async fn long_attempt<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        within(LONG_ATTEMPT_MAX, work).await
    }

    /// Waits for the time of the next attempt, or gives the error that ends the request.
    pub(super) async fn after(&mut self, failure: Failure) -> Result<(), SessionError> {
        let error = match failure {
            Failure::Refused(error) => return Err(error),
            Failure::Database(error) => error,
        };
        self.attempts += match timed_out(&error) {
            true => TIMED_OUT_COUNTS,
            false => 1,
        };
        let verdict = Verdict::on(&error);
        if verdict == Verdict::Final || self.attempts >= ATTEMPTS_MAX {
            return Err(self.explain(error));
        }
        tracing::debug!(%error, attempts = self.attempts, "a database request failed; retrying");
        if verdict == Verdict::ConnectionLost {
            self.connections.forget_idle();
        }
        tokio::time::sleep(pause(self.attempts)).await;
        Ok(())
    }

    fn explain(&self, error: sqlx::Error) -> SessionError {
        let place = self.connections.place();
        let advice = match (Verdict::on(&error), number(&error)) {
            (_, Some(1044 | 1045 | 1698)) => {
                "check the user, password and privileges in the \
                                              database URL"
            }
            (_, Some(1049)) => "create it, with CREATE DATABASE",
            (_, Some(1040 | 1203)) => "raise the server's max_connections, or use fewer",
            (_, Some(1153)) => "raise the server's max_allowed_packet above the size of the entry",
            _ if timed_out(&error) => "it does not respond; check the server and the network",
            (Verdict::ConnectionLost, _) => "start the server, or correct the database URL",
            (Verdict::TryAgain, _) => {
                "another transaction holds a lock on the session's row: look for a long \
                 transaction"
            }
            (Verdict::Final, _) => "the server's message gives the reason",
        };
        SessionError::store(format!("{}: {place}: {advice}", self.what), error)
    }
}

async fn within<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let timed = tokio::time::timeout(limit, work).await;
    timed.unwrap_or_else(|_| {
        let silent = std::io::Error::from(std::io::ErrorKind::TimedOut);
        Err(sqlx::Error::from(silent).into())
    })
}

fn timed_out(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Io(io) if io.kind() == std::io::ErrorKind::TimedOut)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// The server rolled back; the same may work now.
    TryAgain,
    /// The outcome on the server is unknown.
    ConnectionLost,
    Final,
}

impl Verdict {
    fn on(error: &sqlx::Error) -> Self {
        match number(error) {
            // Deadlock, lock wait timeout, record changed since last read, statement interrupted, a
            // member of a cluster that is not ready.
            Some(1213 | 1205 | 1020 | 1317 | 1047) => Self::TryAgain,
            // Too many connections, shutdown, network errors, connection killed or idle too long.
            Some(1040 | 1053 | 1077..=1079 | 1158..=1161 | 1203 | 1927 | 3169 | 4031) => {
                Self::ConnectionLost
            }
            Some(_) => Self::Final,
            None => match error {
                sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::BeginFailed => {
                    Self::ConnectionLost
                }
                _ => Self::Final,
            },
        }
    }
}

/// Whether a key is there already.
pub(super) fn is_duplicate(failure: &Failure) -> bool {
    matches!(failure, Failure::Database(error) if number(error) == Some(1062))
}

/// Whether it is in this key that something is there already.
pub(super) fn is_duplicate_of(failure: &Failure, key: &str) -> bool {
    let Failure::Database(sqlx::Error::Database(error)) = failure else {
        return false;
    };
    is_duplicate(failure) && error.message().contains(key)
}

fn number(error: &sqlx::Error) -> Option<u16> {
    let error = error.as_database_error()?;
    let error = error.try_downcast_ref::<MySqlDatabaseError>()?;
    Some(error.number())
}

/// Grows with each attempt, and differs between those who collided.
fn pause(attempts: u32) -> Duration {
    let full = FIRST_PAUSE
        .saturating_mul(1 << attempts.min(16))
        .min(LONGEST_PAUSE);
    let random = f64::from(Uuid::new_v4().as_fields().0) / f64::from(u32::MAX);
    full.mul_f64(0.5 + random / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mysql::MysqlSettings;
    use tokio::time::Instant;

    /// As on a connection whose other end vanished.
    #[tokio::test(start_paused = true)]
    async fn a_database_that_does_not_answer_is_given_up() {
        let settings = MysqlSettings {
            url: "mysql://u:secret@127.0.0.1:1/d".to_owned(),
            connections_max: 1,
            node: crate::NodeSettings::default(),
        };
        let connections = Connections::new(&settings).unwrap();
        let mut retry = Retry::new(&connections, "cannot append");
        let begun = Instant::now();
        let error = loop {
            let silent = std::future::pending::<Result<(), Failure>>();
            let failure = retry.attempt(silent).await.unwrap_err();
            if let Err(error) = retry.after(failure).await {
                break error;
            }
        };
        assert!(begun.elapsed() < Duration::from_secs(65));
        let words = error.to_string();
        assert!(words.contains("does not respond"), "{words}");
        assert!(!words.contains("secret"), "{words}");
    }
}
