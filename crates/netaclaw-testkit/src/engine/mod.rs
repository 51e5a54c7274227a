//! An engine over files in a temporary directory, with an agent that follows the test's script.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answer;
mod client;
mod faulty;
mod intercepted;
mod script;
mod server;

pub use client::{Client, ClientInner};
pub use faulty::{Fate, Faults, Faulty, Write};
pub use intercepted::{Intercept, Intercepted, WriteKind};
pub use script::{Act, Script, ScriptedSource};
pub use server::{Server, short};

use netaclaw_engine::Caller;
use netaclaw_protocol::{Chat, SessionId};
use std::time::Duration;

/// Far more than anything here takes: a test that waits longer hangs.
const WATCHDOG: Duration = Duration::from_secs(30);

pub fn ann() -> Caller {
    Caller {
        user_id: "ann".to_owned(),
        is_admin: false,
    }
}

pub fn message(session: &SessionId, text: &str) -> Chat {
    Chat {
        session_id: Some(session.clone()),
        content: text.to_owned(),
        ..Chat::default()
    }
}

/// Waits for something that must happen.
pub async fn within<F: Future>(happening: F) -> F::Output {
    tokio::time::timeout(WATCHDOG, happening)
        .await
        .expect("it happens")
}
