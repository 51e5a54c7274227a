//! `agent list`: a table for people, the records as JSON for programs.

use crate::admin::{explain_choice, failure};
use crate::app::App;
use crate::error::Result;
use crate::table::{self, Cell};
use crate::terminal::one_line;
use crate::text::Lang;
use clap::Args;
use netaclaw_admin::{AdminStore, resolve_model};
use netaclaw_protocol::{Agent, ChannelView};
use std::io::Write;

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Print the agents as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: ListArgs, app: &mut App, store: &dyn AdminStore) -> Result<()> {
    let lang = app.lang;
    let agents = store.agents().await.map_err(|error| failure(lang, error))?;
    if args.json {
        serde_json::to_writer(&mut app.out, &agents).map_err(std::io::Error::from)?;
        return Ok(writeln!(app.out)?);
    }
    let channels = store
        .channels()
        .await
        .map_err(|error| failure(lang, error))?;
    let heads = [lang.name(), lang.label(), lang.default_mark(), lang.model()];
    let rows: Vec<[Cell; 4]> = agents
        .iter()
        .map(|agent| row(lang, agent, &channels))
        .collect();
    table::write(app, heads, &rows)
}

fn row(lang: Lang, agent: &Agent, channels: &[ChannelView]) -> [Cell; 4] {
    let spec = &agent.spec;
    let model = match resolve_model(spec, channels) {
        Ok(plan) => format!("{}, {}", plan.main.channel_name, plan.main.model),
        Err(error) => explain_choice(lang, &error),
    };
    [
        one_line(&spec.name, 64),
        one_line(&spec.label, 40),
        if spec.is_default { "*" } else { "" }.to_owned(),
        one_line(&model, 120),
    ]
}
