//! What fills a session's context, and compacting it.

use super::{Caller, Engine};
use crate::compaction::{PreviewOutcome, breakdown, preview};
use crate::error::EngineError;
use crate::session::durable::PersistedState;
use crate::session::meter::{overhead_noted, shown_tokens};
use netaclaw_protocol::{ContextBreakdown, SessionId, Unavailable};
use netaclaw_session::{SessionTree, build_session_context};
use std::sync::Arc;

impl Engine {
    /// What compacting the session would do, and the session it was computed from.
    pub async fn preview_compaction(
        &self,
        caller: &Caller,
        session: &SessionId,
        instructions: Option<&str>,
    ) -> Result<(PreviewOutcome, Arc<SessionTree>), EngineError> {
        let (provider, meta) = self.inner.providers.find(caller, session).await?;
        let model = PersistedState::read(&meta).model.map(Into::into);
        let tree = provider.load_tree(session).await?;
        let source = &*self.inner.source;
        let previewed = preview(source, &meta, model, &tree, instructions).await?;
        Ok((previewed, tree))
    }

    /// What fills the window of the session's model.
    pub async fn context_breakdown(
        &self,
        caller: &Caller,
        session: &SessionId,
    ) -> Result<ContextBreakdown, EngineError> {
        let (provider, meta) = self.inner.providers.find(caller, session).await?;
        let source = &self.inner.source;
        let model = || PersistedState::read(&meta).model.map(Into::into);
        let Some(measure) = source.measure(&meta, model()).await else {
            return Err(Unavailable::NoModelToMeasure.into());
        };
        let overhead = source.overhead(&meta, model()).await?;
        let tree = provider.load_tree(session).await?;
        let context = build_session_context(&tree, tree.leaf());
        let context = context.map_err(|error| EngineError::Internal(Box::new(error)))?;
        // The meter's number, so that both say the same.
        let known = match overhead_noted(&context) {
            0 => overhead.total(),
            known => known,
        };
        let used = shown_tokens(&context, known);
        Ok(breakdown(&context, used, overhead, &measure))
    }
}
