//! Session texts made from numbers, for property tests and for the suite itself.

use serde_json::{Value, json};

/// One line of a random session. Any numbers make a readable line.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub kind: u8,
    /// Picks the parent; that of most lines is the one before them.
    pub parent: u16,
    /// Picks an earlier line to refer to: first kept entry, labelled entry, edited entry.
    pub other: u16,
}

/// Steps that are always the same for a seed.
pub fn random_steps(seed: u64, count: usize) -> Vec<Step> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        // xorshift64: short, and random enough to shape a tree.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut step = || {
        let bits = next();
        Step {
            kind: (bits >> 32) as u8,
            parent: (bits >> 16) as u16,
            other: (bits >> 48) as u16,
        }
    };
    std::iter::repeat_with(&mut step).take(count).collect()
}

/// The text of a session with branches, compactions, labels, orphans, unknown types, edits,
/// leaf markers and doubled ids. It has no circles.
pub fn random_log(session: &str, steps: &[Step]) -> String {
    let header = json!({
        "type": "session", "version": 3, "id": session, "cwd": "/srv/app",
        "timestamp": "2026-01-01T00:00:00.000Z",
    });
    let mut text = format!("{header}\n");
    for (at, step) in steps.iter().enumerate() {
        text.push_str(&line(at, *step).to_string());
        text.push('\n');
    }
    text
}

fn line(at: usize, step: Step) -> Value {
    let other = id_of(usize::from(step.other) % at.max(1));
    let mut line = match step.kind % 19 {
        0..=2 => {
            json!({"type": "message", "message": {"role": "user", "content": format!("question {at} 😀")}})
        }
        3..=5 => json!({"type": "message", "message": {
            "role": "assistant", "content": [{"type": "text", "text": format!("answer {at}")}],
            "provider": "p", "model": format!("m{at}"), "stopReason": "stop",
        }}),
        6 => json!({"type": "message", "message": {
            "role": "toolResult", "toolCallId": "t", "toolName": "read", "content": [], "isError": false,
        }}),
        7 => json!({"type": "thinking_level_change", "thinkingLevel": format!("level {at}")}),
        8 => json!({"type": "model_change", "provider": "p", "modelId": format!("m{at}")}),
        9 | 10 => {
            json!({"type": "compaction", "summary": format!("summary {at}"), "firstKeptEntryId": other, "tokensBefore": at})
        }
        11 => json!({"type": "branch_summary", "fromId": other, "summary": format!("left {at}")}),
        12 => json!({"type": "custom", "customType": "note", "data": {"at": at}}),
        13 => {
            json!({"type": "custom_message", "customType": "hint", "content": format!("hint {at}"), "display": at.is_multiple_of(2)})
        }
        14 => json!({"type": "label", "targetId": other, "label": format!("label {}", at % 3)}),
        15 => json!({"type": "session_info", "name": format!("name {at}")}),
        16 => json!({"type": "context_edit", "targetId": other, "replacement": null}),
        17 => json!({"type": "hologram", "depth": at}),
        _ => json!({"type": "custom", "customType": "netaclaw.leaf"}),
    };
    line["id"] = Value::from(own_id(at, step));
    line["parentId"] = parent(at, step);
    line["timestamp"] = Value::from(format!(
        "2026-01-01T{:02}:{:02}:00.000Z",
        at / 60 % 24,
        at % 60
    ));
    line
}

fn id_of(at: usize) -> String {
    format!("{at:08x}")
}

/// Now and then a line takes the id of the line before it. It then hangs where a double can do
/// no harm, at the root.
fn own_id(at: usize, step: Step) -> String {
    match is_double(at, step) {
        true => id_of(at - 1),
        false => id_of(at),
    }
}

fn is_double(at: usize, step: Step) -> bool {
    at > 0 && step.kind >= 247
}

fn parent(at: usize, step: Step) -> Value {
    let earlier = usize::from(step.parent >> 4) % at.max(1);
    match step.parent % 16 {
        _ if at == 0 || is_double(at, step) => Value::Null,
        0 => Value::Null,
        1 => Value::from("missing"),
        2..=5 => Value::from(id_of(earlier)),
        _ => Value::from(id_of(at - 1)),
    }
}
