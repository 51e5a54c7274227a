//! `netaclaw doctor`: looks at everything a server needs, and says what to do where something is
//! missing. Ends with 1 if something has to be mended. Nothing is made or changed.

mod channels;
mod check;
mod data;
mod listen;
mod machine;
mod mcp;
mod report;
mod sessions;
mod settings;
mod store;
mod text;

use crate::app::{App, Outcome};
use crate::error::Result;
use check::{Check, Level};
use clap::Args;

#[derive(Args, Debug)]
pub(crate) struct DoctorArgs {
    /// Do not contact suppliers or MCP servers
    #[arg(long)]
    offline: bool,
    /// Print the checks as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: DoctorArgs, app: &mut App) -> Result<Outcome> {
    let checks = run_checks(app, args.offline).await;
    match args.json {
        true => report::write_json(app, &checks)?,
        false => report::write_lines(app, &checks)?,
    }
    Ok(
        match checks.iter().any(|check| check.level == Level::Fail) {
            true => Outcome::Failed,
            false => Outcome::Done,
        },
    )
}

async fn run_checks(app: &App, offline: bool) -> Vec<Check> {
    let mut checks = settings::variables(app);
    match app.load_config() {
        Ok(config) => {
            checks.extend(settings::file(app, &config));
            checks.extend(data::directory(app, &config));
            checks.extend(data::secrets(app, &config));
            checks.extend(sessions::files(app, &config));
            checks.extend(sessions::database(app, &config).await);
            checks.extend(store::look(app, &config, offline).await);
            checks.extend(listen::look(app, &config).await);
        }
        // Without settings the paths of the other checks are unknown.
        Err(failure) => checks.push(Check::failed("configuration", failure)),
    }
    checks.extend(machine::look(app).await);
    checks
}
