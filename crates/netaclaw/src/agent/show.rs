//! `agent show`: what an agent is, with what follows from it.

use crate::admin::{explain_choice, failure};
use crate::app::App;
use crate::error::Result;
use crate::terminal::{columns, harmless, one_line, pad};
use crate::text::Lang;
use clap::Args;
use netaclaw_admin::{AdminStore, ModelPlan, resolve_model, session_provider};
use netaclaw_protocol::{Agent, AgentSpec, ApprovalMode, ChannelView, MissingSandbox};
use std::io::Write;

#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    /// Name of the agent
    #[arg(value_name = "NAME")]
    agent: String,
    /// Print the agent as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: ShowArgs, app: &mut App, store: &dyn AdminStore) -> Result<()> {
    let lang = app.lang;
    let failed = |error| failure(lang, error);
    let agent = store.agent_named(&args.agent).await.map_err(failed)?;
    if args.json {
        serde_json::to_writer(&mut app.out, &agent).map_err(std::io::Error::from)?;
        return Ok(writeln!(app.out)?);
    }
    let channels = store.channels().await.map_err(failed)?;
    let lines = lines(lang, &agent, &channels);
    let width = lines
        .iter()
        .map(|(name, _)| columns(name))
        .max()
        .unwrap_or(0);
    for (name, value) in lines {
        let name = pad(&name, width);
        let value = one_line(&value, 400);
        writeln!(app.out, "{}  {value}", app.paint.dim(&name))?;
    }
    let prompt = agent.spec.system_prompt.trim_end();
    if !prompt.is_empty() {
        writeln!(app.out, "\n{}", app.paint.bold(&lang.system_prompt()))?;
        writeln!(app.out, "{}", harmless(prompt))?;
    }
    if let Some(unknown) = session_provider(&agent.spec).unknown {
        app.warn(&lang.unknown_session_provider(unknown));
    }
    Ok(())
}

fn lines(lang: Lang, agent: &Agent, channels: &[ChannelView]) -> Vec<(String, String)> {
    let spec = &agent.spec;
    let name = match spec.is_default {
        true => format!("{} ({})", spec.name, lang.default_mark()),
        false => spec.name.clone(),
    };
    let mut lines = vec![
        (lang.name(), name),
        (lang.label(), spec.label.clone()),
        (lang.description(), spec.description.clone()),
    ];
    match resolve_model(spec, channels) {
        Ok(plan) => lines.extend(models(lang, spec, plan)),
        Err(error) => lines.push((lang.model(), explain_choice(lang, &error))),
    }
    let compaction = match spec.compaction_threshold {
        0 => lang.compaction_off(),
        threshold => lang.compaction_at(threshold, spec.compaction_keep_recent),
    };
    let approval = match spec.approval {
        ApprovalMode::Never => "never",
        ApprovalMode::Risky => "risky",
        ApprovalMode::Always => "always",
    };
    let provider = session_provider(spec).kind.as_str();
    lines.extend([
        (lang.tools_word(), tools(lang, spec)),
        (lang.skills_word(), list(lang, &spec.skills)),
        (lang.mcp_word(), list(lang, &spec.mcp_servers)),
        (lang.approval(), approval.to_owned()),
        (lang.allowed_hosts(), spec.allowed_hosts.join(", ")),
        (lang.sandbox_word(), sandbox(lang, spec)),
        (lang.workspace(), spec.workspace.clone().unwrap_or_default()),
        (lang.sessions_in(), provider.to_owned()),
        (lang.compaction(), compaction),
        (lang.revision(), agent.stamp.rev.to_string()),
    ]);
    lines.retain(|(_, value)| !value.is_empty());
    lines
}

fn sandbox(lang: Lang, spec: &AgentSpec) -> String {
    let network = match spec.sandbox.network {
        true => lang.with_network(),
        false => lang.without_network(),
    };
    match spec.sandbox.missing {
        MissingSandbox::Refuse => network,
        MissingSandbox::Warn => format!("{network}; {}", lang.sandbox_optional()),
    }
}

fn models(lang: Lang, spec: &AgentSpec, plan: ModelPlan) -> Vec<(String, String)> {
    let level = spec.model_config.think_level.as_str();
    let main = format!("{}, {}", plan.main.channel_name, plan.main.model);
    let mut lines = vec![(lang.model(), lang.model_and_level(main, level))];
    if let Some(fallback) = plan.fallback {
        let text = format!("{}, {}", fallback.channel_name, fallback.model);
        lines.push((lang.fallback(), text));
    }
    if let Some(error) = plan.fallback_error {
        lines.push((lang.fallback(), explain_choice(lang, &error)));
    }
    lines
}

fn tools(lang: Lang, spec: &AgentSpec) -> String {
    let tools = &spec.tools;
    if tools.enabled.is_empty() && tools.disabled.is_empty() {
        return String::new();
    }
    let joined = |names: &[String]| match names.is_empty() {
        true => "–".to_owned(),
        false => names.join(", "),
    };
    lang.on_and_off(joined(&tools.enabled), joined(&tools.disabled))
}

fn list(lang: Lang, names: &[String]) -> String {
    match names.is_empty() {
        true => lang.everything(),
        false => names.join(", "),
    }
}
