//! Titles: the first line of the first message at once, later the title of a model.
//! The model is the auxiliary one, or the agent's own: one short request after the first answer.

use crate::error::EngineError;
use crate::session::title::{FirstExchange, ask, is_skill_run, title_of};
use crate::session::writer::SessionWriter;
use crate::source::AgentSource;
use netaclaw_protocol::{RunOutcome, SessionMeta};
use netaclaw_session::SessionPatch;
use std::sync::Arc;
use tokio::task::JoinSet;

/// The title of a session, and the one that is being generated. Runs and commands never wait for
/// the model.
pub(super) struct Titles {
    writer: Arc<SessionWriter>,
    source: Arc<dyn AgentSource>,
    /// The provisional title; if it was changed in the meantime, the change wins.
    first_line: Option<String>,
    /// How often a model was asked without result.
    failures: u32,
    jobs: JoinSet<TitleOutcome>,
}

/// A model that cannot do it would otherwise cost a request after every answer.
const FAILURES_MAX: u32 = 2;

enum TitleOutcome {
    Title(String),
    /// The next run tries again.
    Nothing,
    /// No model is named for titles, so the first line is the title.
    NoModel,
}

impl Titles {
    pub(super) fn new(writer: &Arc<SessionWriter>, source: &Arc<dyn AgentSource>) -> Self {
        Self {
            writer: Arc::clone(writer),
            source: Arc::clone(source),
            first_line: None,
            failures: 0,
            jobs: JoinSet::new(),
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.jobs.is_empty()
    }

    /// The next generated title; failures are skipped.
    pub(super) async fn next(&mut self) -> Option<String> {
        while let Some(made) = self.jobs.join_next().await {
            match made {
                Ok(TitleOutcome::Title(title)) => return Some(title),
                Ok(TitleOutcome::Nothing) => {
                    self.failures += 1;
                    if self.failures >= FAILURES_MAX {
                        self.first_line = None;
                    }
                }
                Ok(TitleOutcome::NoModel) => self.first_line = None,
                Err(error) if error.is_cancelled() => {}
                Err(panic) => tracing::error!(%panic, "generating a title panicked"),
            }
        }
        None
    }

    /// A user has named the session.
    pub(super) fn forget(&mut self) {
        self.first_line = None;
        self.jobs.abort_all();
    }

    /// Gives a session its title when its first run ends, and starts generating a better one as
    /// soon as there is an answer.
    pub(super) async fn update(&mut self, outcome: RunOutcome) -> Result<(), EngineError> {
        let meta = self.writer.meta().await?;
        let tree = self.writer.tree().await?;
        if meta.title.is_none()
            && let Some(title) = title_of(&tree)
        {
            self.store(title.clone()).await?;
            self.first_line = (!is_skill_run(&tree)).then_some(title);
        }
        let due = outcome == RunOutcome::Completed && self.first_line.is_some();
        if due
            && self.is_idle()
            && let Some(beginning) = FirstExchange::read(&tree)
        {
            let source = Arc::clone(&self.source);
            self.jobs.spawn(make_up(source, meta, beginning));
        }
        Ok(())
    }

    /// A title was generated.
    pub(super) async fn take(&mut self, title: String) {
        let first_line = self.first_line.take();
        let stands = match self.writer.meta().await {
            Ok(meta) => meta.title.is_some() && meta.title == first_line,
            Err(_) => false,
        };
        if stands && let Err(error) = self.store(title).await {
            tracing::warn!(session.id = %self.writer.id, %error, "failed to store a title");
        }
    }

    async fn store(&self, title: String) -> Result<(), EngineError> {
        let patch = SessionPatch {
            title: Some(title),
            ..SessionPatch::default()
        };
        self.writer.begin().await.patch(patch).await?;
        Ok(())
    }
}

async fn make_up(
    source: Arc<dyn AgentSource>,
    session: SessionMeta,
    beginning: FirstExchange,
) -> TitleOutcome {
    match source.title_model(&session).await {
        Ok(Some(titles)) => match ask(titles, beginning).await {
            Some(title) => TitleOutcome::Title(title),
            None => TitleOutcome::Nothing,
        },
        Ok(None) => TitleOutcome::NoModel,
        Err(error) => {
            tracing::info!(
                session.id = %session.session_id,
                %error,
                "no model is available for titles"
            );
            TitleOutcome::Nothing
        }
    }
}
