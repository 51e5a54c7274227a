//! The token usage of a session without a run.

use super::LiveSession;
use crate::session::durable::ModelChoice;
use crate::session::meter::{Meter, overhead_at};
use crate::source::Measure;
use netaclaw_protocol::{ModelRef, SessionMeta, TokenUpdate};
use netaclaw_session::{SessionTree, build_session_context};

impl LiveSession {
    /// The numbers at the leaf, measured by the model that the next message would go to.
    pub(super) async fn tokens_at(
        &self,
        tree: &SessionTree,
        session: &SessionMeta,
        model: Option<ModelChoice>,
    ) -> TokenUpdate {
        let chosen = model.clone().map(Into::into);
        let measure = self.source.measure(session, chosen).await;
        self.tokens_by(measure.as_ref(), tree, session, model).await
    }

    /// The same for a model that has been measured; `None` if there is none.
    pub(super) async fn tokens_by(
        &self,
        measure: Option<&Measure>,
        tree: &SessionTree,
        session: &SessionMeta,
        model: Option<ModelChoice>,
    ) -> TokenUpdate {
        let meter = Meter::new(self.writer.totals(tree, tree.leaf()));
        let meter = match measure {
            Some(measure) => meter.for_model(&measure.model, measure.threshold_percent),
            None => meter,
        };
        let overhead_tokens = match build_session_context(tree, tree.leaf()) {
            Ok(context) => {
                let model = model.map(Into::into);
                overhead_at(&context, &*self.source, session, model).await
            }
            Err(_) => 0,
        };
        meter.update_at(tree, tree.leaf(), overhead_tokens)
    }

    /// Publishes them again. A client that opens the session gets what cannot be read now.
    pub(super) async fn publish_tokens(&self) {
        let (Ok(tree), Ok(session)) = (self.writer.tree().await, self.writer.meta().await) else {
            return;
        };
        let model = self.writer.begin().await.state.durable.model.clone();
        let tokens = self.tokens_at(&tree, &session, model).await;
        self.live.tokens_changed(tokens);
    }
}

/// The model that was named last on the path. An answer that failed before any model was asked
/// names none.
pub(super) fn named_model(tree: &SessionTree) -> Option<ModelRef> {
    let context = build_session_context(tree, tree.leaf()).ok()?;
    context.model().filter(|model| !model.model_id.is_empty())
}
