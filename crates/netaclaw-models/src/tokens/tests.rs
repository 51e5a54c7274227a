use super::*;
use netaclaw_protocol::UserMessage;
use serde_json::json;

/// The counts are those of the tokenizers `o200k_base` and `cl100k_base`.
#[track_caller]
fn check(text: &str, real: [u64; 2]) {
    let estimate = estimate_text(text);
    for real in real {
        let error = (estimate as f64 / real as f64 - 1.0) * 100.0;
        assert!(
            error.abs() <= 25.0,
            "{estimate} for {real}: {error:.0} % off"
        );
    }
}

#[test]
fn english_is_within_a_quarter() {
    check(
        "The harbour was quiet that morning, and the fishermen who usually argued about the price of bait were standing in small groups, looking at the sky. A storm had been promised since Tuesday, but the wind had not come. When the first ferry arrived, only three passengers stepped off, each carrying more luggage than seemed reasonable for a weekend, and nobody spoke until the engines had stopped.",
        [76, 76],
    );
    check(
        "Please look at the failing test in the parser, explain what goes wrong, and propose the smallest change that fixes it without touching the public interface. If you need to run something, tell me first.",
        [40, 40],
    );
}

#[test]
fn chinese_and_japanese_are_within_a_quarter() {
    check(
        "今天早上港口很安静,平时总为鱼饵价格争吵的渔民们三三两两地站着,抬头望着天空。从星期二起就说要来一场暴风雨,可是风一直没有来。第一班渡轮靠岸的时候,只有三个乘客下船,每个人带的行李都比一个周末该带的多,直到发动机停下来才有人开口说话。",
        [102, 146],
    );
    check(
        "请检查这个会话的上下文压缩逻辑:当最近一次压缩之后没有新的用量数据时,应当使用估算值,而不是沿用压缩前的数字,否则会反复触发自动压缩。",
        [53, 75],
    );
    check(
        "我在运行 cargo nextest 的时候遇到了一个错误:connection refused (os error 111)。请帮我看看 config.toml 里的 base_url 是不是写错了。",
        [38, 48],
    );
    check(
        "今朝の港は静かで、いつもは餌の値段で言い争う漁師たちが、小さな輪になって空を見上げていた。火曜日から嵐が来ると言われていたが、風は吹かなかった。",
        [63, 87],
    );
}

#[test]
fn code_is_within_a_quarter() {
    check(
        r#"fn kept_from(tree: &SessionTree, before: &[u32], compaction: &Entry) -> Option<usize> {
    let first = compaction.text_field("firstKeptEntryId")?;
    before
        .iter()
        .position(|position| tree.entries()[*position as usize].id().as_str() == first)
}

/// A compaction that names itself keeps nothing on purpose.
fn keeps_nothing(compaction: &Entry) -> bool {
    compaction
        .text_field("firstKeptEntryId")
        .is_some_and(|id| id == compaction.id().as_str())
}
"#,
        [130, 130],
    );
    check(
        r#"def load_config(path: str, *, strict: bool = False) -> dict[str, Any]:
    """Read a TOML file and merge it over the defaults."""
    with open(path, "rb") as handle:
        data = tomllib.load(handle)
    unknown = set(data) - set(DEFAULTS)
    if unknown and strict:
        raise ConfigError(f"unknown keys: {', '.join(sorted(unknown))}")
    return {**DEFAULTS, **data}
"#,
        [98, 98],
    );
}

#[test]
fn json_and_logs_are_within_a_quarter() {
    check(
        r#"{"type":"message","id":"a1b2c3d4","parentId":"99887766","timestamp":"2026-01-05T10:22:31.412Z","message":{"role":"toolResult","toolCallId":"call_7Hq2","toolName":"read","content":[{"type":"text","text":"Cargo.toml\nREADME.md\nsrc\n"}],"isError":false,"timestamp":1767608551412}}"#,
        [97, 95],
    );
    check(
        r#"{"name":"grep","description":"Search file contents with a regular expression.","schema":{"type":"object","properties":{"pattern":{"type":"string","description":"Regular expression"},"path":{"type":"string"},"ignore_case":{"type":"boolean"},"limit":{"type":"integer","minimum":1,"maximum":1000}},"required":["pattern"],"additionalProperties":false}}"#,
        [76, 72],
    );
    check(
        "2026-10-03T08:14:22.103Z ERROR netaclaw::gateway: request failed status=502 latency_ms=1204 trace=4bf92f3577b34da6a3ce929d0e0e4736 path=/v1/chat/completions\n",
        [64, 65],
    );
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
        schema: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
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
