use super::*;
use netaclaw_protocol::{
    ApprovalMode, ChannelSpec, ChannelStatus, ModelFallback, Stamp, Supplier, ToolOverride,
};
use serde_json::json;

fn channel(id: &str, name: &str) -> ChannelView {
    ChannelView {
        id: id.into(),
        spec: ChannelSpec {
            name: name.to_owned(),
            supplier: Supplier::Openai,
            base_url: None,
            models: Vec::new(),
            is_auxiliary: false,
            status: ChannelStatus::Enabled,
        },
        api_key_set: false,
        api_key_last4: None,
        stamp: Stamp::default(),
    }
}

fn channels() -> Vec<ChannelView> {
    vec![channel("id-1", "main"), channel("id-2", "小模型")]
}

fn agent(spec: AgentSpec) -> Agent {
    Agent {
        id: "a".into(),
        spec,
        stamp: Stamp {
            rev: 3,
            ..Stamp::default()
        },
    }
}

fn full() -> AgentSpec {
    let mut spec = AgentSpec {
        name: "a".to_owned(),
        system_prompt: "One '''line'''\n\n\tand \"\"\" 另一行\\n 🦀\n".to_owned(),
        skills: vec!["pdf".to_owned()],
        approval: ApprovalMode::Always,
        auxiliary_model_channel_id: Some("id-2".into()),
        ..AgentSpec::default()
    };
    spec.model_config.channel_id = Some("id-1".into());
    spec.model_config.temperature = Some(0.3);
    spec.model_config.fallback = Some(ModelFallback {
        channel_id: "id-2".into(),
        model: Some("m".to_owned()),
    });
    let change = ToolOverride {
        arguments: json!({"cwd": "/srv", "deep": {"n": [1, 2.5, "x"]}})
            .as_object()
            .unwrap()
            .clone(),
        ..ToolOverride::default()
    };
    spec.tool_overrides.insert("bash".to_owned(), change);
    spec
}

#[test]
fn what_is_written_reads_back_as_it_was() {
    for spec in [AgentSpec::default(), full()] {
        let text = write(Lang::En, &agent(spec.clone()), &channels()).unwrap();
        assert_eq!(read(&text, &channels()).unwrap(), spec, "{text}");
    }
    let text = write(Lang::En, &agent(full()), &channels()).unwrap();
    assert!(
        text.contains("revision 3") && text.contains("channelId = \"main\""),
        "{text}"
    );
    assert!(
        text.contains("auxiliaryModelChannelId = \"小模型\""),
        "{text}"
    );
    assert!(
        text.contains("modelConfig.maxTokens") && text.contains("workspace"),
        "{text}"
    );
}

#[test]
fn what_toml_cannot_hold_is_not_offered() {
    let mut spec = full();
    let change = spec.tool_overrides.get_mut("bash").unwrap();
    change.arguments.insert("nothing".to_owned(), Value::Null);
    assert_eq!(write(Lang::En, &agent(spec), &channels()), None);
}

#[test]
fn mistakes_are_named_with_line_or_field() {
    for (text, part) in [
        ("name = 'a'\nlabel = \n", "line 2"),
        (
            "name = 'a'\nlabell = 'x'",
            "labell: there is no such field; did you mean \"label\"?",
        ),
        (
            "name = 'a'\n[modelConfig]\ntemperature = 'warm'",
            "modelConfig.temperature",
        ),
    ] {
        let error = read(text, &channels()).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}
