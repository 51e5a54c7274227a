//! The port to agents, and their validation.

use crate::audit::Actor;
use crate::error::{Invalid, Problem, Result};
use crate::rules;
use crate::store::Expect;
use async_trait::async_trait;
use netaclaw_governance::HostRule;
use netaclaw_protocol::{Agent, AgentId, AgentSpec, ChannelId, ChannelView, ProviderKind};
use std::io::ErrorKind;
use std::path::Path;

/// Where agents are kept. There is always exactly one default agent, once the store is seeded:
/// making another the default ends the reign of the one before, which counts as a change to it.
#[async_trait]
pub trait AgentStore: Send + Sync {
    /// All agents, by name.
    async fn agents(&self) -> Result<Vec<Agent>>;
    async fn agent(&self, id: &AgentId) -> Result<Agent>;
    async fn agent_named(&self, name: &str) -> Result<Agent>;
    async fn default_agent(&self) -> Result<Agent>;

    async fn create_agent(&self, by: &Actor, spec: AgentSpec) -> Result<Agent>;
    async fn update_agent(
        &self,
        by: &Actor,
        id: &AgentId,
        expect: Expect,
        spec: AgentSpec,
    ) -> Result<Agent>;
    /// The default agent cannot be deleted.
    async fn delete_agent(&self, by: &Actor, id: &AgentId, expect: Expect) -> Result<()>;
}

/// All of them are compared for every call that asks.
const HOSTS_MAX: usize = 200;
const PROMPT_CHARS_MAX: usize = 200_000;

/// Whether an agent is valid, given these channels.
pub fn check_agent(spec: &AgentSpec, channels: &[ChannelView]) -> Result<(), Invalid> {
    rules::name("name", &spec.name)?;
    rules::at_most("label", &spec.label, rules::LABEL_CHARS_MAX)?;
    rules::at_most("description", &spec.description, rules::TEXT_CHARS_MAX)?;
    rules::at_most("systemPrompt", &spec.system_prompt, PROMPT_CHARS_MAX)?;
    check_model(spec, channels)?;
    check_tools(spec)?;
    rules::distinct("skills", &spec.skills)?;
    rules::distinct("mcpServers", &spec.mcp_servers)?;
    if let Some(workspace) = &spec.workspace {
        rules::absolute("workspace", workspace)?;
    }
    for root in &spec.extra_roots {
        rules::absolute("extraRoots", root)?;
    }
    check_hosts(&spec.allowed_hosts)?;
    let provider = &spec.session_provider;
    rules::at_most("sessionProvider", provider, rules::NAME_CHARS_MAX)?;
    rules::in_range("compactionThreshold", spec.compaction_threshold, 0, 100)?;
    rules::in_range("compactionKeepRecent", spec.compaction_keep_recent, 2, 20)
}

fn check_hosts(rules: &[String]) -> Result<(), Invalid> {
    const FIELD: &str = "allowedHosts";
    rules::distinct(FIELD, rules)?;
    let problem = Problem::TooMany { max: HOSTS_MAX };
    rules::ensure(rules.len() <= HOSTS_MAX, FIELD, problem)?;
    for rule in rules {
        rules::at_most(FIELD, rule, rules::TEXT_CHARS_MAX)?;
        let problem = Problem::NotAHost { rule: rule.clone() };
        rules::ensure(HostRule::parse(rule).is_ok(), FIELD, problem)?;
    }
    Ok(())
}

/// Keeps the directories of an agent apart from the data directory: neither may contain the other.
/// Follows links, so it blocks.
pub fn check_apart(spec: &AgentSpec, data_dir: &Path) -> Result<(), Invalid> {
    directories_apart("workspace", spec.workspace.as_slice(), data_dir)?;
    directories_apart("extraRoots", &spec.extra_roots, data_dir)
}

/// Refuses directories of an agent that do not exist. Asks the disk, so it blocks.
pub fn check_exist(spec: &AgentSpec) -> Result<(), Invalid> {
    directories_exist("workspace", spec.workspace.as_slice())?;
    directories_exist("extraRoots", &spec.extra_roots)
}

fn directories_exist(field: &str, paths: &[String]) -> Result<(), Invalid> {
    for path in paths {
        let name = || path.clone();
        let problem = match Path::new(path).metadata() {
            Ok(found) if found.is_dir() => continue,
            Ok(_) => Problem::NotADirectory { path: name() },
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Problem::DirectoryMissing { path: name() }
            }
            Err(error) if error.kind() == ErrorKind::NotADirectory => {
                Problem::NotADirectory { path: name() }
            }
            // Programs may be allowed to enter what this process cannot look at.
            Err(_) => continue,
        };
        return Err(Invalid::new(field, problem));
    }
    Ok(())
}

pub(crate) fn directories_apart(
    field: &str,
    paths: &[String],
    data_dir: &Path,
) -> Result<(), Invalid> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let data_dir = real(data_dir);
    for path in paths {
        let path = real(Path::new(path));
        let is_apart = !path.starts_with(&data_dir) && !data_dir.starts_with(&path);
        rules::ensure(is_apart, field, Problem::AtDataDirectory)?;
    }
    Ok(())
}

fn check_model(spec: &AgentSpec, channels: &[ChannelView]) -> Result<(), Invalid> {
    let config = &spec.model_config;
    let channel = |field: &str, id: Option<&ChannelId>| match id {
        Some(id) if !channels.iter().any(|channel| channel.id == *id) => Err(Invalid::new(
            field,
            Problem::NoSuchChannel {
                id: id.as_str().to_owned(),
            },
        )),
        _ => Ok(()),
    };
    let model = |field: &str, model: Option<&String>| {
        model.map_or(Ok(()), |model| {
            rules::filled(field, model)?;
            rules::at_most(field, model, rules::LABEL_CHARS_MAX)
        })
    };
    channel("modelConfig.channelId", config.channel_id.as_ref())?;
    model("modelConfig.model", config.model.as_ref())?;
    if let Some(fallback) = &config.fallback {
        channel("modelConfig.fallback.channelId", Some(&fallback.channel_id))?;
        model("modelConfig.fallback.model", fallback.model.as_ref())?;
    }
    channel(
        "auxiliaryModelChannelId",
        spec.auxiliary_model_channel_id.as_ref(),
    )?;
    model("auxiliaryModelId", spec.auxiliary_model_id.as_ref())?;
    let warm = config.temperature.unwrap_or(0.0);
    let problem = Problem::OutOfRange { min: 0, max: 2 };
    rules::ensure(
        (0.0..=2.0).contains(&warm),
        "modelConfig.temperature",
        problem,
    )?;
    let limit = config.max_tokens.unwrap_or(1);
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    rules::in_range("modelConfig.maxTokens", limit, 1, 10_000_000)
}

fn check_tools(spec: &AgentSpec) -> Result<(), Invalid> {
    let tools = &spec.tools;
    rules::distinct("tools.enabled", &tools.enabled)?;
    rules::distinct("tools.disabled", &tools.disabled)?;
    if let Some(tool) = tools.enabled.iter().find(|t| tools.disabled.contains(t)) {
        let problem = Problem::OnAndOff { tool: tool.clone() };
        return Err(Invalid::new("tools", problem));
    }
    if let Some(allowed) = &spec.subagent_config.allowed_tool_names {
        rules::distinct("subagentConfig.allowedToolNames", allowed)?;
    }
    for (tool, change) in &spec.tool_overrides {
        rules::filled("toolOverrides", tool)?;
        let timeout = change.timeout_ms.unwrap_or(1);
        let timeout = i64::try_from(timeout).unwrap_or(i64::MAX);
        let day = 24 * 60 * 60 * 1000;
        let field = format!("toolOverrides.{tool}.timeoutMs");
        rules::in_range(&field, timeout, 1, day)?;
    }
    Ok(())
}

/// Where an agent's sessions are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderChoice {
    pub kind: ProviderKind,
    /// The unknown name, if the agent has one, for a warning.
    pub unknown: Option<String>,
}

/// The provider an agent names. An unknown one means files: sessions must stay reachable after a
/// typing mistake.
pub fn session_provider(spec: &AgentSpec) -> ProviderChoice {
    let (kind, unknown) = match spec.session_provider.trim() {
        "" | "file" => (ProviderKind::File, None),
        "mysql" => (ProviderKind::Mysql, None),
        other => (ProviderKind::File, Some(other.to_owned())),
    };
    ProviderChoice { kind, unknown }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netaclaw_protocol::{ToolChoice, ToolOverride};

    fn check(change: impl FnOnce(&mut AgentSpec)) -> Option<Invalid> {
        let mut spec = AgentSpec {
            name: "a".to_owned(),
            ..AgentSpec::default()
        };
        change(&mut spec);
        check_agent(&spec, &[]).err()
    }

    #[test]
    fn an_agent_with_only_a_name_is_sound() {
        assert_eq!(check(|_| ()), None);
    }

    #[test]
    fn every_rule_names_its_field() {
        let field = |change: fn(&mut AgentSpec)| check(change).unwrap().field;
        assert_eq!(field(|a| a.name = "a/b".into()), "name");
        assert_eq!(field(|a| a.label = "x".repeat(201)), "label");
        assert_eq!(
            field(|a| a.compaction_threshold = 101),
            "compactionThreshold"
        );
        assert_eq!(
            field(|a| a.compaction_keep_recent = 1),
            "compactionKeepRecent"
        );
        assert_eq!(
            field(|a| a.compaction_keep_recent = 21),
            "compactionKeepRecent"
        );
        assert_eq!(
            field(|a| a.model_config.temperature = Some(2.1)),
            "modelConfig.temperature"
        );
        assert_eq!(
            field(|a| a.model_config.temperature = Some(f64::NAN)),
            "modelConfig.temperature"
        );
        assert_eq!(
            field(|a| a.model_config.max_tokens = Some(0)),
            "modelConfig.maxTokens"
        );
        assert_eq!(
            field(|a| a.model_config.channel_id = Some("gone".into())),
            "modelConfig.channelId"
        );
        assert_eq!(field(|a| a.workspace = Some("here".into())), "workspace");
        for wrong in ["https://a.example/path", "*.com", ""] {
            let invalid = check(|a| a.allowed_hosts = vec!["b.example".into(), wrong.into()]);
            assert_eq!(invalid.unwrap().field, "allowedHosts", "{wrong}");
        }
        let many = (0..=HOSTS_MAX).map(|n| format!("h{n}.example")).collect();
        assert_eq!(
            check(|a| a.allowed_hosts = many).unwrap().field,
            "allowedHosts"
        );
        assert_eq!(field(|a| a.skills = vec!["s".into(), "s".into()]), "skills");
        assert_eq!(
            field(|a| {
                a.tools = ToolChoice {
                    enabled: vec!["read".into()],
                    disabled: vec!["read".into()],
                }
            }),
            "tools"
        );
        assert_eq!(
            field(|a| {
                let change = ToolOverride {
                    timeout_ms: Some(0),
                    ..ToolOverride::default()
                };
                a.tool_overrides.insert("bash".into(), change);
            }),
            "toolOverrides.bash.timeoutMs"
        );
    }

    #[test]
    fn an_unknown_session_provider_falls_back_to_files_with_a_warning() {
        let provider = |name: &str| {
            session_provider(&AgentSpec {
                session_provider: name.to_owned(),
                ..AgentSpec::default()
            })
        };
        assert_eq!(provider("mysql").kind, ProviderKind::Mysql);
        assert_eq!(provider("").kind, ProviderKind::File);
        let unknown = provider("redis");
        assert_eq!(unknown.kind, ProviderKind::File);
        assert_eq!(unknown.unknown.as_deref(), Some("redis"));
    }
}
