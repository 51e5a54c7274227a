use super::*;
use netaclaw_protocol::UserMessage;
use serde_json::json;

/// Texts of many kinds, and what `o200k_base` and the tokenizer of DeepSeek V3 make of them. Others
/// differ: `cl100k_base` takes half more for Chinese, and Qwen 2.5 a token for each digit.
const CORPUS: &[(&str, &str, [u64; 2])] = &[
    ("base64.txt", include_str!("corpus/base64.txt"), [558, 574]),
    ("chat.en.txt", include_str!("corpus/chat.en.txt"), [79, 82]),
    ("chat.zh.txt", include_str!("corpus/chat.zh.txt"), [94, 85]),
    (
        "chinese.txt",
        include_str!("corpus/chinese.txt"),
        [184, 136],
    ),
    (
        "code.go.txt",
        include_str!("corpus/code.go.txt"),
        [236, 257],
    ),
    (
        "code.java.txt",
        include_str!("corpus/code.java.txt"),
        [199, 208],
    ),
    (
        "code.py.txt",
        include_str!("corpus/code.py.txt"),
        [318, 348],
    ),
    (
        "code.rs.txt",
        include_str!("corpus/code.rs.txt"),
        [227, 248],
    ),
    (
        "code.sql.txt",
        include_str!("corpus/code.sql.txt"),
        [205, 223],
    ),
    (
        "code.ts.txt",
        include_str!("corpus/code.ts.txt"),
        [280, 291],
    ),
    ("diff.txt", include_str!("corpus/diff.txt"), [162, 166]),
    ("emoji.txt", include_str!("corpus/emoji.txt"), [82, 84]),
    (
        "english.txt",
        include_str!("corpus/english.txt"),
        [163, 165],
    ),
    ("german.txt", include_str!("corpus/german.txt"), [94, 114]),
    ("hex.txt", include_str!("corpus/hex.txt"), [363, 366]),
    ("html.txt", include_str!("corpus/html.txt"), [204, 209]),
    (
        "japanese.txt",
        include_str!("corpus/japanese.txt"),
        [131, 108],
    ),
    (
        "json.compact.txt",
        include_str!("corpus/json.compact.txt"),
        [196, 197],
    ),
    ("json.txt", include_str!("corpus/json.txt"), [188, 207]),
    ("korean.txt", include_str!("corpus/korean.txt"), [83, 94]),
    ("latex.txt", include_str!("corpus/latex.txt"), [131, 119]),
    ("log.txt", include_str!("corpus/log.txt"), [236, 245]),
    ("mixed.txt", include_str!("corpus/mixed.txt"), [139, 141]),
    (
        "numbers.txt",
        include_str!("corpus/numbers.txt"),
        [366, 366],
    ),
    ("russian.txt", include_str!("corpus/russian.txt"), [77, 87]),
    ("shell.txt", include_str!("corpus/shell.txt"), [175, 192]),
    (
        "table.csv.txt",
        include_str!("corpus/table.csv.txt"),
        [163, 164],
    ),
    (
        "table.md.txt",
        include_str!("corpus/table.md.txt"),
        [177, 177],
    ),
    (
        "technical.zh.txt",
        include_str!("corpus/technical.zh.txt"),
        [164, 141],
    ),
    ("toml.txt", include_str!("corpus/toml.txt"), [156, 166]),
    ("trace.txt", include_str!("corpus/trace.txt"), [242, 247]),
];

#[test]
fn every_kind_of_text_is_within_a_quarter_and_all_of_them_within_a_tenth() {
    let mut off = Vec::new();
    let mut errors = 0.0;
    for (name, text, real) in CORPUS {
        let estimate = estimate_text(text);
        for real in real {
            let error = (estimate as f64 / *real as f64 - 1.0) * 100.0;
            errors += error.abs();
            if error.abs() > 25.0 {
                off.push(format!("{name}: {estimate} for {real}, {error:.0} % off"));
            }
        }
    }
    assert_eq!(off, Vec::<String>::new());
    let mean = errors / (2 * CORPUS.len()) as f64;
    assert!(mean <= 10.0, "{mean:.1} % on average");
}

#[test]
fn names_are_not_taken_for_keys() {
    for name in [
        "crates/netaclaw-compaction/src/conversation.rs",
        "theQuickBrownFoxJumpsOverTheLazyDog",
        "COMPACTION_KEEP_RECENT_MESSAGES_DEFAULT",
        "a_test_with_a_long_name_that_says_2_things",
    ] {
        assert_eq!(scrambled_extra(name.as_bytes()), 0, "{name}");
    }
    let key = "dGhlIGhhcmJvdXIgd2FzIHF1aWV0IHRo";
    assert!(scrambled_extra(key.as_bytes()) > 0);
    let long = format!("{} {key} {}", "word ".repeat(50), "word ".repeat(50));
    for from in 0..30 {
        let extra = scrambled_extra(&long.as_bytes()[from..]);
        assert_eq!(extra, scrambled_extra(key.as_bytes()), "wherever it stands");
    }
}

#[test]
fn frames_images_tools_and_instructions_count() {
    let user = |content| {
        Message::User(UserMessage {
            content,
            timestamp: 0,
        })
    };
    assert_eq!(estimate_message(&user(UserContent::Text(String::new()))), 4);
    let image = ContentBlock::Image {
        data: "A".repeat(100_000),
        mime_type: "image/png".into(),
    };
    assert_eq!(
        estimate_message(&user(UserContent::Blocks(vec![image]))),
        4 + IMAGE_TOKENS
    );

    let mut request = ModelRequest::default();
    assert_eq!(estimate_request(&request), 0);
    request.system.stable = "You are a helpful agent.".into();
    let with_system = estimate_request(&request);
    assert!(with_system > 0);
    request.tools.push(ToolDefinition {
        name: "ls".into(),
        description: "Lists files.".into(),
        schema: json!({"type": "object", "properties": {"path": {"type": "string"}}}).into(),
    });
    assert!(estimate_request(&request) > with_system + 10);
}

#[test]
fn json_weighs_what_its_text_weighs() {
    let value = json!({"path": "src/main.rs", "lines": [1, 20, 300], "all": true, "none": null});
    let text = estimate_text(&value.to_string()) as i64;
    let direct = json_hundredths(&value).div_ceil(100) as i64;
    assert!((text - direct).abs() <= 2, "{text} {direct}");
}
