//! The queue of messages.

use crate::error::EngineError;
use netaclaw_protocol::{
    BadRequest, ChatMode, Disposition, EntryId, NotFound, QueueItem, QueueState, QueueUpdate,
    QueueUpdateItem, TooLarge, TooMany,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::ops::Deref;
use std::sync::Arc;

/// Messages that may wait; a further one is refused, not dropped.
pub(crate) const QUEUE_MAX: usize = 50;
/// Bytes of text and of files in place that may wait; what goes beyond is refused.
pub(crate) const QUEUE_BYTES_MAX: usize = 1 << 20;
/// How much of a text an event shows to clients that have the text already.
const PREVIEW_CHARS_MAX: usize = 80;

/// A message that waits, and where it is to continue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Queued {
    #[serde(flatten)]
    pub(crate) item: QueueItem,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) leaf_entry_id: Option<EntryId>,
    /// The agent that is to answer from this message on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) request_id: Option<String>,
    /// Of the request; the text may have been edited since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fingerprint: Option<String>,
    /// Orders the queue. The queue gives it when the message joins.
    #[serde(default)]
    pub(crate) place: u64,
}

impl Queued {
    /// Reads a stored message. One that this version does not understand waits as well, held, with
    /// as much of it as can be shown; what is stored of it is never written again.
    pub(super) fn read(id: &str, stored: &Value) -> Self {
        match Self::deserialize(stored) {
            Ok(queued) if queued.item.item_id == id => queued,
            _ => Self::unsupported(id, stored),
        }
    }

    fn unsupported(id: &str, stored: &Value) -> Self {
        let text = |name: &str| stored[name].as_str().map(str::to_owned);
        Self {
            item: QueueItem {
                item_id: id.to_owned(),
                content: text("content").unwrap_or_default(),
                attachments: Vec::new(),
                mode: ChatMode::Queue,
                queued_at: stored["queuedAt"].as_i64().unwrap_or_default(),
                held: true,
                unsupported: true,
            },
            leaf_entry_id: None,
            agent_id: None,
            request_id: text("requestId"),
            fingerprint: text("fingerprint"),
            place: stored["place"].as_u64().unwrap_or_default(),
        }
    }

    /// Whether it steers the current run. A message that a stop has held waits for its sender
    /// instead.
    pub(crate) fn steers(&self) -> bool {
        self.item.mode == ChatMode::Steer && !self.item.held
    }

    /// The answer to its sender.
    pub(crate) fn disposition(&self) -> Disposition {
        match self.item.mode {
            ChatMode::Steer => Disposition::Steered,
            ChatMode::Auto | ChatMode::Queue => Disposition::Queued,
        }
    }

    fn bytes(&self) -> usize {
        let files = self.item.attachments.iter();
        let files = files.map(|file| file.name.len() + file.data.as_ref().map_or(0, String::len));
        self.item.content.len() + files.sum::<usize>()
    }
}

/// The messages in their order. They are shared, so that a copy of the state costs nothing and
/// what changed since is found by comparing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Queue {
    items: Vec<Arc<Queued>>,
}

impl Deref for Queue {
    type Target = [Arc<Queued>];

    fn deref(&self) -> &[Arc<Queued>] {
        &self.items
    }
}

impl Queue {
    /// Puts stored messages in their order.
    pub(super) fn of(mut items: Vec<Arc<Queued>>) -> Self {
        items.sort_by(|a, b| (a.place, &a.item.item_id).cmp(&(b.place, &b.item.item_id)));
        Self { items }
    }

    /// Adds a message at the end, if there is room for it.
    pub(crate) fn push(&mut self, mut queued: Queued) -> Result<(), EngineError> {
        if self.items.len() >= QUEUE_MAX {
            return Err(TooMany::MessagesWaiting { max: QUEUE_MAX }.into());
        }
        self.check_capacity(self.bytes(), queued.bytes())?;
        queued.place = self.items.last().map_or(1, |last| last.place + 1);
        self.items.push(Arc::new(queued));
        Ok(())
    }

    pub(crate) fn remove(&mut self, item_id: &str) -> Result<Arc<Queued>, EngineError> {
        let at = self.position(item_id)?;
        Ok(self.items.remove(at))
    }

    pub(crate) fn edit(&mut self, item_id: &str, content: String) -> Result<(), EngineError> {
        let at = self.position(item_id)?;
        let item = &self.items[at].item;
        if item.unsupported {
            return Err(BadRequest::QueuedByAnotherVersion.into());
        }
        self.check_capacity(self.bytes() - item.content.len(), content.len())?;
        Arc::make_mut(&mut self.items[at]).item.content = content;
        Ok(())
    }

    /// Moves a message to a position counted from 0. The positions stay and are reassigned.
    pub(crate) fn move_to(&mut self, item_id: &str, position: usize) -> Result<(), EngineError> {
        let at = self.position(item_id)?;
        let places: Vec<u64> = self.items.iter().map(|queued| queued.place).collect();
        let item = self.items.remove(at);
        let position = position.min(self.items.len());
        self.items.insert(position, item);
        for (queued, place) in self.items.iter_mut().zip(places) {
            if queued.place != place {
                Arc::make_mut(queued).place = place;
            }
        }
        Ok(())
    }

    pub(crate) fn retain(&mut self, keep: impl Fn(&Queued) -> bool) {
        self.items.retain(|queued| keep(queued));
    }

    pub(crate) fn hold(&mut self) {
        self.set_held(true);
    }

    /// Lets all messages run again, but for those that this version cannot run.
    pub(crate) fn resume(&mut self) {
        self.set_held(false);
    }

    fn set_held(&mut self, held: bool) {
        for queued in &mut self.items {
            if queued.item.held != held && !queued.item.unsupported {
                Arc::make_mut(queued).item.held = held;
            }
        }
    }

    /// All of it, for a client that joins.
    pub(crate) fn state(&self) -> QueueState {
        QueueState {
            items: self
                .items
                .iter()
                .map(|queued| queued.item.clone())
                .collect(),
            held: self.is_held(),
        }
    }

    /// The event for clients that have an older state of the queue: the texts of new and changed
    /// messages, and only the ids of the others.
    pub(crate) fn update_since(&self, known: &Queue) -> QueueUpdate {
        let items = self.items.iter().map(|queued| {
            let item = &queued.item;
            let is_news = known
                .find(&item.item_id)
                .is_none_or(|old| !Arc::ptr_eq(old, queued) && old.item.content != item.content);
            QueueUpdateItem {
                item_id: item.item_id.clone(),
                content: is_news.then(|| item.content.clone()),
                preview: item.content.chars().take(PREVIEW_CHARS_MAX).collect(),
                attachments: match is_news {
                    true => item.attachments.clone(),
                    false => Vec::new(),
                },
                mode: item.mode,
                queued_at: item.queued_at,
                held: item.held,
                unsupported: item.unsupported,
            }
        });
        QueueUpdate {
            items: items.collect(),
            held: self.is_held(),
        }
    }

    pub(super) fn find(&self, item_id: &str) -> Option<&Arc<Queued>> {
        let mut items = self.items.iter();
        items.find(|queued| queued.item.item_id == item_id)
    }

    fn is_held(&self) -> bool {
        let mut items = self.items.iter();
        items.any(|queued| queued.item.held && !queued.item.unsupported)
    }

    fn bytes(&self) -> usize {
        self.items.iter().map(|queued| queued.bytes()).sum()
    }

    fn check_capacity(&self, waiting: usize, added: usize) -> Result<(), EngineError> {
        match waiting + added > QUEUE_BYTES_MAX {
            true => Err(too_large(waiting, added).into()),
            false => Ok(()),
        }
    }

    fn position(&self, item_id: &str) -> Result<usize, EngineError> {
        let mut items = self.items.iter();
        let found = items.position(|queued| queued.item.item_id == item_id);
        Ok(found.ok_or(NotFound::NotWaiting)?)
    }
}

fn too_large(waiting: usize, added: usize) -> TooLarge {
    let [waiting_kb, added_kb, max_kb] =
        [waiting, added, QUEUE_BYTES_MAX].map(|bytes| bytes.div_ceil(1024));
    TooLarge::QueueTooLarge {
        waiting_kb,
        added_kb,
        max_kb,
    }
}
