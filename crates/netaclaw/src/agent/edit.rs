//! `agent edit`: by `--set`, for scripts, or in an editor, for people.

use super::form;
use crate::admin::failure;
use crate::app::App;
use crate::error::{Failure, Result};
use crate::text::Lang;
use clap::Args;
use netaclaw_admin::{Actor, AdminError, AdminStore, Expect, Invalid};
use netaclaw_protocol::{Agent, AgentSpec, ChannelView};
use serde_json::{Map, Value};
use std::io::{IsTerminal, Write};
use std::path::Path;

#[derive(Args, Debug)]
pub(crate) struct EditArgs {
    /// Name of the agent
    #[arg(value_name = "NAME")]
    agent: String,
    /// Set a field, as in modelConfig.temperature=0.3; repeatable
    ///
    /// The value is JSON or plain text; an empty value restores the default. Without this option,
    /// an editor opens
    #[arg(long = "set", value_name = "FIELD=VALUE")]
    assignments: Vec<String>,
}

pub(super) async fn run(args: EditArgs, app: &mut App, store: &dyn AdminStore) -> Result<()> {
    let lang = app.lang;
    let failed = |error| failure(lang, error);
    let agent = store.agent_named(&args.agent).await.map_err(failed)?;
    let channels = store.channels().await.map_err(failed)?;
    let rev = agent.stamp.rev;
    let changed = match args.assignments.is_empty() {
        true => edit_text(app, store, agent, &channels).await?,
        false => {
            let spec = assigned(lang, &agent.spec, &args.assignments, &channels)?;
            save(store, &agent, spec).await.map_err(failed)?
        }
    };
    let name = &changed.spec.name;
    let said = match changed.stamp.rev == rev {
        true => lang.agent_same(name),
        false => lang.agent_changed(name, changed.stamp.rev),
    };
    Ok(writeln!(app.out, "{said}")?)
}

async fn save(
    store: &dyn AdminStore,
    agent: &Agent,
    spec: AgentSpec,
) -> std::result::Result<Agent, AdminError> {
    let expect = Expect::Rev(agent.stamp.rev);
    store
        .update_agent(&Actor::command_line(), &agent.id, expect, spec)
        .await
}

fn assigned(
    lang: Lang,
    spec: &AgentSpec,
    assignments: &[String],
    channels: &[ChannelView],
) -> Result<AgentSpec> {
    let before = spec;
    let mut spec = spec.clone();
    for text in assignments {
        let (field, value) = text.split_once('=').ok_or_else(|| {
            let what = lang.not_an_assignment(text);
            Failure::new(what, lang.want_assignment(), lang.example_assignment())
        })?;
        spec = assign(&spec, field.trim(), value, channels)
            .map_err(|invalid| failure(lang, invalid.into()))?;
    }
    drop_old_model(before, &mut spec, channels);
    Ok(spec)
}

/// With another channel and no word about the model, the model of the old channel is not meant,
/// unless the new one has it as well.
fn drop_old_model(before: &AgentSpec, spec: &mut AgentSpec, channels: &[ChannelView]) {
    let (old, new) = (&before.model_config, &mut spec.model_config);
    if old.channel_id == new.channel_id || old.model != new.model {
        return;
    }
    let channel = channels
        .iter()
        .find(|channel| Some(&channel.id) == new.channel_id.as_ref());
    let mut models = channel.iter().flat_map(|channel| &channel.spec.models);
    if !models.any(|model| Some(&model.name) == new.model.as_ref()) {
        new.model = None;
    }
}

/// A value is JSON where that fits the field, and else plain text, so that names need no quotes.
fn assign(
    spec: &AgentSpec,
    field: &str,
    value: &str,
    channels: &[ChannelView],
) -> std::result::Result<AgentSpec, Invalid> {
    let set = |value: Value| form::from_patch(spec, &patch_of(field, value), channels);
    if value.is_empty() {
        return set(Value::Null);
    }
    let plain = Value::String(value.to_owned());
    match serde_json::from_str(value) {
        Ok(json) => set(json).or_else(|error| set(plain).map_err(|_| error)),
        Err(_) => set(plain),
    }
}

/// `a.b` and a value as `{"a": {"b": value}}`.
fn patch_of(field: &str, value: Value) -> Map<String, Value> {
    let (first, value) = match field.split_once('.') {
        Some((first, rest)) => (first, Value::Object(patch_of(rest, value))),
        None => (field, value),
    };
    Map::from_iter([(first.to_owned(), value)])
}

async fn edit_text(
    app: &App,
    store: &dyn AdminStore,
    agent: Agent,
    channels: &[ChannelView],
) -> Result<Agent> {
    let lang = app.lang;
    let text = form::write(lang, &agent, channels).ok_or_else(|| {
        Failure::new(
            format!("{} {:?}", lang.agent(), agent.spec.name),
            lang.form_cannot(),
            lang.use_set(),
        )
    })?;
    let io = |error: &std::io::Error| Failure::io(lang, lang.file(), error);
    let file = tempfile::Builder::new()
        .prefix("netaclaw-agent-")
        .suffix(".toml")
        .tempfile()
        .map_err(|error| io(&error))?;
    std::fs::write(file.path(), &text).map_err(|error| io(&error))?;
    open_editor(app, file.path())?;
    let edited = std::fs::read_to_string(file.path()).map_err(|error| io(&error))?;
    if edited == text {
        return Ok(agent);
    }
    let saved = match form::read(&edited, channels) {
        Ok(spec) => save(store, &agent, spec).await,
        Err(invalid) => Err(invalid.into()),
    };
    saved.map_err(|error| {
        // It holds the user's work.
        if let Ok((_, path)) = file.keep() {
            app.warn(&lang.text_kept(path.display()));
        }
        failure(lang, error)
    })
}

/// Waits until the person is done.
fn open_editor(app: &App, file: &Path) -> Result<()> {
    let lang = app.lang;
    let command = match &app.env.editor {
        Some(command) => command.clone(),
        None if std::io::stdin().is_terminal() => "vi".to_owned(),
        None => {
            let what = lang.editor("EDITOR");
            return Err(Failure::new(what, lang.no_terminal(), lang.set_editor()));
        }
    };
    // As in `code --wait`.
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or_default();
    #[expect(
        clippy::disallowed_methods,
        reason = "the person's own editor, started by the person"
    )]
    let ended = std::process::Command::new(program)
        .args(words)
        .arg(file)
        .status();
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Failure::plain(lang.editor(program), lang.editor_failed())),
        Err(error) => {
            let why = error.to_string();
            Err(Failure::new(lang.editor(program), why, lang.set_editor()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(field: &str, value: &str) -> std::result::Result<AgentSpec, Invalid> {
        assign(&AgentSpec::default(), field, value, &[])
    }

    #[test]
    fn values_are_taken_as_the_field_needs_them() {
        assert_eq!(set("label", "My label").unwrap().label, "My label");
        assert_eq!(set("label", "42").unwrap().label, "42");
        assert_eq!(set("label", "\"42\"").unwrap().label, "42");
        assert_eq!(
            set("compactionThreshold", "42")
                .unwrap()
                .compaction_threshold,
            42
        );
        assert_eq!(
            set("compactionThreshold", "").unwrap().compaction_threshold,
            70
        );
        assert!(set("isCrewMaster", "true").unwrap().is_crew_master);
        assert_eq!(set("skills", r#"["a","b"]"#).unwrap().skills, ["a", "b"]);
        let config = set("modelConfig.temperature", "0.3").unwrap().model_config;
        assert_eq!(config.temperature, Some(0.3));
        let spec = set("toolOverrides.bash.timeoutMs", "5").unwrap();
        assert_eq!(spec.tool_overrides["bash"].timeout_ms, Some(5));
    }

    #[test]
    fn a_mismatch_is_reported_as_it_was_written() {
        let error = set("compactionThreshold", "a lot").unwrap_err().to_string();
        assert!(
            error.contains("compactionThreshold: invalid type"),
            "{error}"
        );
        let error = set("skills", "5").unwrap_err().to_string();
        assert!(error.contains("integer `5`"), "{error}");
        let error = set("modelConfig.modle", "x").unwrap_err().to_string();
        assert!(error.contains("modelConfig.model"), "{error}");
    }
}
