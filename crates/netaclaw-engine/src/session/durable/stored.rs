//! The stored form of a session's state in the metadata: read member by member, and written by what
//! changed. What this version does not understand stays as it is.

use super::queue::{Queue, Queued};
use super::{KEY, PersistedState, TOOLS_KEY};
use netaclaw_protocol::{ReadOnly, SessionId, SessionMeta};
use netaclaw_session::MetadataChange;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Raised when an older program would misread the state. Version 1 had no number and kept the queue
/// as a list.
const STATE_VERSION: u64 = 2;
const QUEUE: &str = "queue";

/// Lists of the state whose elements have a name of their own, and the member that holds it.
const NAMED_LISTS: [(&str, &str); 6] = [
    ("questions", "requestId"),
    ("answered", "requestId"),
    ("approvals", "approvalId"),
    ("decided", "approvalId"),
    ("standing", "id"),
    ("requests", "id"),
];

/// The state was written by a newer version, which alone can interpret it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NewerState {
    pub(crate) version: u64,
}

impl NewerState {
    /// Whether the state of a session is such a one. Only the number is looked at: of the rest
    /// nothing is known.
    pub(crate) fn of(session: &SessionMeta) -> Option<Self> {
        let version = match session.metadata.get(KEY)?.get("version") {
            None => 1,
            Some(version) => version.as_u64().unwrap_or(u64::MAX),
        };
        (version > STATE_VERSION).then_some(Self { version })
    }
}

impl From<NewerState> for ReadOnly {
    fn from(NewerState { version: found }: NewerState) -> Self {
        let supported = STATE_VERSION;
        Self::NewerState { found, supported }
    }
}

/// What the store holds, for writing only what differs from it.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoredState {
    /// Whether there is anything, be it of this session or of the one that it was copied from.
    is_there: bool,
    /// The members as they are stored, but for the queue; `None` unless they are this session's.
    members: Option<Map<String, Value>>,
    /// The same as this version writes them.
    known: Map<String, Value>,
    /// Elements of lists that this version does not understand.
    foreign: BTreeMap<&'static str, Vec<Value>>,
    queue: Queue,
    /// The queue in the form of version 1, by item; the next change rewrites it.
    listed: Option<Map<String, Value>>,
    tools: Option<Vec<String>>,
}

/// A change that is to be stored, and what the store holds afterwards.
pub(crate) struct StateUpdate {
    pub(crate) changes: Vec<MetadataChange>,
    pub(crate) after: StoredState,
}

/// How the state is written, but for the queue.
#[derive(Serialize)]
struct Storing<'a> {
    version: u64,
    session: &'a SessionId,
    by: &'a str,
    #[serde(flatten)]
    state: &'a PersistedState,
}

/// Those of it that are not the state's.
const STORING_FIELDS: usize = 3;

impl StoredState {
    /// Reads what is stored of a session. A state of a newer version is not read.
    pub(crate) fn read(session: &SessionMeta) -> (PersistedState, Self) {
        let tools = session.metadata.get(TOOLS_KEY);
        let tools: Option<Vec<String>> = tools.and_then(|told| Deserialize::deserialize(told).ok());
        let (mut durable, mut stored) = match own_members(session) {
            _ if NewerState::of(session).is_some() => Default::default(),
            Some(members) => read_members(session, members),
            None => {
                let copied = session.metadata.get(KEY).and_then(Value::as_object);
                let mut copied = copied.map(Reader::new);
                let durable = PersistedState {
                    model: copied.as_mut().and_then(|reader| reader.one("model")),
                    ..PersistedState::default()
                };
                (durable, Self::default())
            }
        };
        stored.is_there = session.metadata.contains_key(KEY);
        stored.tools.clone_from(&tools);
        durable.told_tools = tools;
        (durable, stored)
    }

    /// What has to be stored so that the store holds `durable`.
    pub(crate) fn update(
        &self,
        durable: &PersistedState,
        session: &SessionId,
        by: &str,
    ) -> StateUpdate {
        let known = known_members(durable, session, by);
        let members = self.with_unknown(&known);
        let mut changes = Vec::new();
        let tools = durable.told_tools.as_ref();
        if let Some(told) = tools.filter(|told| self.tools.as_ref() != Some(told)) {
            changes.push(MetadataChange::set([TOOLS_KEY], told.clone().into()));
        }
        // What is as usual is not written.
        let is_there = members.len() > STORING_FIELDS || !durable.queue.is_empty();
        match &self.members {
            Some(before) if is_there => {
                changes.extend(member_changes(before, &members));
                if let Some(listed) = self.listed.clone() {
                    changes.push(MetadataChange::set([KEY, QUEUE], listed.into()));
                }
                changes.extend(self.queue_changes(&durable.queue));
            }
            None if is_there => changes.push(whole(&members, &durable.queue)),
            _ if self.is_there => changes.push(MetadataChange::remove([KEY])),
            _ => {}
        }
        let after = Self {
            is_there,
            members: is_there.then_some(members),
            known: match is_there {
                true => known,
                false => Map::new(),
            },
            foreign: self.foreign.clone(),
            queue: durable.queue.clone(),
            listed: None,
            tools: tools.or(self.tools.as_ref()).cloned(),
        };
        StateUpdate { changes, after }
    }

    /// The members to store: as this version writes them, together with the unknown members next to
    /// and within them.
    fn with_unknown(&self, known: &Map<String, Value>) -> Map<String, Value> {
        let mut members = known.clone();
        for (name, stored) in self.members.iter().flatten() {
            let (before, now) = (self.known.get(name), known.get(name));
            let value = match (before, now) {
                (None, None) => Some(stored.clone()),
                (None, now) if self.foreign.contains_key(name.as_str()) => {
                    self.list_or_member(name, stored, &Value::Array(Vec::new()), now)
                }
                (None, Some(_)) => None,
                (before, now) if before == now => Some(stored.clone()),
                (Some(before), now) => self.list_or_member(name, stored, before, now),
            };
            if let Some(value) = value {
                members.insert(name.clone(), value);
            }
        }
        members
    }

    /// A member that this version changes, or removes if `now` is `None`.
    fn list_or_member(
        &self,
        name: &str,
        stored: &Value,
        before: &Value,
        now: Option<&Value>,
    ) -> Option<Value> {
        let (Value::Array(stored), Value::Array(before)) = (stored, before) else {
            let mut now = now?.clone();
            keep_unknown(stored, before, &mut now);
            return Some(now);
        };
        let now = now.and_then(Value::as_array).cloned().unwrap_or_default();
        let named = NAMED_LISTS.iter().find(|(list, _)| *list == name);
        let same = |list: &[Value], id: &Value, member: &str| {
            let mut elements = list.iter();
            elements.find(|other| other[member] == *id).cloned()
        };
        let elements = now.into_iter().map(|mut element| {
            if let Some((_, member)) = named
                && let Some(stored) = same(stored, &element[member], member)
                && let Some(before) = same(before, &element[member], member)
            {
                keep_unknown(&stored, &before, &mut element);
            }
            element
        });
        let foreign = self.foreign.get(name).cloned().unwrap_or_default();
        let list: Vec<Value> = foreign.into_iter().chain(elements).collect();
        (!list.is_empty()).then_some(Value::Array(list))
    }

    /// One change for each message that was added or removed, and for each part of one that
    /// changed: unchanged messages are not written again.
    fn queue_changes(&self, queue: &Queue) -> Vec<MetadataChange> {
        let mut changes = Vec::new();
        for old in self.queue.iter() {
            let id = old.item.item_id.as_str();
            if queue.find(id).is_none() {
                changes.push(MetadataChange::remove([KEY, QUEUE, id]));
            }
        }
        for queued in queue.iter() {
            let id = queued.item.item_id.as_str();
            let part = |name, value| MetadataChange::set([KEY, QUEUE, id, name], value);
            match self.queue.find(id) {
                None => changes.push(MetadataChange::set([KEY, QUEUE, id], stored_item(queued))),
                Some(old) if Arc::ptr_eq(old, queued) => {}
                Some(old) => {
                    if old.place != queued.place {
                        changes.push(part("place", queued.place.into()));
                    }
                    if old.item.held != queued.item.held {
                        changes.push(part("held", queued.item.held.into()));
                    }
                    if old.item.content != queued.item.content {
                        changes.push(part("content", queued.item.content.clone().into()));
                    }
                }
            }
        }
        changes
    }
}

/// The state, if it is this session's own. A fork or a copy takes the metadata along, but not the
/// active work.
fn own_members(session: &SessionMeta) -> Option<&Map<String, Value>> {
    let members = session.metadata.get(KEY)?.as_object()?;
    (members.get("session")? == session.session_id.as_str()).then_some(members)
}

fn read_members(
    session: &SessionMeta,
    members: &Map<String, Value>,
) -> (PersistedState, StoredState) {
    let mut reader = Reader::new(members);
    let (queue, listed) = reader.queue();
    let durable = PersistedState {
        queue,
        run: reader.one("run"),
        questions: reader.list("questions"),
        answered: reader.list("answered"),
        approvals: reader.list("approvals"),
        decided: reader.list("decided"),
        standing: reader.list("standing"),
        model: reader.one("model"),
        told_tools: None,
        requests: reader.list("requests"),
        warnings: reader.list("warnings"),
        compaction: reader.one("compaction").unwrap_or_default(),
        unread: reader.one("unread").unwrap_or_default(),
        visits: reader.one("visits").unwrap_or_default(),
    };
    let by = members.get("by").and_then(Value::as_str);
    let mut known = known_members(&durable, &session.session_id, by.unwrap_or_default());
    // Members that were not read are unknown, and those of an older version are rewritten.
    known.retain(|name, _| members.contains_key(name));
    let stored = StoredState {
        is_there: true,
        members: Some(without_queue(members)),
        known,
        foreign: reader.foreign,
        queue: durable.queue.clone(),
        listed,
        tools: None,
    };
    (durable, stored)
}

/// Reads members one by one. What cannot be read costs only itself, and stays in the store.
struct Reader<'a> {
    members: &'a Map<String, Value>,
    foreign: BTreeMap<&'static str, Vec<Value>>,
}

impl<'a> Reader<'a> {
    fn new(members: &'a Map<String, Value>) -> Self {
        Self {
            members,
            foreign: BTreeMap::new(),
        }
    }

    fn one<T: Deserialize<'a>>(&mut self, name: &str) -> Option<T> {
        T::deserialize(self.members.get(name)?).ok()
    }

    fn list<T: Deserialize<'a>>(&mut self, name: &'static str) -> Vec<T> {
        let elements = self.members.get(name).and_then(Value::as_array);
        let mut read = Vec::new();
        for element in elements.into_iter().flatten() {
            match T::deserialize(element) {
                Ok(element) => read.push(element),
                Err(_) => self.foreign.entry(name).or_default().push(element.clone()),
            }
        }
        read
    }

    /// The queue, and its items by id if they were stored as a list.
    fn queue(&mut self) -> (Queue, Option<Map<String, Value>>) {
        let listed = match self.members.get(QUEUE) {
            Some(Value::Object(items)) => return (read_queue(items), None),
            Some(Value::Array(items)) => by_id(items),
            _ => return (Queue::default(), None),
        };
        (read_queue(&listed), Some(listed))
    }
}

fn read_queue(items: &Map<String, Value>) -> Queue {
    let items = items.iter().map(|(id, item)| Queued::read(id, item));
    Queue::of(items.map(Arc::new).collect())
}

/// The list of version 1, each item with its place. What has no id gets one.
fn by_id(items: &[Value]) -> Map<String, Value> {
    let items = items.iter().zip(1_u64..).map(|(item, place)| {
        let id = item["itemId"].as_str();
        let id = id.map_or_else(|| format!("item-{place}"), str::to_owned);
        let item = match item.clone() {
            Value::Object(mut item) => {
                item.insert("place".to_owned(), place.into());
                Value::Object(item)
            }
            odd => odd,
        };
        (id, item)
    });
    items.collect()
}

fn known_members(durable: &PersistedState, session: &SessionId, by: &str) -> Map<String, Value> {
    let written = serde_json::to_value(Storing {
        version: STATE_VERSION,
        session,
        by,
        state: durable,
    });
    match written {
        Ok(Value::Object(members)) => members,
        _ => unreachable!("plain data is an object"),
    }
}

fn stored_item(queued: &Queued) -> Value {
    serde_json::to_value(queued).expect("a message is plain data")
}

fn without_queue(members: &Map<String, Value>) -> Map<String, Value> {
    let others = members.iter().filter(|(name, _)| *name != QUEUE);
    others
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn whole(members: &Map<String, Value>, queue: &Queue) -> MetadataChange {
    let mut members = members.clone();
    if !queue.is_empty() {
        let items = queue.iter();
        let items = items.map(|queued| (queued.item.item_id.clone(), stored_item(queued)));
        members.insert(QUEUE.to_owned(), Value::Object(items.collect()));
    }
    MetadataChange::set([KEY], members.into())
}

fn member_changes<'a>(
    before: &'a Map<String, Value>,
    after: &'a Map<String, Value>,
) -> impl Iterator<Item = MetadataChange> + 'a {
    let gone = before.keys().filter(|name| !after.contains_key(*name));
    let gone = gone.map(|name| MetadataChange::remove([KEY, name]));
    let new = after
        .iter()
        .filter(|(name, value)| before.get(*name) != Some(*value));
    gone.chain(new.map(|(name, value)| MetadataChange::set([KEY, name], value.clone())))
}

/// Adds to `now` what `stored` has and this version did not read into `before`.
fn keep_unknown(stored: &Value, before: &Value, now: &mut Value) {
    match (stored, before, now) {
        (Value::Object(stored), Value::Object(before), Value::Object(now)) => {
            for (name, value) in stored {
                match (before.get(name), now.get_mut(name)) {
                    (None, None) => {
                        now.insert(name.clone(), value.clone());
                    }
                    (Some(before), Some(now)) => keep_unknown(value, before, now),
                    _ => {}
                }
            }
        }
        (Value::Array(stored), Value::Array(before), Value::Array(now))
            if stored.len() == before.len() && stored.len() == now.len() =>
        {
            for ((stored, before), now) in stored.iter().zip(before).zip(now) {
                keep_unknown(stored, before, now);
            }
        }
        _ => {}
    }
}
