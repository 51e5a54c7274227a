use super::*;
use netaclaw_protocol::{ChannelModel, ChannelSpec, ModelFallback, Stamp};

fn channel(id: &str, supplier: Supplier, models: &[&str]) -> ChannelView {
    let model = |name: &&str| ChannelModel {
        name: (*name).to_owned(),
        ..ChannelModel::default()
    };
    ChannelView {
        id: id.into(),
        spec: ChannelSpec {
            name: id.to_uppercase(),
            supplier,
            base_url: None,
            models: models.iter().map(model).collect(),
            is_auxiliary: false,
            status: ChannelStatus::Enabled,
        },
        api_key_set: false,
        api_key_last4: None,
        stamp: Stamp::default(),
    }
}

fn channels() -> Vec<ChannelView> {
    let mut small = channel("small", Supplier::Openai, &["gpt-5-nano"]);
    small.spec.is_auxiliary = true;
    let mut off = channel("off", Supplier::Anthropic, &["claude-opus-5"]);
    off.spec.status = ChannelStatus::Disabled;
    vec![
        channel("demo", Supplier::Demo, &["demo"]),
        small,
        channel("bare", Supplier::Deepseek, &[]),
        channel("big", Supplier::Openai, &["gpt-5", "gpt-4o"]),
        off,
    ]
}

fn agent(channel: Option<&str>, model: Option<&str>) -> AgentSpec {
    let mut agent = AgentSpec {
        name: "a".to_owned(),
        ..AgentSpec::default()
    };
    agent.model_config.channel_id = channel.map(ChannelId::new);
    agent.model_config.model = model.map(str::to_owned);
    agent
}

fn main_of(
    agent: &AgentSpec,
    channels: &[ChannelView],
) -> Result<(String, String), ModelChoiceError> {
    resolve_model(agent, channels).map(|plan| (plan.main.channel_name, plan.main.model))
}

fn pair(channel: &str, model: &str) -> Result<(String, String), ModelChoiceError> {
    Ok((channel.to_owned(), model.to_owned()))
}

#[test]
fn an_agent_gets_the_model_it_names_else_the_channels_first() {
    let channels = channels();
    assert_eq!(
        main_of(&agent(Some("big"), None), &channels),
        pair("BIG", "gpt-5")
    );
    assert_eq!(
        main_of(&agent(Some("big"), Some("gpt-9")), &channels),
        pair("BIG", "gpt-9")
    );
    let plan = resolve_model(&agent(Some("big"), None), &channels).unwrap();
    assert_eq!(plan.main.info.context_window, 400_000);
}

#[test]
fn an_agent_without_a_channel_gets_a_real_one_before_the_demo() {
    let mut channels = channels();
    assert_eq!(main_of(&agent(None, None), &channels), pair("BIG", "gpt-5"));
    channels.retain(|channel| channel.id.as_str() != "big");
    assert_eq!(
        main_of(&agent(None, None), &channels),
        pair("SMALL", "gpt-5-nano")
    );
    channels.retain(|channel| channel.id.as_str() != "small");
    assert_eq!(main_of(&agent(None, None), &channels), pair("DEMO", "demo"));
    let nothing = main_of(&agent(None, None), &[]).unwrap_err();
    assert_eq!(nothing, ModelChoiceError::NoChannel);
}

#[test]
fn a_channel_that_cannot_be_used_is_a_clear_error() {
    for (channel, part) in [
        ("gone", "\"gone\" in agent \"a\" does not exist"),
        ("off", "\"OFF\" in agent \"a\" is disabled"),
        ("bare", "\"BARE\" has no models"),
    ] {
        let error = resolve_model(&agent(Some(channel), None), &channels()).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn a_model_that_does_not_chat_is_never_chosen_by_default() {
    let vectors = channel(
        "vectors",
        Supplier::Openai,
        &[
            "text-embedding-3-small",
            "whisper-1",
            "gpt-image-1",
            "tts-1",
        ],
    );
    let mixed = channel(
        "mixed",
        Supplier::Compatible,
        &["bge-reranker-v2", "qwen3-max"],
    );
    let channels = [vectors.clone(), mixed.clone(), channels().remove(0)];
    assert_eq!(
        main_of(&agent(Some("mixed"), None), &channels),
        pair("MIXED", "qwen3-max")
    );
    assert_eq!(
        main_of(&agent(None, None), &channels),
        pair("MIXED", "qwen3-max")
    );
    // Another one comes first, even the demo.
    assert_eq!(
        main_of(&agent(None, None), &[vectors.clone(), channels[2].clone()]),
        pair("DEMO", "demo")
    );
    let error = main_of(&agent(None, None), std::slice::from_ref(&vectors)).unwrap_err();
    assert!(
        matches!(error, ModelChoiceError::ChannelWithoutChatModels { .. }),
        "{error}"
    );
    let error = resolve_model(&agent(Some("vectors"), None), &channels).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("no model of the channel \"VECTORS\" can chat"),
        "{error}"
    );
    // What a user names or sets counts.
    assert_eq!(
        main_of(&agent(Some("vectors"), Some("tts-1")), &channels),
        pair("VECTORS", "tts-1")
    );
    let mut set = mixed;
    set.spec.models[0].chat = Some(true);
    set.spec.models[1].chat = Some(false);
    assert_eq!(
        main_of(&agent(Some("mixed"), None), &[set]),
        pair("MIXED", "bge-reranker-v2")
    );
    // Nor as the auxiliary model.
    let dictionary = DictionaryDefault {
        channel_id: Some("vectors".into()),
        model: None,
    };
    let error = resolve_auxiliary(&agent(Some("mixed"), None), &dictionary, &channels);
    assert!(matches!(
        error,
        Err(ModelChoiceError::ChannelWithoutChatModels { .. })
    ));
}

#[test]
fn an_unusable_fallback_is_a_warning() {
    let mut agent = agent(Some("big"), None);
    let fallback = |channel: &str| {
        Some(ModelFallback {
            channel_id: channel.into(),
            model: None,
        })
    };
    agent.model_config.fallback = fallback("small");
    let plan = resolve_model(&agent, &channels()).unwrap();
    assert_eq!(plan.fallback.unwrap().model, "gpt-5-nano");
    agent.model_config.fallback = fallback("off");
    let plan = resolve_model(&agent, &channels()).unwrap();
    assert_eq!(plan.fallback, None);
    assert!(matches!(
        plan.fallback_error,
        Some(ModelChoiceError::ChannelDisabled { .. })
    ));
}

#[test]
fn the_auxiliary_model_is_the_agents_then_the_dictionarys_then_its_own() {
    let channels = channels();
    let resolved = |agent: &AgentSpec, dictionary: &DictionaryDefault| {
        let found = resolve_auxiliary(agent, dictionary, &channels).unwrap();
        (found.choice.model, found.source)
    };
    let dictionary = DictionaryDefault {
        channel_id: Some("small".into()),
        model: None,
    };
    let none = DictionaryDefault::default();
    let mut agent = agent(Some("big"), None);
    assert_eq!(
        resolved(&agent, &none),
        ("gpt-5".to_owned(), AuxiliarySource::Own)
    );
    assert_eq!(
        resolved(&agent, &dictionary),
        ("gpt-5-nano".to_owned(), AuxiliarySource::Dictionary)
    );
    agent.auxiliary_model_id = Some("gpt-4o".to_owned());
    assert_eq!(
        resolved(&agent, &dictionary),
        ("gpt-4o".to_owned(), AuxiliarySource::Agent)
    );
    agent.auxiliary_model_channel_id = Some("demo".into());
    agent.auxiliary_model_id = None;
    assert_eq!(
        resolved(&agent, &dictionary),
        ("demo".to_owned(), AuxiliarySource::Agent)
    );
}

#[test]
fn a_named_auxiliary_channel_that_cannot_be_used_is_not_passed_over() {
    let mut agent = agent(Some("big"), None);
    agent.auxiliary_model_channel_id = Some("off".into());
    let error = resolve_auxiliary(&agent, &DictionaryDefault::default(), &channels());
    assert!(matches!(
        error,
        Err(ModelChoiceError::ChannelDisabled { .. })
    ));
    agent.auxiliary_model_channel_id = None;
    for channel in ["gone", "bare"] {
        let dictionary = DictionaryDefault {
            channel_id: Some(channel.into()),
            model: None,
        };
        let error = resolve_auxiliary(&agent, &dictionary, &channels()).unwrap_err();
        assert!(error.to_string().contains("dictionary"), "{error}");
    }
}

#[test]
fn a_session_may_choose_what_a_channel_lists() {
    let channels = channels();
    let choose = |agent: &AgentSpec, channel: &str, model: &str| {
        check_choice(agent, &channels, &channel.into(), model)
    };
    let own = agent(Some("big"), Some("house-blend"));
    assert_eq!(choose(&own, "big", "gpt-5"), Ok(()));
    assert_eq!(choose(&own, "small", "gpt-5-nano"), Ok(()));
    assert_eq!(choose(&own, "big", "house-blend"), Ok(()), "its own");
    assert_eq!(choose(&own, "bare", "anything"), Ok(()), "none is listed");
    let other = agent(Some("big"), None);
    for (channel, model, part) in [
        ("big", "house-blend", "does not list"),
        ("small", "gpt-5", "does not list"),
        ("bare", " ", "does not list"),
        ("gone", "gpt-5", "does not exist"),
        ("off", "gpt-5", "disabled"),
    ] {
        let error = choose(&other, channel, model).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}
