use super::*;
use netaclaw_protocol::ModelPrice;

#[track_caller]
fn found(model: &str) -> Option<&'static str> {
    find(model).map(|row| row.name)
}

#[test]
fn names_are_found_as_suppliers_vary_them() {
    for (model, expected) in [
        ("claude-sonnet-4-5", Some("claude-sonnet-4-5")),
        ("claude-sonnet-4-5-20250929", Some("claude-sonnet-4-5")),
        (
            "anthropic/claude-haiku-4-5@20251001",
            Some("claude-haiku-4-5"),
        ),
        ("claude-sonnet-4-20250514", Some("claude-sonnet-4")),
        ("gpt-5-mini-2025-08-07", Some("gpt-5-mini")),
        ("gpt-5.4-2026-03-05", Some("gpt-5.4")),
        ("gpt-5.9", None),
        ("gpt-5-something", None),
        ("gpt-4o-latest", Some("gpt-4o")),
        ("MiniMax-M2.5", Some("minimax-m2.5")),
        ("Qwen/qwen3:8b-q4_K_M", Some("qwen3")),
        ("doubao-seed-1-6-251015", Some("doubao-seed-1-6")),
        (
            "doubao-seed-1-6-flash-250828",
            Some("doubao-seed-1-6-flash"),
        ),
        ("deepseek-v4-pro-ga-260813", Some("deepseek-v4-pro")),
        ("openai/gpt-4.1", Some("gpt-4.1")),
        ("gpt-4.1-2025-04-14", Some("gpt-4.1")),
        ("GPT-4.1-mini", Some("gpt-4.1-mini")),
        ("claude-sonnet-4-5@20250929", Some("claude-sonnet-4-5")),
        ("anthropic/claude-sonnet-4.5", Some("claude-sonnet-4-5")),
        (
            "anthropic/claude-sonnet-4.5:thinking",
            Some("claude-sonnet-4-5"),
        ),
        (
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            Some("claude-sonnet-4-5"),
        ),
        (
            "models/gemini-2.5-flash-preview-09-2025",
            Some("gemini-2.5-flash"),
        ),
        ("gemini-2.5-flash-image", None),
        ("Pro/deepseek-ai/DeepSeek-V3.2", Some("deepseek-v3.2")),
        (
            "deepseek/deepseek-chat-v3-0324:free",
            Some("deepseek-chat-v3"),
        ),
        ("meta-llama/Llama-3.3-70B-Instruct", Some("llama-3.3")),
        ("Qwen/Qwen3-235B-A22B-Instruct-2507", Some("qwen3")),
        ("Qwen/Qwen3-VL-32B-Instruct", Some("qwen3-vl")),
        ("gpt-4o-mini-tts", None),
        ("gpt-4.7", None),
        ("my-own-model", None),
        ("", None),
    ] {
        assert_eq!(found(model), expected, "{model}");
    }
}

#[test]
fn the_channels_entry_comes_first_and_its_gaps_are_filled() {
    let mut channel = Channel::new("c", Supplier::Openai);
    channel.models.push(ChannelModel {
        name: "gpt-5".into(),
        context_window: Some(100_000),
        price: Some(ModelPrice {
            input: 9.0,
            ..ModelPrice::default()
        }),
        ..ChannelModel::default()
    });
    let info = channel.model_info("gpt-5");
    assert_eq!(info.context_window, 100_000);
    assert_eq!(info.source, InfoSource::Channel);
    assert_eq!(info.max_output, 128_000);
    assert!(info.vision && info.tools && info.thinking);
    assert_eq!(info.price.map(|price| price.input), Some(9.0));

    assert_eq!(channel.model_info("gpt-4o").source, InfoSource::Catalogue);
    let guess = channel.model_info("mystery");
    assert_eq!(guess.source, InfoSource::Guess);
    assert_eq!(guess.context_window, GUESSED_WINDOW);
}

#[test]
fn a_model_away_from_home_thinks_as_its_host_says() {
    let style = |supplier, model| resolve(&Channel::new("c", supplier), model).thinking;
    assert_eq!(
        style(Supplier::Anthropic, "claude-haiku-4-5"),
        ThinkingStyle::Budget
    );
    assert!(matches!(
        style(Supplier::Anthropic, "claude-opus-5-5"),
        ThinkingStyle::Adaptive {
            off: AdaptiveOff::LeastEffort,
            ..
        }
    ));
    assert!(matches!(
        style(Supplier::Deepseek, "deepseek-v4-pro"),
        ThinkingStyle::SwitchAndEffort(_)
    ));
    assert_eq!(
        style(Supplier::Volcengine, "deepseek-v4-pro"),
        ThinkingStyle::Switch
    );
    assert_eq!(
        style(Supplier::Tongyi, "deepseek-v4-pro"),
        ThinkingStyle::FlagAndBudget
    );
    assert!(matches!(
        style(Supplier::Azure, "gpt-5.1"),
        ThinkingStyle::Effort(_)
    ));
    assert_eq!(style(Supplier::Openai, "gpt-4o"), ThinkingStyle::None);
}

#[test]
fn the_table_is_sound() {
    for row in MODELS {
        assert_eq!(row.name, row.name.to_lowercase());
        assert_eq!(
            found(row.name),
            Some(row.name),
            "twice or hidden: {}",
            row.name
        );
        assert!(row.max_output < row.context_window, "{}", row.name);
        let [input, output, cache_read, _] = row.price;
        assert!(cache_read <= input && input <= output, "{}", row.name);
    }
    for info in SUPPLIERS {
        assert!(!info.label.is_empty());
        assert_eq!(supplier(info.supplier).label, info.label);
    }
}

#[test]
fn a_relay_knows_what_the_supplier_knows_and_says_what_it_does_not() {
    for supplier in [Supplier::Compatible, Supplier::Vllm, Supplier::Openrouter] {
        let info = Channel::new("relay", supplier).model_info("openai/gpt-4.1-2025-04-14");
        assert_eq!(info.source, InfoSource::Catalogue);
        assert_eq!(info.context_window, 1_047_576);
        assert!(info.vision && info.tools && info.price.is_some());
    }
    assert_eq!(look_up("gpt-4.1").context_window, 1_047_576);
    assert_eq!(look_up("in-house-7").source, InfoSource::Guess);
}

#[test]
fn models_that_do_not_chat_are_known_by_their_names() {
    for name in [
        "text-embedding-3-small",
        "BAAI/bge-m3",
        "bge-reranker-v2-m3",
        "jina-embeddings-v3",
        "whisper-1",
        "gpt-4o-transcribe",
        "gpt-4o-mini-tts",
        "tts-1-hd",
        "dall-e-3",
        "gpt-image-1",
        "omni-moderation-latest",
        "gemini-2.5-flash-image",
        "imagen-4.0-generate-001",
        "sora-2",
        "stable-diffusion-3.5",
        "black-forest-labs/FLUX.1-dev",
        "qwen-image",
        "llama-guard-4-12b",
        "gpt-4o-realtime-preview",
        "text-embedding-v4",
        "Kwai-Kolors/Kolors",
        "FunAudioLLM/SenseVoiceSmall",
    ] {
        assert!(!look_up(name).chat, "{name}");
    }
    for name in [
        "gpt-4.1",
        "claude-sonnet-4-5",
        "qwen3:8b",
        "my-own-model",
        "gemma3:4b",
        "qwen2.5-vl-72b",
        "imaginary-chat",
        "deepseek-ocr",
        "moonshot-v1-32k-vision-preview",
        "demo",
    ] {
        assert!(look_up(name).chat, "{name}");
    }
}

#[test]
fn the_operator_decides_whether_a_model_chats() {
    let mut channel = Channel::new("c", Supplier::Compatible);
    channel.models.push(ChannelModel {
        name: "whisper-chat".into(),
        chat: Some(true),
        vision: Some(true),
        ..ChannelModel::default()
    });
    let info = channel.model_info("whisper-chat");
    assert!(info.chat && info.vision);
    assert!(!channel.model_info("whisper-1").chat);
}
