//! A client's state of a session: a snapshot, and the events after it.

use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A client's state. Two clients are in step when their views are equal.
#[derive(Clone, Debug, Default)]
pub(super) struct View {
    pub(super) epoch: String,
    pub(super) seq: u64,
    entries: BTreeMap<String, Value>,
    path: Vec<String>,
    leaf: Value,
    children: BTreeMap<String, Vec<String>>,
    labels: Value,
    title: Value,
    thinking_level: Value,
    pub(super) run: Value,
    streaming: Option<Streaming>,
    tools: BTreeMap<String, Tool>,
    pub(super) queue: Value,
    questions: BTreeMap<String, Value>,
    todo: Value,
    tokens: Value,
}

#[derive(Clone, Debug, PartialEq)]
struct Streaming {
    entry: Value,
    parent: Value,
    parts: BTreeMap<u64, String>,
}

#[derive(Clone, Debug, PartialEq)]
struct Tool {
    name: Value,
    args: Value,
    output: String,
}

/// What has to be done about an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Applied {
    Yes,
    /// Known already, or of no consequence.
    Dropped,
    /// Something is missing before it.
    NeedsSync,
}

impl View {
    pub(super) fn of_snapshot(opened: &Value) -> Self {
        let snapshot = &opened["snapshot"];
        let mut view = Self {
            epoch: text(&opened["epoch"]),
            seq: opened["seq"].as_u64().unwrap(),
            path: texts(&snapshot["activePath"]),
            labels: snapshot["labelsByEntryId"].clone(),
            title: snapshot["session"]["title"].clone(),
            thinking_level: snapshot["thinkingLevel"].clone(),
            run: snapshot["run"].clone(),
            queue: snapshot["queue"].clone(),
            todo: snapshot["todo"].clone(),
            tokens: snapshot["tokens"].clone(),
            ..Self::default()
        };
        view.leaf = view.path.last().map_or(Value::Null, |leaf| json!(leaf));
        for entry in snapshot["entries"].as_array().unwrap() {
            view.entries.insert(text(&entry["id"]), entry.clone());
        }
        for (parent, children) in snapshot["childrenByParentId"].as_object().unwrap() {
            view.children.insert(parent.clone(), texts(children));
        }
        for question in snapshot["questions"].as_array().unwrap() {
            let id = text(&question["toolCallId"]);
            view.questions.insert(id, question.clone());
        }
        if let Some(streaming) = snapshot.get("streaming") {
            let part = |part: &Value| (part["part"].as_u64().unwrap(), text(&part["text"]));
            let parts = streaming["parts"].as_array().unwrap();
            let said = parts.iter().map(part).filter(|(_, text)| !text.is_empty());
            view.streaming = Some(Streaming {
                entry: streaming["entryId"].clone(),
                parent: streaming["parentId"].clone(),
                parts: said.collect(),
            });
        }
        for tool in snapshot["tools"].as_array().unwrap() {
            let open = Tool {
                name: tool["toolName"].clone(),
                args: tool["args"].clone(),
                output: text(&tool["output"]),
            };
            view.tools.insert(text(&tool["toolCallId"]), open);
        }
        view
    }

    /// Applies an event. An event that was applied before changes nothing.
    pub(super) fn apply(&mut self, event: &Value) -> Applied {
        if event["epoch"] != self.epoch {
            return Applied::NeedsSync;
        }
        match event["seq"].as_u64() {
            None => return self.apply_delta(event),
            Some(seq) if seq <= self.seq => return Applied::Dropped,
            Some(seq) if seq > self.seq + 1 => return Applied::NeedsSync,
            Some(seq) => self.seq = seq,
        }
        let data = &event["data"];
        match event["type"].as_str().unwrap() {
            "session_entry_added" => self.add(&data["entry"], &data["leafEntryId"]),
            "session_entry_updated" => {
                let entry = &data["entry"];
                self.entries.insert(text(&entry["id"]), entry.clone());
            }
            "session_leaf_changed" => {
                self.leaf = data["leafEntryId"].clone();
                self.path = texts(&data["activePath"]);
            }
            "session_updated" => {
                self.title = data["session"]["title"].clone();
                if let Some(labels) = data.get("labels") {
                    self.labels = labels.clone();
                }
            }
            "assistant_stream_start" => {
                self.streaming = Some(Streaming {
                    entry: data["entryId"].clone(),
                    parent: data["parentId"].clone(),
                    parts: BTreeMap::new(),
                });
            }
            "assistant_stream_end" => self.streaming = None,
            "tool_call_started" => {
                let open = Tool {
                    name: data["toolName"].clone(),
                    args: data["args"].clone(),
                    output: String::new(),
                };
                self.tools.insert(text(&data["toolCallId"]), open);
            }
            "tool_call_completed" => drop(self.tools.remove(&text(&data["toolCallId"]))),
            "run_status" => self.run = data.clone(),
            "queue_update" => self.queue = netaclaw_testkit::queue_after(&self.queue, data),
            "todo_update" => self.todo = data.clone(),
            "token_update" => self.tokens = data.clone(),
            "clarify_request" => {
                let id = text(&data["toolCallId"]);
                self.questions.insert(id, data.clone());
            }
            "done" => {
                self.streaming = None;
                self.tools.clear();
                self.questions.clear();
            }
            "error" => {}
            other => panic!("a client does not know {other}"),
        }
        Applied::Yes
    }

    fn add(&mut self, entry: &Value, leaf: &Value) {
        let id = text(&entry["id"]);
        let parent = entry["parentId"].as_str();
        if entry["type"] == "thinking_level_change" {
            self.thinking_level = entry["thinkingLevel"].clone();
        }
        if entry["message"]["role"] == "toolResult" {
            self.questions
                .remove(&text(&entry["message"]["toolCallId"]));
        }
        // Labels and names have no place of their own in the tree.
        if *leaf == id.as_str() {
            let siblings = self.children.entry(parent.unwrap_or("__root__").to_owned());
            siblings.or_default().push(id.clone());
            let at = parent.and_then(|parent| self.path.iter().position(|known| known == parent));
            self.path.truncate(at.map_or(0, |at| at + 1));
            self.path.push(id.clone());
        }
        self.leaf = leaf.clone();
        self.entries.insert(id, entry.clone());
    }

    fn apply_delta(&mut self, event: &Value) -> Applied {
        let data = &event["data"];
        let known = match event["type"].as_str().unwrap() {
            "assistant_stream_delta" | "thinking_delta" => {
                let streaming = self.streaming.as_mut();
                let streaming = streaming.filter(|open| open.entry == data["entryId"]);
                let part = data["part"].as_u64().unwrap();
                streaming.map(|open| open.parts.entry(part).or_default())
            }
            "tool_result_streamed" => {
                let tool = self.tools.get_mut(&text(&data["toolCallId"]));
                tool.map(|tool| &mut tool.output)
            }
            "thinking_done" | "pong" => None,
            other => panic!("a client does not know {other}"),
        };
        let Some(known) = known else {
            return Applied::Dropped;
        };
        let have = known.chars().count();
        let offset = usize::try_from(data["offset"].as_u64().unwrap()).unwrap();
        if offset > have {
            return Applied::NeedsSync;
        }
        let more = data["text"].as_str().unwrap().chars();
        known.extend(more.skip(have - offset));
        Applied::Yes
    }

    /// All text that is being streamed.
    pub(super) fn streamed(&self) -> String {
        let parts = self.streaming.iter().flat_map(|open| open.parts.values());
        parts.map(String::as_str).collect()
    }

    pub(super) fn is_settled(&self) -> bool {
        self.run["status"] == "idle" && self.queue["items"] == json!([])
    }

    /// Everything that must be the same for every client, in a form that can be read. A snapshot
    /// brings entries of the active path only, so others do not count.
    pub(super) fn shown(&self) -> Value {
        let entries = self.path.iter().map(|id| &self.entries[id]);
        let tools = self.tools.iter().map(|(id, tool)| {
            let tool = json!({"name": tool.name, "args": tool.args, "output": tool.output});
            (id.clone(), tool)
        });
        let streaming = self.streaming.as_ref().map(|open| {
            // A part without content is not a part yet.
            let said = open.parts.iter().filter(|(_, text)| !text.is_empty());
            let parts: BTreeMap<_, _> = said.collect();
            json!({"entry": open.entry, "parent": open.parent, "parts": parts})
        });
        json!({
            "seq": self.seq,
            "entries": entries.collect::<Vec<_>>(),
            "path": self.path,
            "leaf": self.leaf,
            "children": self.children,
            "labels": self.labels,
            "title": self.title,
            "thinkingLevel": self.thinking_level,
            "run": self.run,
            "streaming": streaming,
            "tools": tools.collect::<BTreeMap<_, _>>(),
            "queue": self.queue,
            "questions": self.questions,
            "todo": self.todo,
            "tokens": self.tokens,
        })
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(text).collect()
}
