//! `channel list`: a table for people, the records as JSON for programs. Neither has a key in it.

use crate::admin::failure;
use crate::app::App;
use crate::error::Result;
use crate::table::{self, Cell};
use crate::terminal::one_line;
use crate::text::Lang;
use clap::Args;
use netaclaw_admin::AdminStore;
use netaclaw_models::supplier;
use netaclaw_protocol::{ChannelStatus, ChannelView};
use std::io::Write;

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Print the channels as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: ListArgs, app: &mut App, store: &dyn AdminStore) -> Result<()> {
    let lang = app.lang;
    let channels = store
        .channels()
        .await
        .map_err(|error| failure(lang, error))?;
    if args.json {
        serde_json::to_writer(&mut app.out, &channels).map_err(std::io::Error::from)?;
        return Ok(writeln!(app.out)?);
    }
    if channels.is_empty() {
        return Ok(writeln!(app.out, "{}", lang.no_channels())?);
    }
    let heads = [
        lang.name(),
        lang.supplier(),
        lang.status(),
        lang.for_what(),
        lang.key_word(),
        lang.models_word(),
        lang.address(),
    ];
    let rows: Vec<[Cell; 7]> = channels.iter().map(|channel| row(lang, channel)).collect();
    table::write(app, heads, &rows)
}

fn row(lang: Lang, channel: &ChannelView) -> [Cell; 7] {
    let spec = &channel.spec;
    let first = spec.models.first().map(|model| one_line(&model.name, 40));
    let models = match (first, spec.models.len()) {
        (Some(first), 1) => first,
        (Some(first), count) => match lang {
            Lang::En => lang.and_more(first, count - 1),
            Lang::Zh => lang.and_more(first, count),
        },
        (None, _) => "–".to_owned(),
    };
    let key = match (&channel.api_key_last4, channel.api_key_set) {
        (Some(last4), _) => lang.key_set(one_line(last4, 8)),
        (None, true) => lang.key_is_set(),
        (None, false) => "–".to_owned(),
    };
    let address = match spec.base_url.as_deref() {
        Some(url) => url,
        None => supplier(spec.supplier).base_url,
    };
    [
        one_line(&spec.name, 64),
        spec.supplier.as_str().to_owned(),
        match spec.status {
            ChannelStatus::Enabled => lang.enabled(),
            ChannelStatus::Disabled => lang.disabled(),
        },
        match spec.is_auxiliary {
            true => lang.auxiliary(),
            false => lang.answers(),
        },
        key,
        models,
        one_line(address, 100),
    ]
}
