//! Models that refused tools. Trying again in every run would cost a request each time; never
//! trying again would miss that the model or its server has changed.

use netaclaw_protocol::LocalizedError;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// After this a model is offered tools again.
const KEPT_FOR: Duration = Duration::from_secs(600);

#[derive(Debug, Default)]
pub(crate) struct ToolRefusals {
    by_model: Mutex<HashMap<ChannelModel, (Instant, LocalizedError)>>,
}

type ChannelModel = (String, String);

impl ToolRefusals {
    pub(crate) fn remember(&self, refusal: LocalizedError) {
        let Some(model) = refusal.channel.clone().zip(refusal.model.clone()) else {
            return;
        };
        let mut known = self.lock();
        known.retain(|_, (at, _)| at.elapsed() < KEPT_FOR);
        known.insert(model, (Instant::now(), refusal));
    }

    /// How this model refused tools, if it did a short while ago.
    pub(crate) fn get(&self, channel: &str, model: &str) -> Option<LocalizedError> {
        let key = (channel.to_owned(), model.to_owned());
        let known = self.lock();
        let (at, refusal) = known.get(&key)?;
        (at.elapsed() < KEPT_FOR).then(|| refusal.clone())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ChannelModel, (Instant, LocalizedError)>> {
        // A map is whole between any two of its operations.
        self.by_model.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netaclaw_protocol::RunTrouble;

    #[tokio::test(start_paused = true)]
    async fn a_refusal_counts_for_one_model_of_one_channel_and_for_a_while() {
        let refusals = ToolRefusals::default();
        let refusal = LocalizedError::from(RunTrouble::NoToolSupport {
            channel: "work".to_owned(),
            model: "small".to_owned(),
            said: None,
        });
        refusals.remember(refusal.clone());
        assert_eq!(refusals.get("work", "small"), Some(refusal));
        assert_eq!(refusals.get("work", "large"), None);
        assert_eq!(refusals.get("home", "small"), None);
        tokio::time::advance(KEPT_FOR).await;
        assert_eq!(refusals.get("work", "small"), None);
    }
}
