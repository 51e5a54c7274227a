//! `channel test`: one small request to the supplier, and its result as readable text.

use crate::admin::failure;
use crate::app::App;
use crate::error::{Failure, Result, in_language};
use crate::terminal::one_line;
use clap::Args;
use netaclaw_admin::AdminStore;
use netaclaw_models::{Channel, ConnectionReport, ModelError, Transport, test_connection};
use netaclaw_protocol::ChannelTest;
use std::io::Write;
use std::sync::Arc;

/// Names that fit a few lines; suppliers have hundreds.
const MODELS_SHOWN: usize = 40;

#[derive(Args, Debug)]
pub(crate) struct TestArgs {
    /// Name of the channel
    #[arg(value_name = "NAME")]
    channel: String,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: TestArgs, app: &mut App, store: &dyn AdminStore) -> Result<()> {
    let lang = app.lang;
    let failed = |error| failure(lang, error);
    let view = store.channel_named(&args.channel).await.map_err(failed)?;
    let channel = Arc::new(store.open_channel(&view.id).await.map_err(failed)?);
    let tested = test_connection(&channel, &Arc::new(Transport::default())).await;
    if args.json {
        write_json(app, &channel.name, &tested)?;
    }
    match tested {
        Ok(report) if !args.json => write_report(app, &channel, &report),
        Ok(_) => Ok(()),
        Err(error) => {
            let name = format!("{} {:?}", lang.channel(), channel.name);
            Err(Failure::plain(name, in_language(lang, error.words())))
        }
    }
}

fn write_report(app: &mut App, channel: &Channel, report: &ConnectionReport) -> Result<()> {
    let lang = app.lang;
    let millis = report.latency.as_millis();
    writeln!(app.out, "{}", lang.test_passed(&channel.name, millis))?;
    if report.models.is_empty() {
        return Ok(writeln!(app.out, "{}", lang.models_not_told())?);
    }
    let shown = report.models.iter().take(MODELS_SHOWN);
    let mut names: Vec<String> = shown.map(|name| one_line(name, 80)).collect();
    if report.models.len() > MODELS_SHOWN {
        names.push("…".to_owned());
    }
    writeln!(app.out, "{}", lang.its_models(names.join(", ")))?;
    let listed = channel.models.iter().map(|model| model.name.as_str());
    let missing: Vec<&str> = listed
        .filter(|name| !report.models.iter().any(|model| model == name))
        .collect();
    if !missing.is_empty() {
        app.warn(&lang.missing_models(missing.join(", ")));
    }
    Ok(())
}

fn write_json(
    app: &mut App,
    channel: &str,
    tested: &std::result::Result<ConnectionReport, ModelError>,
) -> Result<()> {
    let test = match tested {
        Ok(report) => ChannelTest {
            ok: true,
            latency_ms: u64::try_from(report.latency.as_millis()).unwrap_or(u64::MAX),
            models: report.models.clone(),
            message: None,
            trouble: None,
        },
        Err(error) => ChannelTest {
            ok: false,
            latency_ms: 0,
            models: Vec::new(),
            message: Some(in_language(app.lang, error.words())),
            trouble: Some(Box::new(error.channel_trouble(channel))),
        },
    };
    serde_json::to_writer(&mut app.out, &test).map_err(std::io::Error::from)?;
    writeln!(app.out)?;
    // The failure that follows must not come before it.
    Ok(app.out.flush()?)
}
