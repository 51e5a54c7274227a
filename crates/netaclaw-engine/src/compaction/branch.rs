//! Summarizes a branch that is left at the new leaf.

use super::attempt::{AttemptError, damaged};
use crate::error::EngineError;
use crate::session::foreign::FOREIGN_MARK;
use crate::source::{AgentSource, ChosenModel};
use netaclaw_compaction::{
    CompactionFailure, Conversation, Watcher, branch_text, plan_branch, quote_branch, summarize,
};
use netaclaw_models::tokens::estimate_text;
use netaclaw_protocol::{EntryId, ForeignContent, SessionMeta};
use netaclaw_session::{EntryBody, EntryKind, SessionTree, build_session_context, raw_json};
use serde_json::json;
use std::collections::HashSet;

/// A move from one place in the tree to another.
#[derive(Clone, Debug)]
pub(crate) struct BranchMove {
    pub(crate) from: EntryId,
    pub(crate) to: Option<EntryId>,
}

/// The summary of a branch.
pub(crate) struct BranchSummary {
    pub(crate) body: EntryBody,
    pub(crate) summary: String,
    pub(crate) messages: usize,
    /// Of the branch, by estimate.
    pub(crate) tokens_before: u64,
    pub(crate) tokens_after: u64,
}

impl BranchMove {
    /// The entries on the path to the old leaf that are not on the path to the new one.
    fn left<'t>(&self, tree: &'t SessionTree) -> Result<HashSet<&'t EntryId>, EngineError> {
        let path = |leaf: &EntryId| tree.path(leaf).map_err(damaged);
        let from = path(&self.from)?;
        let to = self.to.as_ref().map_or(Ok(Vec::new()), path)?;
        let common = from
            .iter()
            .zip(&to)
            .take_while(|(a, b)| a.id() == b.id())
            .count();
        Ok(from[common..].iter().map(|entry| entry.id()).collect())
    }

    /// The part to summarize, if the branch has any content.
    pub(crate) fn conversation(
        &self,
        tree: &SessionTree,
    ) -> Result<Option<Conversation>, EngineError> {
        let left = self.left(tree)?;
        let context = build_session_context(tree, Some(&self.from)).map_err(damaged)?;
        let path = tree.path(&self.from).map_err(damaged)?;
        let mut entries = path.iter().rev();
        let compaction = entries.find(|entry| entry.kind() == EntryKind::Compaction);
        let compaction = compaction.map(|entry| entry.id());
        let conversation = Conversation::read(&context).of(&left, compaction);
        let says = !conversation.pieces.is_empty() || conversation.previous.is_some();
        Ok(says.then_some(conversation))
    }

    /// Writes the entry that summarizes the branch. Nothing is stored here.
    pub(crate) async fn summarize(
        self,
        conversation: Conversation,
        foreign: ForeignContent,
        source: &dyn AgentSource,
        session: &SessionMeta,
        model: Option<ChosenModel>,
        watcher: Watcher<'_>,
    ) -> Result<BranchSummary, AttemptError> {
        let setup = source.compaction(session, model).await?;
        let looks_only = |tool: &str| setup.looks_only.contains(tool);
        let plan = plan_branch(&conversation, setup.limits(0), &looks_only)
            .ok_or(CompactionFailure::NothingToCompress)?;
        let summary = match quote_branch(&conversation) {
            Some(summary) => summary,
            None => summarize(&conversation, &plan, &setup.auxiliary, watcher).await?,
        };
        let text = branch_text(&plan, &summary);
        let body = EntryBody::BranchSummary {
            from_id: Some(self.from),
            summary: text.clone(),
            details: Some(raw_json(&json!({
                "readFiles": plan.facts.read_files,
                "modifiedFiles": plan.facts.modified_files,
                "usage": summary.usage,
                "requests": summary.requests,
                // A copy of the session may lack the branch, and the summary contains what it said.
                FOREIGN_MARK: foreign,
            }))),
        };
        Ok(BranchSummary {
            body,
            tokens_after: estimate_text(&text),
            summary: text,
            messages: conversation.pieces.len(),
            tokens_before: conversation.tokens(),
        })
    }
}
