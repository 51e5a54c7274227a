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
