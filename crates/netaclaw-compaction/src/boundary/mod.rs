//! Finds the first entry to keep.

use crate::conversation::{ConversationMessage, MessageAuthor};
use netaclaw_protocol::{ContentBlock, Message};
use std::collections::HashMap;

/// What is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Budget {
    pub(crate) tail_tokens: u64,
    pub(crate) tail_tokens_max: u64,
    pub(crate) keep_recent: usize,
    /// Whether the last `keep_recent` messages stay whatever their size.
    pub(crate) keeps_recent_always: bool,
}

/// The position of the first piece that is kept; everything before it is compacted. `None` if there
/// is nothing to compact. It may be the length: then nothing is kept, because the last piece alone
/// is too long.
///
/// - A call and its results stay on one side, and so does an answer whose calls still run.
/// - Turns stay whole where they fit.
/// - At least `keep_recent` messages stay, the user's last message and the last visible answer,
///   unless these alone are more than `tail_tokens_max`. With `keeps_recent_always` the
///   `keep_recent` messages stay in any case.
pub(crate) fn cut(pieces: &[ConversationMessage], budget: Budget) -> Option<usize> {
    let legal = legal_cuts(pieces);
    let tails = tail_sizes(pieces);
    let by_budget = by_budget(&tails, budget);
    let fits = |at: &usize| tails[*at] <= budget.tail_tokens_max;
    let at_or_before = |at: usize| (0..=at).rev().filter(|at| legal[*at]);
    let wanted = by_budget.min(last_exchange(pieces));
    let begins_turn = |at: &usize| {
        pieces
            .get(*at)
            .is_some_and(|piece| piece.voice.begins_turn())
    };
    let whole_turns = at_or_before(wanted).find(begins_turn);
    if let Some(at) = whole_turns.filter(|at| *at > 0 && fits(at)) {
        return Some(at);
    }
    let nearest = at_or_before(wanted).next().unwrap_or(0);
    if fits(&nearest) {
        return (nearest > 0).then_some(nearest);
    }
    if budget.keeps_recent_always {
        let recent = pieces.len().saturating_sub(budget.keep_recent);
        return at_or_before(recent).next().filter(|at| *at > 0);
    }
    // What should be kept is too long: a turn is split, and of its end as much is kept as fits.
    let split = at_or_before(by_budget).next().unwrap_or(0);
    let mut later = (split..=pieces.len()).filter(|at| legal[*at]);
    later.find(fits).filter(|at| *at > 0)
}

/// Where the turn began that a cut splits; `None` if it splits none.
pub(crate) fn split_turn(pieces: &[ConversationMessage], cut: usize) -> Option<usize> {
    let first = pieces.get(cut);
    if first.is_some_and(|piece| piece.voice.begins_turn()) {
        return None;
    }
    pieces[..cut]
        .iter()
        .rposition(|piece| piece.voice.begins_turn())
}

fn by_budget(tails: &[u64], budget: Budget) -> usize {
    let count = tails.len() - 1;
    let mut at = count;
    while at > 0 && (count - at < budget.keep_recent || tails[at - 1] <= budget.tail_tokens) {
        at -= 1;
    }
    at
}

/// The user's last message, or the last visible answer, whichever came first.
fn last_exchange(pieces: &[ConversationMessage]) -> usize {
    let last = |wanted: fn(&ConversationMessage) -> bool| {
        let at = pieces.iter().rposition(wanted);
        at.unwrap_or(pieces.len())
    };
    last(|piece| piece.voice == MessageAuthor::User).min(last(is_visible_answer))
}

fn is_visible_answer(piece: &ConversationMessage) -> bool {
    let Message::Assistant(answer) = &piece.message else {
        return false;
    };
    let says = |block: &ContentBlock| matches!(block, ContentBlock::Text { text } if !text.trim().is_empty());
    piece.voice == MessageAuthor::Answer && answer.content.iter().any(says)
}

/// The size of everything from each position on; one more than there are pieces.
fn tail_sizes(pieces: &[ConversationMessage]) -> Vec<u64> {
    let mut tails = vec![0; pieces.len() + 1];
    for (at, piece) in pieces.iter().enumerate().rev() {
        tails[at] = tails[at + 1] + piece.tokens;
    }
    tails
}

/// For every position whether a cut before it tears nothing apart; one more than there are pieces.
pub(crate) fn legal_cuts(pieces: &[ConversationMessage]) -> Vec<bool> {
    // How many pairs span each position, as differences.
    let mut spans = vec![0_i32; pieces.len() + 2];
    let mut span = |from: usize, to: usize| {
        spans[from + 1] += 1;
        spans[to + 1] -= 1;
    };
    let mut callers: HashMap<&str, usize> = HashMap::new();
    let mut last_answer = None;
    let mut open: Vec<&str> = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        match &piece.message {
            Message::User(_) => {}
            Message::Assistant(answer) => {
                last_answer = Some(at);
                open.clear();
                for block in &answer.content {
                    if let ContentBlock::ToolCall { id, .. } = block {
                        callers.insert(id, at);
                        open.push(id);
                    }
                }
            }
            Message::ToolResult(result) => {
                let id = result.tool_call_id.as_str();
                open.retain(|known| *known != id);
                if let Some(caller) = callers.get(id) {
                    span(*caller, at);
                }
            }
        }
    }
    // Calls that still run get their results behind everything that is here.
    if let Some(at) = last_answer
        && !open.is_empty()
        && pieces[at].voice == MessageAuthor::Answer
    {
        span(at, pieces.len());
    }
    let mut depth = 0;
    let starts_with_result = |at: usize| {
        let piece = pieces.get(at);
        piece.is_some_and(|piece| piece.voice == MessageAuthor::Result)
    };
    (0..=pieces.len())
        .map(|at| {
            depth += spans[at];
            depth == 0 && !starts_with_result(at)
        })
        .collect()
}

#[cfg(test)]
mod tests;
