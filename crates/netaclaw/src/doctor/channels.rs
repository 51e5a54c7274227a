//! Whether every agent has a model, and every channel works.

use super::check::{Check, Level};
use crate::admin::{explain_choice, failure};
use crate::app::App;
use crate::error::in_language;
use crate::text::Lang;
use netaclaw_admin::{AdminError, AdminStore, resolve_model};
use netaclaw_models::{
    Channel, ConnectionReport, ModelError, Timeouts, Transport, test_connection,
};
use netaclaw_protocol::{Agent, ChannelId, ChannelStatus, ChannelView};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// A user waits at a terminal.
const PATIENCE: Timeouts = Timeouts {
    connect: Duration::from_secs(5),
    first_byte: Duration::from_secs(15),
    idle: Duration::from_secs(15),
};

pub(super) async fn look(app: &App, store: &dyn AdminStore, offline: bool) -> Vec<Check> {
    match read(store).await {
        Ok((agents, channels)) => {
            let (mut checks, used) = models_of(app.lang, &agents, &channels);
            checks.extend(test_all(app.lang, store, &channels, &used, offline).await);
            checks
        }
        Err(error) => vec![Check::failed("admin_store", failure(app.lang, error))],
    }
}

async fn read(store: &dyn AdminStore) -> Result<(Vec<Agent>, Vec<ChannelView>), AdminError> {
    Ok((store.agents().await?, store.channels().await?))
}

/// Whether each agent has a model to ask, and the channels of those that do.
fn models_of(
    lang: Lang,
    agents: &[Agent],
    channels: &[ChannelView],
) -> (Vec<Check>, BTreeSet<ChannelId>) {
    let mut used = BTreeSet::new();
    let check = |agent: &Agent| {
        let what = format!("{} {}", lang.agent(), agent.spec.name);
        let todo = lang.see_channels();
        let plan = match resolve_model(&agent.spec, channels) {
            Ok(plan) => plan,
            Err(error) => {
                return Check::fail("agent", what, explain_choice(lang, &error), todo);
            }
        };
        used.insert(plan.main.channel_id.clone());
        used.extend(plan.fallback.map(|choice| choice.channel_id));
        match plan.fallback_error {
            Some(error) => Check::warn("agent", what, explain_choice(lang, &error), todo),
            None => {
                let uses = lang.uses(&plan.main.channel_name, &plan.main.model);
                Check::ok("agent", what, uses)
            }
        }
    };
    let checks = agents.iter().map(check).collect();
    (checks, used)
}

/// All at once, so that the slowest one decides how long it takes.
async fn test_all(
    lang: Lang,
    store: &dyn AdminStore,
    channels: &[ChannelView],
    used: &BTreeSet<ChannelId>,
    offline: bool,
) -> Vec<Check> {
    let transport = Arc::new(Transport::new(PATIENCE));
    let mut tests = JoinSet::new();
    let mut checks = Vec::with_capacity(channels.len());
    for (at, view) in channels.iter().enumerate() {
        let what = format!("{} {}", lang.channel(), view.spec.name);
        if view.spec.status == ChannelStatus::Disabled {
            checks.push((at, Check::info("channel", what, lang.disabled())));
            continue;
        }
        let channel = match store.open_channel(&view.id).await {
            Ok(channel) => Arc::new(channel),
            Err(error) => {
                let check = Check::failed("channel", failure(lang, error));
                checks.push((at, severity(check, used.contains(&view.id))));
                continue;
            }
        };
        if offline {
            checks.push((at, Check::info("channel", what, lang.not_asked())));
            continue;
        }
        let transport = Arc::clone(&transport);
        tests.spawn(async move {
            let tested = test_connection(&channel, &transport).await;
            (at, channel, tested)
        });
    }
    while let Some(ended) = tests.join_next().await {
        let Ok((at, channel, tested)) = ended else {
            continue;
        };
        let is_used = used.contains(&channels[at].id);
        checks.push((at, severity(judged(lang, &channel, tested), is_used)));
    }
    checks.sort_by_key(|(at, _)| *at);
    checks.into_iter().map(|(_, check)| check).collect()
}

fn judged(lang: Lang, channel: &Channel, tested: Result<ConnectionReport, ModelError>) -> Check {
    let what = format!("{} {}", lang.channel(), channel.name);
    match tested {
        Ok(report) => {
            let listed = channel.models.iter().map(|model| model.name.as_str());
            let missing: Vec<&str> = listed
                .filter(|name| {
                    !report.models.is_empty() && !report.models.iter().any(|m| m == name)
                })
                .collect();
            match missing.is_empty() {
                true => Check::ok("channel", what, lang.answered(report.latency.as_millis())),
                false => Check::warn(
                    "channel",
                    what,
                    lang.missing_models(missing.join(", ")),
                    lang.see_channel_test(&channel.name),
                ),
            }
        }
        Err(error) => Check::fail(
            "channel",
            what,
            in_language(lang, error.words()),
            lang.see_channel_test(&channel.name),
        ),
    }
}

/// A channel without agents affects no run.
fn severity(check: Check, is_used: bool) -> Check {
    match (check.level, is_used) {
        (Level::Fail, false) => check.at(Level::Warn),
        _ => check,
    }
}
