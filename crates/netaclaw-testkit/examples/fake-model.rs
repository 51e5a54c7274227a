//! The fake model server as a process, for tests that are not written in Rust.
//!
//! Prints its two addresses as one line of JSON. Each line of its input is a command in JSON and is
//! answered by a line: `{"reply": …}` for the next request, `{"when": TEXT, "reply": …}` for every
//! request whose last message contains the text, `{"release": true}` for answers that wait,
//! `{"requests": true}` for the requests so far, `{"aborts": N}` when at least so many clients have
//! disconnected before the end of their answer, with their number. Ends with its input.

use anyhow::{Context, Result};
use netaclaw_testkit::fake_model::{CallShape, FakeModel, Fault, Hold, Reply, TokenCounts};
use serde_json::{Value, json};
use std::io::Write;
use tokio::io::{AsyncBufReadExt, BufReader};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let fake = FakeModel::start().await;
    say(&json!({"openai": fake.openai_url(), "anthropic": fake.anthropic_url()}))?;
    let mut holds = Vec::new();
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let command: Value = serde_json::from_str(&line)?;
        say(&obey(&fake, &mut holds, &command).await?)?;
    }
    Ok(())
}

fn say(answer: &Value) -> Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{answer}")?;
    Ok(out.flush()?)
}

async fn obey(fake: &FakeModel, holds: &mut Vec<Hold>, command: &Value) -> Result<Value> {
    let script = fake.script();
    if command["release"] == true {
        holds.drain(..).for_each(|hold| hold.release());
    } else if let Some(count) = command["aborts"].as_u64() {
        script.aborted(usize::try_from(count)?).await;
        return Ok(json!(script.aborts()));
    } else if command["requests"] == true {
        let bodies = script.requests().into_iter().map(|asked| asked.body);
        return Ok(bodies.collect());
    } else {
        let reply = reply(&command["reply"], holds)?;
        match command["when"].as_str() {
            Some(words) => script.when(words, reply),
            None => script.push(reply),
        }
    }
    Ok(json!("ok"))
}

/// `{text?, thinking?, toolCall?: {id, name, arguments}, input?, output?, status?, retryAfter?,
/// holdAfter?, hangAfter?}`.
fn reply(told: &Value, holds: &mut Vec<Hold>) -> Result<Reply> {
    let text = |name: &str| told[name].as_str();
    let number = |name: &str| told[name].as_u64();
    if let Some(status) = number("status") {
        return Ok(Reply::failing(Fault::Status {
            status: u16::try_from(status)?,
            retry_after: text("retryAfter").map(str::to_owned),
        }));
    }
    let mut reply = Reply::default();
    if let Some(thinking) = text("thinking") {
        reply = reply.and_thinking(thinking);
    }
    if let Some(said) = text("text") {
        reply = reply.and_text(said);
    }
    if let Some(call) = told["toolCall"].as_object() {
        let part = |name: &str| call.get(name).and_then(Value::as_str).context("toolCall");
        reply = reply
            .and_tool_call(part("id")?, part("name")?, part("arguments")?)
            .with_call_shape(CallShape::Documented);
    }
    if let (Some(input), Some(output)) = (number("input"), number("output")) {
        reply = reply.with_usage(TokenCounts {
            input,
            output,
            ..TokenCounts::default()
        });
    }
    if let Some(events) = number("hangAfter") {
        reply = reply.with_fault(Fault::HangAfter(usize::try_from(events)?));
    }
    if let Some(events) = number("holdAfter") {
        let (held, hold) = reply.holding_after(usize::try_from(events)?);
        holds.push(hold);
        reply = held;
    }
    Ok(reply)
}
