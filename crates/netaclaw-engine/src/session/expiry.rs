//! Questions that expire. The expiry time is stored with the question, so that all clients see it
//! and a restart does not begin it anew.

use crate::session::live::TransientState;
use crate::session::writer::SessionWriter;
use netaclaw_protocol::{Question, now_ms};
use netaclaw_session::Flush;
use netaclaw_tools::ClarifyAnswer;
use std::time::Duration;

/// The outcome of a question that expired.
pub(crate) enum ExpiryOutcome {
    Now,
    /// Its answer came first.
    Answered,
}

pub(crate) fn expiry(now_ms: i64, timeout: Duration) -> i64 {
    now_ms.saturating_add(i64::try_from(timeout.as_millis()).unwrap_or(i64::MAX))
}

pub(crate) fn is_expired(question: &Question) -> bool {
    question.expires_at.is_some_and(|at| at <= now_ms())
}

/// Waits for the expiry; endlessly if there is none.
pub(crate) async fn expired(expires_at: Option<i64>) {
    let Some(expires_at) = expires_at else {
        return std::future::pending().await;
    };
    // The clock may be set while this waits.
    loop {
        let left = expires_at - now_ms();
        match u64::try_from(left) {
            Ok(left) if left > 0 => tokio::time::sleep(Duration::from_millis(left)).await,
            _ => return,
        }
    }
}

/// Closes a question without an answer. That is stored before any client receives it; if it cannot
/// be, the question is closed all the same, and the result of its call records it.
pub(crate) async fn expire(
    writer: &SessionWriter,
    live: &TransientState,
    request_id: &str,
) -> ExpiryOutcome {
    let mut writing = writer.begin().await;
    if !writing.state.durable.answer(request_id, Vec::new()) {
        return ExpiryOutcome::Answered;
    }
    if let Err(error) = writing.persist_then_publish(Flush::Now).await {
        tracing::warn!(session.id = %writer.id, %error, "failed to store the end of a question");
    }
    drop(writing);
    live.change(|state| state.close_question(request_id, &ClarifyAnswer::TimedOut));
    ExpiryOutcome::Now
}
