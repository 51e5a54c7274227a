//! What a first start sets up, as a plan. Pure: what was found on the machine is an argument.

use crate::channel::model_channel;
use crate::resolve::default_model;
use netaclaw_models::known_models;
use netaclaw_protocol::{
    AgentSpec, ChannelModel, ChannelSpec, ChannelStatus, Language, ProviderKind, Supplier,
};
use secrecy::SecretString;

pub const DEFAULT_AGENT: &str = "default";
pub const DEMO_CHANNEL: &str = "demo";
/// The one who may do everything on a new server.
pub const FIRST_USER: &str = "admin";

/// What was found on the machine at a first start.
#[derive(Clone, Debug)]
pub struct FirstStart {
    /// Of the labels that users will see.
    pub language: Language,
    /// The default session storage.
    pub session_provider: ProviderKind,
    /// API keys from the environment, by supplier.
    pub keys: Vec<(Supplier, SecretString)>,
    /// An Ollama that answers, with its models.
    pub ollama: Option<LocalModels>,
}

impl Default for FirstStart {
    fn default() -> Self {
        Self {
            language: Language::English,
            session_provider: ProviderKind::File,
            keys: Vec::new(),
            ollama: None,
        }
    }
}

/// A server with models on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalModels {
    /// `None` is the usual address.
    pub base_url: Option<String>,
    pub models: Vec<String>,
}

/// What a first start makes.
#[derive(Debug)]
pub struct Plan {
    pub channels: Vec<PlannedChannel>,
    /// Which of the channels the agent uses, as an index.
    pub agents_channel: usize,
    pub agent: AgentSpec,
}

#[derive(Debug)]
pub struct PlannedChannel {
    pub spec: ChannelSpec,
    pub key: Option<SecretString>,
}

/// The models a new channel lists, the one to use first. Their data is in the catalog. OpenAI's
/// newest are not here: over the API that is implemented here they take tools only without
/// thinking.
const USUAL_MODELS: &[(Supplier, &[&str])] = &[
    (
        Supplier::Anthropic,
        &["claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5"],
    ),
    (Supplier::Openai, &["gpt-5.2", "gpt-5", "gpt-5-mini"]),
    (
        Supplier::Deepseek,
        &["deepseek-chat", "deepseek-v4-pro", "deepseek-reasoner"],
    ),
];

/// The default models of a new channel: the usual ones, else all known ones. A server of other
/// suppliers' models has to name its own.
pub fn usual_models(supplier: Supplier) -> Vec<ChannelModel> {
    let usual = USUAL_MODELS.iter().find(|(whose, _)| *whose == supplier);
    match (usual, supplier) {
        (Some((_, models)), _) => models.iter().copied().map(model).collect(),
        (None, Supplier::Ollama | Supplier::Azure | Supplier::Compatible) => Vec::new(),
        (None, _) => known_models(supplier)
            .map(|info| model(&info.name))
            .collect(),
    }
}

/// The channels in the order of preference, the demo last, and an agent on the first one whose
/// model can use tools.
pub fn plan(first: FirstStart) -> Plan {
    let mut channels = Vec::new();
    for (supplier, _) in USUAL_MODELS {
        let key = first.keys.iter().find(|(whose, _)| whose == supplier);
        channels.extend(key.map(|(_, key)| PlannedChannel {
            spec: channel(supplier.as_str(), *supplier, usual_models(*supplier)),
            key: Some(key.clone()),
        }));
    }
    if let Some(ollama) = first.ollama {
        let models = ollama.models.iter().map(String::as_str);
        let chatty = models.filter(|model| !model.contains("embed"));
        let models = chatty.map(model).collect();
        let mut spec = channel(Supplier::Ollama.as_str(), Supplier::Ollama, models);
        spec.base_url = ollama.base_url;
        // The agent works with tools, so the models that can use them come first.
        let known = model_channel(&spec, None);
        spec.models
            .sort_by_key(|model| !known.model_info(&model.name).tools);
        channels.push(PlannedChannel { spec, key: None });
    }
    channels.push(PlannedChannel {
        spec: channel(DEMO_CHANNEL, Supplier::Demo, usual_models(Supplier::Demo)),
        key: None,
    });
    let agents_channel = channels.iter().position(works_with_tools);
    Plan {
        agents_channel: agents_channel.unwrap_or(channels.len() - 1),
        channels,
        agent: general_agent(first.language, first.session_provider),
    }
}

fn channel(name: &str, supplier: Supplier, models: Vec<ChannelModel>) -> ChannelSpec {
    ChannelSpec {
        name: name.to_owned(),
        supplier,
        base_url: None,
        models,
        is_auxiliary: false,
        status: ChannelStatus::Enabled,
    }
}

fn model(name: &str) -> ChannelModel {
    ChannelModel {
        name: name.to_owned(),
        ..ChannelModel::default()
    }
}

fn works_with_tools(channel: &PlannedChannel) -> bool {
    let model = default_model(&channel.spec);
    model.is_some_and(|model| model_channel(&channel.spec, None).model_info(&model).tools)
}

fn general_agent(language: Language, provider: ProviderKind) -> AgentSpec {
    let (label, description) = match language {
        Language::English => (
            "General",
            "Answers questions and works with files and tools.",
        ),
        Language::Chinese => ("通用", "回答问题，并使用文件和工具完成工作。"),
    };
    AgentSpec {
        name: DEFAULT_AGENT.to_owned(),
        label: label.to_owned(),
        description: description.to_owned(),
        system_prompt: "You are a careful, capable assistant. Answer in the language of the user. \
                        Check facts instead of assuming them, say what you did and what you could \
                        not do, and ask when a decision is not yours to make."
            .to_owned(),
        session_provider: provider.as_str().to_owned(),
        is_default: true,
        ..AgentSpec::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::check_agent;
    use crate::channel::check_channel;
    use netaclaw_protocol::InfoSource;

    fn check(first: FirstStart, names: &[&str], agents: &str) {
        let plan = plan(first);
        let found: Vec<&str> = plan.channels.iter().map(|c| c.spec.name.as_str()).collect();
        assert_eq!(found, names);
        assert_eq!(plan.channels[plan.agents_channel].spec.name, agents);
        for channel in &plan.channels {
            check_channel(&channel.spec).unwrap();
        }
        check_agent(&plan.agent, &[]).unwrap();
    }

    fn ollama(models: &[&str]) -> Option<LocalModels> {
        Some(LocalModels {
            base_url: None,
            models: models.iter().map(|model| (*model).to_owned()).collect(),
        })
    }

    #[test]
    fn the_best_real_channel_is_the_agents() {
        check(FirstStart::default(), &["demo"], "demo");
        let keys = || {
            vec![
                (Supplier::Deepseek, "k1".into()),
                (Supplier::Openai, "k2".into()),
            ]
        };
        let first = FirstStart {
            keys: keys(),
            ollama: ollama(&["qwen3:8b"]),
            ..FirstStart::default()
        };
        check(first, &["openai", "deepseek", "ollama", "demo"], "openai");
        let first = FirstStart {
            ollama: ollama(&["nomic-embed-text", "smollm2:135m", "qwen3:8b"]),
            ..FirstStart::default()
        };
        check(first.clone(), &["ollama", "demo"], "ollama");
        let models = &plan(first).channels[0].spec.models;
        let names: Vec<&str> = models.iter().map(|model| model.name.as_str()).collect();
        assert_eq!(names, ["qwen3:8b", "smollm2:135m"]);
    }

    #[test]
    fn a_local_server_without_a_useful_model_is_kept_but_not_used() {
        for models in [&[][..], &["smollm2:135m"], &["nomic-embed-text"]] {
            let first = FirstStart {
                ollama: ollama(models),
                ..FirstStart::default()
            };
            check(first, &["ollama", "demo"], "demo");
        }
    }

    #[test]
    fn the_usual_models_are_in_the_catalogue_and_can_use_tools() {
        for (supplier, models) in USUAL_MODELS {
            for model in *models {
                let info = netaclaw_models::Channel::new("c", *supplier).model_info(model);
                assert_eq!(info.source, InfoSource::Catalogue, "{model}");
                assert!(info.tools, "{model}");
            }
        }
    }
}
