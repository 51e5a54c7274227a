//! Changes of the tree that no run makes: another leaf, another answer, labels, forks.

use super::LiveSession;
use crate::error::EngineError;
use crate::server::limits::{LABEL_CHARS_MAX, check_length};
use crate::server::listing::{Liveness, list_item};
use crate::server::{Caller, Engine};
use crate::session::command::Handle;
use crate::session::durable::PersistedState;
use crate::session::requests::{Outcome, Request};
use netaclaw_protocol::{
    Ack, BadRequest, Busy, EntryId, Fork, Forked, LimitedText, Nothing, ReliableEvent, Retried,
    Retry, SessionId, SessionMeta, SessionUpdated, SetLabel, SwitchLeaf, SwitchLeafAck,
    SwitchStatus, now_ms,
};
use netaclaw_runtime::todo_on_path;
use netaclaw_session::{EntryBody, Flush, NavigationTree, Role, SessionError};
use std::sync::Arc;
use uuid::Uuid;

/// Where a move of the leaf ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeafTarget {
    /// At the entry.
    Exactly,
    /// From the entry on, where its branch was last left.
    Follow,
}

impl Handle for SwitchLeaf {
    async fn handle(
        self,
        session: &mut LiveSession,
        _: &Caller,
        request: Option<Request>,
    ) -> Result<Ack<SwitchLeafAck>, EngineError> {
        let way = match self.follow {
            true => LeafTarget::Follow,
            false => LeafTarget::Exactly,
        };
        if self.summarize {
            let left = session.leave_branch(self.leaf_entry_id, way, request);
            return Ok(left.await?.map(|status| SwitchLeafAck { status }));
        }
        let moved = session.switch_leaf(self.leaf_entry_id, way, request);
        moved.await?;
        let status = SwitchStatus::Moved;
        Ok(Ack::new(SwitchLeafAck { status }))
    }
}

impl LiveSession {
    pub(super) async fn switch_leaf(
        &mut self,
        leaf: Option<EntryId>,
        way: LeafTarget,
        request: Option<Request>,
    ) -> Result<(), EngineError> {
        if self.current.is_some() {
            return Err(Busy::Running.into());
        }
        let mut writing = self.writer.begin().await;
        let tree = self.writer.tree().await?;
        let known = writing.state.durable.visits.clone();
        writing.remember_visit(&tree);
        let leaf = match (leaf, way) {
            (Some(entry), LeafTarget::Follow) => {
                Some(NavigationTree::new(&tree).follow(&entry, &writing.state.durable.visits))
            }
            (leaf, _) => leaf,
        };
        writing.move_leaf(leaf.as_ref()).await?;
        let tree = self.writer.tree().await?;
        writing.remember_visit(&tree);
        if writing.state.durable.visits != known {
            writing.persist_then_publish(Flush::Now).await?;
        }
        let todo = todo_on_path(tree.active_path().unwrap_or_default().into_iter());
        self.live.change(|state| state.set_todo(todo));
        let meta = self.writer.meta().await?;
        let model = writing.state.durable.model.clone();
        self.numbers.publish_at(&tree, &meta, model).await;
        let requests = &mut self.requests;
        requests.store(&mut writing, request, Outcome::Done).await
    }
}

impl Handle for Retry {
    /// Moves the leaf to a message of the user and starts a run there: its answer becomes a
    /// sibling of the ones before.
    async fn handle(
        self,
        session: &mut LiveSession,
        _: &Caller,
        request: Option<Request>,
    ) -> Result<Ack<Retried>, EngineError> {
        if session.live.waits_for_person() {
            return Err(Busy::WaitsForAnswer.into());
        }
        let tree = session.writer.tree().await?;
        let asked = tree.get(&self.entry_id);
        let asked = asked.ok_or_else(|| EngineError::StaleParent(self.entry_id.clone()))?;
        if asked.role() != Role::User {
            return Err(BadRequest::NotAUserMessage.into());
        }
        if session.current.is_none() {
            session.allowance.begin()?;
        }
        let switched = session.switch_leaf(Some(self.entry_id), LeafTarget::Exactly, None);
        let begun = match switched.await {
            Ok(()) => session.continue_run(request).await,
            Err(error) => Err(error),
        };
        let runs = session.current.is_some();
        session.allowance.keep_while(runs);
        Ok(Ack::new(Retried { run_id: begun? }))
    }
}

impl Handle for SetLabel {
    fn check(&self, _: &Caller) -> Result<(), EngineError> {
        match &self.label {
            Some(label) => check_length(LimitedText::Label, label, LABEL_CHARS_MAX),
            None => Ok(()),
        }
    }

    async fn handle(
        self,
        session: &mut LiveSession,
        _: &Caller,
        request: Option<Request>,
    ) -> Result<Ack<Nothing>, EngineError> {
        let label = self.label.filter(|label| !label.trim().is_empty());
        let body = EntryBody::Label {
            target_id: self.entry_id,
            label,
        };
        let writer = Arc::clone(&session.writer);
        let changed = session.record(request, Outcome::Done, async |writing| {
            writing.append_here(body).await?;
            let meta = writer.meta().await?;
            let tree = writer.tree().await?;
            let labels = tree
                .labels()
                .iter()
                .map(|(id, label)| (id.clone(), label.shown()))
                .collect();
            let updated = SessionUpdated {
                session: meta.into(),
                labels: Some(labels),
            };
            writer.feed.emit(&ReliableEvent::SessionUpdated(updated));
            Ok(())
        });
        changed.await?;
        Ok(Ack::new(Nothing {}))
    }
}

impl Handle for Fork {
    async fn execute(self, engine: &Engine, caller: &Caller) -> Result<Ack<Forked>, EngineError> {
        engine.spend(caller)?;
        let request = self.request();
        let mut forked = engine.deliver(caller, self, request).await?;
        let item = &mut forked.answer.session;
        // The source cannot tell whether an existing fork is open.
        item.running &= engine.is_live(&item.session.session_id);
        if !forked.deduped {
            engine.list_changed(item.session.user_id.as_deref(), &item.session.session_id);
        }
        Ok(forked)
    }

    async fn handle(
        self,
        session: &mut LiveSession,
        _: &Caller,
        request: Option<Request>,
    ) -> Result<Ack<Forked>, EngineError> {
        let writer = &session.writer;
        // A request names what it makes, so that a second process finds what the first one made
        // before it died.
        let id = request.as_ref().map_or_else(
            || SessionId::new(Uuid::now_v7().to_string()),
            |request| request.names_session(&writer.id).session_id(now_ms()),
        );
        let mut writing = writer.begin().await;
        let provider = &writer.provider;
        let made = provider
            .create_branched_session(&writer.id, &self.entry_id, id)
            .await;
        let forked = match made {
            Err(SessionError::AlreadyExists(there)) => provider.get_session(&there).await?,
            made => made?,
        };
        let outcome = Outcome::Forked(forked.session_id.clone());
        let requests = &mut session.requests;
        requests.store(&mut writing, request, outcome).await?;
        Ok(Ack::new(as_forked(forked)))
    }
}

pub(super) fn as_forked(fork: SessionMeta) -> Forked {
    let durable = PersistedState::read(&fork);
    Forked {
        session_id: fork.session_id.clone(),
        session: list_item(fork, &durable, Liveness::Live),
    }
}
