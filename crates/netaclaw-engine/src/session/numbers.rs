//! The token usage of a session without a run.

use crate::session::durable::ModelChoice;
use crate::session::live::TransientState;
use crate::session::meter::{Meter, overhead_at};
use crate::session::writer::SessionWriter;
use crate::source::{AgentSource, Measure};
use netaclaw_protocol::{ModelRef, SessionMeta, TokenUpdate};
use netaclaw_session::{SessionTree, build_session_context};
use std::sync::Arc;

/// Measures the context and publishes the numbers. During a run its host does so.
pub(super) struct ContextNumbers {
    writer: Arc<SessionWriter>,
    live: TransientState,
    source: Arc<dyn AgentSource>,
    /// Another model was chosen during a run.
    is_outdated: bool,
}

impl ContextNumbers {
    pub(super) fn new(
        writer: &Arc<SessionWriter>,
        live: &TransientState,
        source: &Arc<dyn AgentSource>,
    ) -> Self {
        Self {
            writer: Arc::clone(writer),
            live: live.clone(),
            source: Arc::clone(source),
            is_outdated: false,
        }
    }

    /// Publishes them. A client that opens the session gets what cannot be read now.
    pub(super) async fn publish(&self) {
        let (Ok(tree), Ok(session)) = (self.writer.tree().await, self.writer.meta().await) else {
            return;
        };
        let model = self.writer.begin().await.state.durable.model.clone();
        self.publish_at(&tree, &session, model).await;
    }

    /// The same for a leaf that has moved, measured by the model that the next message would go
    /// to.
    pub(super) async fn publish_at(
        &self,
        tree: &SessionTree,
        session: &SessionMeta,
        model: Option<ModelChoice>,
    ) {
        let chosen = model.clone().map(Into::into);
        let measure = self.source.measure(session, chosen).await;
        let tokens = self.measured(measure.as_ref(), tree, session, model).await;
        self.live.change(|state| state.set_tokens(tokens));
    }

    /// Publishes them at the end of the current run, which continues with the model that it began
    /// with.
    pub(super) fn publish_after_run(&mut self) {
        self.is_outdated = true;
    }

    pub(super) async fn run_ended(&mut self) {
        if std::mem::take(&mut self.is_outdated) {
            self.publish().await;
        }
    }

    /// Measures for the first client that opens the session, if nothing was published before.
    /// Returns the model in use.
    pub(super) async fn prepare(
        &self,
        tree: &SessionTree,
        session: &SessionMeta,
    ) -> Option<ModelRef> {
        let named = named_model(tree);
        let has_tokens = self.live.read(|state| state.tokens.is_some());
        if named.is_some() && has_tokens {
            return named;
        }
        let model = self.writer.begin().await.state.durable.model.clone();
        let chosen = model.clone().map(Into::into);
        let measure = self.source.measure(session, chosen).await;
        if !has_tokens {
            let tokens = self.measured(measure.as_ref(), tree, session, model).await;
            // If a run has published newer ones in the meantime, those win.
            self.live.change(|state| {
                state.tokens.get_or_insert(tokens);
                None
            });
        }
        named.or(measure.map(|measure| measure.model_ref))
    }

    /// The numbers at the leaf, for a model that has been measured; `None` if there is none.
    async fn measured(
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
}

/// The model that was named last on the path. An answer that failed before any model was asked
/// names none.
fn named_model(tree: &SessionTree) -> Option<ModelRef> {
    let context = build_session_context(tree, tree.leaf()).ok()?;
    context.model().filter(|model| !model.model_id.is_empty())
}
