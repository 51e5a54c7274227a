//! Changes of the tree that no run makes: another leaf, another answer, labels, forks.

use super::LiveSession;
use crate::error::EngineError;
use crate::events::feed::now_ms;
use crate::session::command::Way;
use crate::session::requests::{Done, Outcome, Request};
use netaclaw_protocol::{EntryId, ReliableEvent, RunId, SessionId, SessionMeta, SessionUpdated};
use netaclaw_runtime::todo_on_path;
use netaclaw_session::{EntryBody, Flush, Places, Role, SessionError};
use std::sync::Arc;
use uuid::Uuid;

impl LiveSession {
    pub(super) async fn switch_leaf(
        &mut self,
        leaf: Option<EntryId>,
        way: Way,
        request: Option<Request>,
    ) -> Result<Done<()>, EngineError> {
        if self.repeats(request.as_ref())? {
            return Ok(Done::before(()));
        }
        if self.current.is_some() {
            return Err(EngineError::Busy(
                "a run is writing; stop it or wait for its end".to_owned(),
            ));
        }
        let writer = Arc::clone(&self.writer);
        let mut writing = writer.begin().await;
        let tree = self.writer.tree().await?;
        let known = writing.state.durable.visits.clone();
        writing.remember_visit(&tree);
        let leaf = match (leaf, way) {
            (Some(entry), Way::Follow) => {
                Some(Places::new(&tree).follow(&entry, &writing.state.durable.visits))
            }
            (leaf, _) => leaf,
        };
        writing.move_leaf(leaf.as_ref()).await?;
        let tree = self.writer.tree().await?;
        writing.remember_visit(&tree);
        if writing.state.durable.visits != known {
            writing.persist_then_publish(Flush::Now).await?;
        }
        self.live.todo_changed(todo_on_path(
            tree.active_path().unwrap_or_default().into_iter(),
        ));
        let meta = self.writer.meta().await?;
        let model = writing.state.durable.model.clone();
        let tokens = self.tokens_at(&tree, &meta, model);
        self.live.tokens_changed(tokens.await);
        self.remember(&mut writing, request, Outcome::Done).await?;
        Ok(Done::now(()))
    }

    /// Moves the leaf to a message of the user and starts a run there: its answer becomes a
    /// sibling of the ones before.
    pub(super) async fn retry(
        &mut self,
        entry: EntryId,
        request: Option<Request>,
    ) -> Result<Done<RunId>, EngineError> {
        if let Some(Outcome::Started(run_id)) = self.requests.repeat(request.as_ref(), now_ms())? {
            return Ok(Done::before(run_id.clone()));
        }
        if self.live.waits_for_person() {
            let message = "a question or an approval is open; answer it or stop the run first";
            return Err(EngineError::Busy(message.to_owned()));
        }
        let tree = self.writer.tree().await?;
        let asked = tree.get(&entry);
        let asked = asked.ok_or_else(|| EngineError::StaleParent(entry.to_string()))?;
        if asked.role() != Role::User {
            let message = "only a message of the user can be answered again";
            return Err(EngineError::BadRequest(message.to_owned()));
        }
        if self.current.is_none() {
            self.allowance.begin()?;
        }
        let switched = self.switch_leaf(Some(entry), Way::Exactly, None).await;
        let begun = match switched {
            Ok(_) => self.go_on(request).await,
            Err(error) => Err(error),
        };
        self.allowance.keep_while(self.current.is_some());
        Ok(Done::now(begun?))
    }

    pub(super) async fn label(
        &mut self,
        entry: EntryId,
        label: Option<String>,
        request: Option<Request>,
    ) -> Result<Done<()>, EngineError> {
        if self.repeats(request.as_ref())? {
            return Ok(Done::before(()));
        }
        let label = label.filter(|label| !label.trim().is_empty());
        let writer = Arc::clone(&self.writer);
        let mut writing = writer.begin().await;
        writing
            .append_here(EntryBody::Label {
                target_id: entry,
                label,
            })
            .await?;
        self.remember(&mut writing, request, Outcome::Done).await?;
        let session = self.writer.meta().await?;
        let tree = self.writer.tree().await?;
        let labels = tree
            .labels()
            .iter()
            .map(|(id, label)| (id.clone(), label.text.clone()))
            .collect();
        let updated = SessionUpdated {
            session: session.into(),
            labels: Some(labels),
        };
        self.writer
            .feed
            .emit(&ReliableEvent::SessionUpdated(updated));
        Ok(Done::now(()))
    }

    pub(super) async fn fork(
        &mut self,
        entry: EntryId,
        request: Option<Request>,
    ) -> Result<Done<SessionMeta>, EngineError> {
        let writer = Arc::clone(&self.writer);
        let known = self.requests.repeat(request.as_ref(), now_ms())?;
        if let Some(Outcome::Forked(forked)) = known {
            return Ok(Done::before(writer.provider.get_session(forked).await?));
        }
        // A request names what it makes, so that a second process finds what the first one made
        // before it died.
        let id = request.as_ref().map_or_else(
            || SessionId::new(Uuid::now_v7().to_string()),
            |request| request.names_session(&writer.id),
        );
        let mut writing = writer.begin().await;
        let provider = &writer.provider;
        let made = provider
            .create_branched_session(&writer.id, &entry, id.clone())
            .await;
        let forked = match made {
            Err(SessionError::AlreadyExists(_)) => provider.get_session(&id).await?,
            made => made?,
        };
        let outcome = Outcome::Forked(forked.session_id.clone());
        self.remember(&mut writing, request, outcome).await?;
        Ok(Done::now(forked))
    }
}
