//! The standing approvals of sessions, for lists.

use super::Engine;
use crate::error::EngineError;
use crate::session::durable::{KEY, PersistedState};
use netaclaw_protocol::{SessionMeta, StandingApproval};
use netaclaw_session::{PageRequest, SessionFilter};

const PAGE_SIZE: u32 = 500;

impl Engine {
    /// All sessions of a user with standing approvals of their own; `None` is all users.
    pub async fn session_approvals(
        &self,
        user: Option<&str>,
    ) -> Result<Vec<(SessionMeta, Vec<StandingApproval>)>, EngineError> {
        let filter = SessionFilter {
            user_id: user.map(str::to_owned),
            metadata_key: Some(KEY.to_owned()),
            ..SessionFilter::default()
        };
        let providers = self.providers();
        let mut found = Vec::new();
        for provider in providers.all() {
            for page in 1.. {
                let request = PageRequest {
                    page,
                    size: PAGE_SIZE,
                };
                let sessions = provider.list_sessions(&filter, request).await?.items;
                let is_last = sessions.len() < PAGE_SIZE as usize;
                found.extend(sessions.into_iter().filter_map(|session| {
                    let standing = PersistedState::read(&session).standing;
                    (!standing.is_empty()).then_some((session, standing))
                }));
                if is_last {
                    break;
                }
            }
        }
        Ok(found)
    }
}
