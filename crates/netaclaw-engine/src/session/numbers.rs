//! The token numbers of a session that no run is counting.

use super::LiveSession;
use crate::session::durable::ModelChoice;
use crate::session::meter::{Meter, overhead_at};
use netaclaw_protocol::{SessionMeta, TokenUpdate};
use netaclaw_session::{SessionTree, build_session_context};

impl LiveSession {
    /// The numbers at the leaf, measured by the model that the next message would go to.
    pub(super) async fn tokens_at(
        &self,
        tree: &SessionTree,
        session: &SessionMeta,
        model: Option<ModelChoice>,
    ) -> TokenUpdate {
        let model = || model.clone().map(Into::into);
        let meter = Meter::new(self.writer.totals(tree, tree.leaf()));
        let meter = match self.source.measure(session, model()).await {
            Some(measure) => meter.for_model(&measure.model, measure.threshold_percent),
            None => meter,
        };
        let overhead_tokens = match build_session_context(tree, tree.leaf()) {
            Ok(context) => overhead_at(&context, &*self.source, session, model()).await,
            Err(_) => 0,
        };
        meter.update_at(tree, tree.leaf(), overhead_tokens)
    }

    /// Publishes them again. A client that opens the session gets what cannot be read now.
    pub(super) async fn tell_tokens(&self) {
        let (Ok(tree), Ok(session)) = (self.writer.tree().await, self.writer.meta().await) else {
            return;
        };
        let model = self.writer.begin().await.state.durable.model.clone();
        let tokens = self.tokens_at(&tree, &session, model).await;
        self.live.tokens_changed(tokens);
    }
}
