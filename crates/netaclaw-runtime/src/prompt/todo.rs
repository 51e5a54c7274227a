//! The open to-do items, repeated in every turn: so they survive compaction.

use super::layer::{Items, Layer, LayerName};
use netaclaw_protocol::{TodoList, TodoStatus};

const BUDGET: usize = 12_000;
const HEADING: &str = "# Open items of the to-do list";
const NONE: &str = "The to-do list has no open items.";

pub(super) fn layer(todo: &TodoList) -> Layer {
    let open: Vec<_> = todo
        .items
        .iter()
        .filter_map(|item| {
            let mark = match item.status {
                TodoStatus::Pending => "[ ]",
                TodoStatus::InProgress => "[>]",
                TodoStatus::Done | TodoStatus::Cancelled => return None,
            };
            Some((
                item.id.clone(),
                format!("{mark} {}: {}", item.id, item.text),
            ))
        })
        .collect();
    match (open.is_empty(), todo.items.is_empty()) {
        (true, true) => Layer::of_text(LayerName::Todo, BUDGET, ""),
        (true, false) => Layer::of_text(LayerName::Todo, BUDGET, NONE),
        (false, _) => Layer::of_items(LayerName::Todo, BUDGET, HEADING, Items(open)),
    }
}
