//! An agent as text that people edit: TOML, with channels by their names.

use crate::text::Lang;
use netaclaw_admin::{Invalid, Problem, apply_patch};
use netaclaw_protocol::{Agent, AgentSpec, ChannelId, ChannelView};
use serde_json::{Map, Value};

/// The text to edit; `None` if the agent holds something TOML has no word for.
pub(super) fn write(lang: Lang, agent: &Agent, channels: &[ChannelView]) -> Option<String> {
    let mut spec = agent.spec.clone();
    each_channel(&mut spec, |id| {
        let known = channels.iter().find(|channel| channel.id == *id);
        known.map_or_else(|| id.clone(), |known| ChannelId::new(&known.spec.name))
    });
    let body = toml::to_string_pretty(&spec).ok()?;
    let head = lang.form_head(&agent.spec.name, agent.stamp.rev);
    let absent = lang.form_absent(absent(&spec).join(", "));
    let text = format!("# {head}\n# {absent}\n\n{body}");
    // What cannot be read back as it is would be lost by saving it.
    let same = read(&text, channels).is_ok_and(|spec| spec == agent.spec);
    same.then_some(text)
}

/// The agent that a text describes.
pub(super) fn read(text: &str, channels: &[ChannelView]) -> Result<AgentSpec, Invalid> {
    let fields: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map_or(1, |span| {
            1 + text.as_bytes()[..span.start.min(text.len())]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count()
        });
        let detail = error.message().to_owned();
        Invalid::new(format!("line {line}"), Problem::Unreadable { detail })
    })?;
    let unreadable = |error: serde_json::Error| Problem::Unreadable {
        detail: error.to_string(),
    };
    let fields =
        serde_json::to_value(fields).map_err(|error| Invalid::new("text", unreadable(error)))?;
    let fields = fields.as_object().cloned().unwrap_or_default();
    from_patch(&AgentSpec::default(), &fields, channels)
}

/// An agent with a patch applied, in which channels may be named instead of their ids.
pub(super) fn from_patch(
    spec: &AgentSpec,
    patch: &Map<String, Value>,
    channels: &[ChannelView],
) -> Result<AgentSpec, Invalid> {
    let mut patched = apply_patch(spec, patch)?;
    each_channel(&mut patched, |name| {
        let is_known = channels.iter().any(|channel| channel.id == *name);
        let named = channels
            .iter()
            .find(|channel| channel.spec.name == name.as_str());
        match named {
            Some(channel) if !is_known => channel.id.clone(),
            _ => name.clone(),
        }
    });
    Ok(patched)
}

fn each_channel(spec: &mut AgentSpec, change: impl Fn(&ChannelId) -> ChannelId) {
    let config = &mut spec.model_config;
    let fallback = config
        .fallback
        .as_mut()
        .map(|fallback| &mut fallback.channel_id);
    let ids = config
        .channel_id
        .iter_mut()
        .chain(fallback)
        .chain(&mut spec.auxiliary_model_channel_id);
    for id in ids {
        *id = change(id);
    }
}

/// The unset fields, so that users can find them.
fn absent(spec: &AgentSpec) -> Vec<String> {
    fn collect(value: &Value, prefix: &str, found: &mut Vec<String>) {
        for (name, value) in value.as_object().into_iter().flatten() {
            match value {
                Value::Null => found.push(format!("{prefix}{name}")),
                // The names of tools are not fields.
                Value::Object(_) if name == "toolOverrides" => {}
                _ => collect(value, &format!("{prefix}{name}."), found),
            }
        }
    }
    let mut found = Vec::new();
    collect(
        &serde_json::to_value(spec).unwrap_or_default(),
        "",
        &mut found,
    );
    found
}

#[cfg(test)]
mod tests;
