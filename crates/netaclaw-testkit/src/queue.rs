//! The queue as a client keeps it.

use serde_json::Value;

/// The queue after a `queue_update`: texts that the event does not repeat are those known before.
pub fn queue_after(known: &Value, update: &Value) -> Value {
    let mut queue = update.clone();
    for item in queue["items"].as_array_mut().into_iter().flatten() {
        let fields = item.as_object_mut().expect("an item is an object");
        fields.remove("preview").expect("every item has a preview");
        if fields.contains_key("content") {
            continue;
        }
        let mut before = known["items"].as_array().into_iter().flatten();
        let before = before.find(|other| other["itemId"] == fields["itemId"]);
        let before = before.expect("a queue event without the text follows one with it");
        for name in ["content", "attachments"] {
            if let Some(value) = before.get(name) {
                fields.insert(name.to_owned(), value.clone());
            }
        }
    }
    queue
}
