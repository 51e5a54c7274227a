//! How long it takes to plan a compaction of a long session, from the session's tree to the plan.
//! The goal for 10,000 messages is 20 ms.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark fails by panicking and prints its figures"
)]

use netaclaw_compaction::{Conversation, Limits, PlanRequest, Used, plan};
use netaclaw_protocol::{CompactionReason, TodoList};
use netaclaw_session::{SessionLog, SessionTree};
use serde_json::json;
use std::time::{Duration, Instant};

const ROUNDS: usize = 15;

fn main() {
    // `cargo test` runs benchmarks too, to see that they build.
    if std::env::args().any(|arg| arg == "--test") {
        return;
    }
    for messages in [1_000, 10_000] {
        let tree = tree(messages);
        let mut reading = Vec::new();
        let mut planning = Vec::new();
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let context = tree.context().unwrap();
            let conversation = Conversation::read(&context);
            reading.push(start.elapsed());
            let start = Instant::now();
            let used = conversation.used(2_000);
            let made = plan(&conversation, &request(used)).unwrap();
            planning.push(start.elapsed());
            assert!(made.kept_count >= 4);
        }
        let (read, plan) = (median(reading), median(planning));
        println!(
            "{messages} messages: read {read:.1?}, plan {plan:.1?}, together {:.1?} (medians of {ROUNDS})",
            read + plan
        );
    }
}

fn request(used: Used) -> PlanRequest<'static> {
    static NOTHING: TodoList = TodoList {
        revision: 0,
        items: Vec::new(),
    };
    PlanRequest {
        reason: CompactionReason::Auto,
        limits: Limits {
            window: 200_000,
            threshold_percent: 70,
            keep_recent: 4,
            overhead_tokens: 2_000,
        },
        used,
        todo: &NOTHING,
        instructions: None,
        looks_only: &|name| name == "read",
    }
}

/// Questions, answers, calls and results in turns.
fn tree(messages: usize) -> SessionTree {
    let mut lines = vec![json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/"}).to_string()];
    let text =
        "The harbour was quiet that morning, and no one spoke until the engines had stopped. ";
    for n in 0..messages {
        let message = match n % 4 {
            0 => json!({"role": "user", "content": text.repeat(2), "timestamp": 0}),
            1 => {
                json!({"role": "assistant", "content": [{"type": "toolCall", "id": format!("c{n}"), "name": "write", "arguments": {"path": format!("src/{n}.rs"), "content": text}}], "api": "x", "provider": "x", "model": "m", "usage": {}, "stopReason": "toolUse", "timestamp": 0})
            }
            2 => {
                json!({"role": "toolResult", "toolCallId": format!("c{}", n - 1), "toolName": "write", "content": [{"type": "text", "text": text.repeat(8)}], "isError": false, "timestamp": 0})
            }
            _ => {
                json!({"role": "assistant", "content": [{"type": "text", "text": text.repeat(4)}], "api": "x", "provider": "x", "model": "m", "usage": {}, "stopReason": "stop", "timestamp": 0})
            }
        };
        let parent = (n > 0).then(|| format!("e{}", n - 1));
        lines.push(json!({"type": "message", "id": format!("e{n}"), "parentId": parent, "timestamp": "2026-01-01T00:00:00.000Z", "message": message}).to_string());
    }
    let text = lines.join("\n") + "\n";
    SessionTree::new(SessionLog::parse(text.into_bytes()).unwrap())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
