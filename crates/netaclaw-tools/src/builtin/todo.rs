//! `todo`: the list of what is to be done in this session.

use crate::context::ToolContext;
use crate::output::ToolOutput;
use crate::tool::{Call, TypedTool};
use async_trait::async_trait;
use netaclaw_governance::{Concurrency, EgressTarget, ToolManifest, WorkerUse};
use netaclaw_protocol::{
    TodoItem, TodoList, TodoStatus, ToolCategory, ToolLabel, ToolRisk, ToolStatus,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Duration;

const ITEMS_MAX: usize = 50;
const TEXT_CHARS_MAX: usize = 200;
const ID_CHARS_MAX: usize = 40;

/// Keeps the session's to-do list.
#[derive(Clone, Copy, Debug)]
pub struct Todo;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TodoInput {
    /// The complete new list. Omit it to read the list.
    #[serde(default)]
    items: Option<Vec<ItemInput>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ItemInput {
    /// Keep the id of an existing item; new items receive one.
    #[serde(default)]
    id: Option<String>,
    /// The task, in a few words.
    text: String,
    #[serde(default)]
    status: StatusInput,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum StatusInput {
    #[default]
    Pending,
    InProgress,
    Done,
    Cancelled,
}

#[async_trait]
impl TypedTool for Todo {
    type Input = TodoInput;

    fn manifest(&self) -> ToolManifest {
        ToolManifest {
            name: "todo".to_owned(),
            label: ToolLabel {
                zh: "待办清单".to_owned(),
                en: "To-do list".to_owned(),
            },
            description: "Reads or replaces the to-do list of this session and returns it. The \
                          user sees the list. At most one item can be in progress."
                .into(),
            guidance: "Use `todo` for work of three or more steps: write the plan first, and set \
                       each item to done as soon as it is complete."
                .to_owned(),
            category: ToolCategory::Session,
            schema: Value::Null.into(),
            risk: ToolRisk::Read,
            default_status: ToolStatus::Enabled,
            worker: WorkerUse::Never,
            needs: Vec::new(),
            timeout: Some(Duration::from_secs(30)),
            output_cap: 40 << 10,
            // Two lists at once would have no order.
            concurrency: Concurrency::Exclusive,
            outlet: EgressTarget::None,
        }
    }

    async fn run(&self, call: Call<TodoInput>, context: ToolContext) -> ToolOutput {
        let before = context.todo.list().await;
        let Some(items) = call.into_input().items else {
            return show(&before, &[]);
        };
        let NormalizedTodo { items, notes } = normalise(items);
        if items == before.items {
            return show(&before, &notes);
        }
        match context.todo.replace(items).await {
            Ok(list) => show(&list, &notes),
            Err(error) => ToolOutput::error(format!("The list was not changed: {error}.")),
        }
    }
}

struct NormalizedTodo {
    items: Vec<TodoItem>,
    /// The corrections to the list, so that nothing is lost silently.
    notes: Vec<String>,
}

fn normalise(input: Vec<ItemInput>) -> NormalizedTodo {
    let mut notes = Vec::new();
    let given = input.len();
    let mut items: Vec<TodoItem> = input
        .into_iter()
        .map(|item| TodoItem {
            id: item.id.unwrap_or_default().trim().to_owned(),
            text: item.text.trim().to_owned(),
            status: item.status.into(),
        })
        .filter(|item| !item.text.is_empty())
        .collect();
    if items.len() < given {
        notes.push(format!(
            "{} items without text were dropped",
            given - items.len()
        ));
    }
    limit_items(&mut items, &mut notes);
    let long = items
        .iter_mut()
        .filter_map(|item| shorten(&mut item.text, TEXT_CHARS_MAX))
        .count();
    if long > 0 {
        notes.push(format!(
            "{long} texts were truncated to {TEXT_CHARS_MAX} characters"
        ));
    }
    one_in_progress(&mut items, &mut notes);
    give_ids(&mut items);
    NormalizedTodo { items, notes }
}

/// Finished items go first, as they matter least.
fn limit_items(items: &mut Vec<TodoItem>, notes: &mut Vec<String>) {
    let given = items.len();
    let mut surplus = given.saturating_sub(ITEMS_MAX);
    if surplus == 0 {
        return;
    }
    items.retain(|item| {
        let drop = surplus > 0 && !is_open(item);
        surplus -= usize::from(drop);
        !drop
    });
    items.truncate(ITEMS_MAX);
    notes.push(format!("only {ITEMS_MAX} of {given} items were kept"));
}

fn shorten(text: &mut String, chars_max: usize) -> Option<()> {
    let (at, _) = text.char_indices().nth(chars_max)?;
    text.truncate(at);
    text.push('…');
    Some(())
}

fn one_in_progress(items: &mut [TodoItem], notes: &mut Vec<String>) {
    let in_progress = |item: &&mut TodoItem| item.status == TodoStatus::InProgress;
    let mut reset = 0;
    for item in items.iter_mut().filter(in_progress).skip(1) {
        item.status = TodoStatus::Pending;
        reset += 1;
    }
    if reset > 0 {
        notes.push(format!(
            "only one item can be in progress, so {reset} were reset to pending"
        ));
    }
}

/// Every item gets an id of its own; the first with an id keeps it.
fn give_ids(items: &mut [TodoItem]) {
    let mut taken: HashSet<String> = HashSet::new();
    for item in items.iter_mut() {
        shorten(&mut item.id, ID_CHARS_MAX);
        if !item.id.is_empty() && !taken.insert(item.id.clone()) {
            item.id.clear();
        }
    }
    let mut number = 1;
    for item in items.iter_mut().filter(|item| item.id.is_empty()) {
        while !taken.insert(number.to_string()) {
            number += 1;
        }
        item.id = number.to_string();
    }
}

fn is_open(item: &TodoItem) -> bool {
    matches!(item.status, TodoStatus::Pending | TodoStatus::InProgress)
}

fn show(list: &TodoList, notes: &[String]) -> ToolOutput {
    let mut text = match list.items.is_empty() {
        true => "The to-do list is empty.".to_owned(),
        false => list.items.iter().map(line).collect::<Vec<_>>().join("\n"),
    };
    for note in notes {
        text.push_str(&format!("\n[{note}]"));
    }
    ToolOutput::text(text).with_details(json!({ "todo": list }))
}

fn line(item: &TodoItem) -> String {
    let mark = match item.status {
        TodoStatus::Pending => "[ ]",
        TodoStatus::InProgress => "[>]",
        TodoStatus::Done => "[x]",
        TodoStatus::Cancelled => "[-]",
    };
    format!("{mark} {}: {}", item.id, item.text)
}

impl From<StatusInput> for TodoStatus {
    fn from(status: StatusInput) -> Self {
        match status {
            StatusInput::Pending => Self::Pending,
            StatusInput::InProgress => Self::InProgress,
            StatusInput::Done => Self::Done,
            StatusInput::Cancelled => Self::Cancelled,
        }
    }
}
