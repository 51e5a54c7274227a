use super::*;
use serde_json::json;

const OPENAI: Target<'_> = Target {
    api: ApiFamily::OpenaiChat,
    provider: "p",
    model: "m",
    vision: true,
    tools: true,
};
const ANTHROPIC: Target<'_> = Target {
    api: ApiFamily::AnthropicMessages,
    ..OPENAI
};

/// One line for each turn, as short as it can be read.
fn sketch(turns: &[Turn<'_>]) -> String {
    let user = |part: &UserPart<'_>| match part {
        UserPart::Text(text) => text.to_string(),
        UserPart::Image { mime_type, .. } => format!("<{mime_type}>"),
    };
    let users = |parts: &[UserPart<'_>]| parts.iter().map(user).collect::<Vec<_>>().join(" | ");
    let answer = |part: &AnswerPart<'_>| match part {
        AnswerPart::Text(text) => text.to_string(),
        AnswerPart::Thinking {
            text,
            signature,
            redacted,
        } => {
            format!(
                "~{text}~{signature}{}",
                if *redacted { "~redacted" } else { "" }
            )
        }
        AnswerPart::Call {
            id,
            name,
            arguments,
        } => format!("{name}#{id}{arguments}"),
    };
    let mut out = String::new();
    for turn in turns {
        match turn {
            Turn::User(parts) => out += &format!("U {}\n", users(parts)),
            Turn::Exchange(exchange) => {
                let parts: Vec<String> = exchange.answer.iter().map(answer).collect();
                out += &format!("A {}\n", parts.join(" | "));
                for result in &exchange.results {
                    let mark = if result.is_error { "!" } else { "=" };
                    out += &format!("  {mark} {}: {}\n", result.id, users(&result.parts));
                }
            }
        }
    }
    out
}

fn user(text: &str) -> String {
    json!({"role": "user", "content": text, "timestamp": 1}).to_string()
}

fn answer(stop_reason: &str, content: serde_json::Value) -> String {
    json!({
        "role": "assistant", "content": content, "stopReason": stop_reason,
        "api": "openai-completions", "provider": "p", "model": "m", "timestamp": 1,
    })
    .to_string()
}

fn call(id: &str) -> serde_json::Value {
    json!({"type": "toolCall", "id": id, "name": "ls", "arguments": {}})
}

fn text(text: &str) -> serde_json::Value {
    json!({"type": "text", "text": text})
}

fn result(id: &str, text: &str) -> String {
    json!({
        "role": "toolResult", "toolCallId": id, "toolName": "ls", "isError": false,
        "content": [{"type": "text", "text": text}], "timestamp": 1,
    })
    .to_string()
}

#[track_caller]
fn check(target: Target<'_>, messages: &[String], expected: &str) {
    let payload = read_context(messages.iter().map(String::as_str));
    let lines: String = expected
        .lines()
        .map(str::trim_start)
        .filter(|line| !line.is_empty())
        .map(|line| match line.chars().next() {
            Some('!' | '=') => format!("  {line}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    assert_eq!(sketch(&turns(&payload.messages, &target)), lines);
}

#[test]
fn failed_and_stopped_answers_go_with_their_results() {
    check(
        OPENAI,
        &[
            user("a"),
            answer("aborted", json!([text("half"), call("1")])),
            result("1", "lost"),
            user("b"),
            answer("error", json!([])),
            user("c"),
        ],
        "U a | b | c",
    );
}

#[test]
fn unanswered_calls_get_one_error_and_late_results_come_home() {
    check(
        OPENAI,
        &[
            user("a"),
            answer("toolUse", json!([call("1"), call("2"), call("3")])),
            user("b"),
            result("3", "three"),
            result("1", "one"),
            result("1", "one again"),
            result("9", "without a call"),
        ],
        r#"
        U a
        A ls#1{} | ls#2{} | ls#3{}
        = 1: one
        ! 2: no result: interrupted
        = 3: three
        U b
        "#,
    );
}

#[test]
fn a_result_before_its_call_belongs_to_no_call() {
    check(
        OPENAI,
        &[
            user("a"),
            result("1", "early"),
            answer("toolUse", json!([call("1")])),
        ],
        "U a
         A ls#1{}
         ! 1: no result: interrupted",
    );
}

#[test]
fn repeated_ids_are_distinguished() {
    check(
        OPENAI,
        &[
            user("a"),
            answer("toolUse", json!([call("0"), call("0")])),
            result("0", "x"),
            result("0", "y"),
            answer("toolUse", json!([call("0")])),
            result("0", "z"),
            result("0", "too many"),
        ],
        "U a
         A ls#0{} | ls#0_2{}
         = 0: x
         = 0_2: y
         A ls#0_3{}
         = 0_3: z",
    );
}

#[test]
fn a_result_of_a_stopped_answer_never_answers_an_older_call() {
    check(
        OPENAI,
        &[
            user("a"),
            answer("toolUse", json!([call("0")])),
            answer("aborted", json!([call("0")])),
            result("0", "of the stopped one"),
        ],
        "U a
         A ls#0{}
         ! 0: no result: interrupted",
    );
}

#[test]
fn turns_alternate_begin_with_the_user_and_wait_for_an_answer() {
    check(
        ANTHROPIC,
        &[
            answer("stop", json!([text("one")])),
            answer("stop", json!([text("  "), text("two")])),
            user(" \n"),
            user("a"),
            answer("stop", json!([text("three")])),
        ],
        "U (The beginning of the conversation is omitted.)
         A one | two
         U a
         A three
         U (continue)",
    );
    check(ANTHROPIC, &[], "U (continue)");
}

#[test]
fn thinking_stays_with_the_model_that_thought_it() {
    let thinking = |model: &str, signature: Option<&str>, rest: serde_json::Value| {
        let mut content = vec![json!({
            "type": "thinking", "thinking": "hm", "thinkingSignature": signature,
        })];
        content.extend(rest.as_array().unwrap().clone());
        json!({
            "role": "assistant", "content": content, "stopReason": "stop",
            "api": "anthropic-messages", "provider": "p", "model": model, "timestamp": 1,
        })
        .to_string()
    };
    let said = json!([text("said")]);
    check(
        ANTHROPIC,
        &[
            user("a"),
            thinking("m", Some("sig"), said.clone()),
            user("b"),
        ],
        "U a\nA ~hm~sig | said\nU b",
    );
    // Unsigned, of another model, of another API: the text is enough.
    for (target, message) in [
        (ANTHROPIC, thinking("m", None, said.clone())),
        (ANTHROPIC, thinking("other", Some("sig"), said.clone())),
        (OPENAI, thinking("m", Some("sig"), said)),
    ] {
        check(target, &[user("a"), message, user("b")], "U a\nA said\nU b");
    }
    check(
        OPENAI,
        &[user("a"), thinking("m", Some("sig"), json!([])), user("b")],
        "U a\nA hm\nU b",
    );
}

#[test]
fn pictures_are_shown_or_spoken_of() {
    let picture = json!({"type": "image", "data": "QUJD", "mimeType": "image/png"});
    let messages = [
        json!({"role": "user", "content": [text("look"), picture.clone()]}).to_string(),
        answer("toolUse", json!([call("1")])),
        json!({"role": "toolResult", "toolCallId": "1", "content": [picture]}).to_string(),
    ];
    check(
        OPENAI,
        &messages,
        "U look | <image/png>
         A ls#1{}
         = 1: <image/png>",
    );
    let blind = Target {
        vision: false,
        ..OPENAI
    };
    check(
        blind,
        &messages,
        "U look | [an image was here, but this model does not support images]
         A ls#1{}
         = 1: [an image was here, but this model does not support images]",
    );
}

#[test]
fn without_tools_anthropic_gets_calls_as_text() {
    let without = Target {
        tools: false,
        ..ANTHROPIC
    };
    let messages = [
        user("a"),
        answer("toolUse", json!([text("let me see"), call("1")])),
        result("1", "files"),
        user("b"),
    ];
    check(
        without,
        &messages,
        "U a
         A let me see | [called ls with {}]
         U [result of ls] | files | b",
    );
}

#[test]
fn broken_arguments_and_empty_results_are_made_speakable() {
    let broken = json!({"type": "toolCall", "id": "1", "name": "a b", "arguments": "{\"x\":"});
    check(
        ANTHROPIC,
        &[
            user("a"),
            answer("toolUse", json!([broken])),
            result("1", "  "),
        ],
        r#"U a
           A a_b#1{"invalid_arguments":"{\"x\":"}
           = 1: (no output)"#,
    );
}

#[test]
fn images_that_a_model_does_not_receive_are_counted_until_it_answers() {
    let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
    let look = json!({"role": "user", "content": [image.clone(), image], "timestamp": 1});
    let answer = json!({"role": "assistant", "content": [], "stopReason": "stop"});
    let failed = json!({"role": "assistant", "content": [], "stopReason": "error"});
    let unseen = |messages: &[&Value], vision| {
        let messages: Vec<String> = messages.iter().map(|m| m.to_string()).collect();
        let context = read_context(messages.iter().map(String::as_str));
        unseen_images(&context.messages, vision)
    };
    assert_eq!(unseen(&[&look], false), 2);
    assert_eq!(unseen(&[&look], true), 0);
    assert_eq!(unseen(&[&look, &failed, &look], false), 4);
    assert_eq!(unseen(&[&look, &answer], false), 0, "they were counted");
}
