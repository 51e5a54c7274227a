//! The NetaClaw binary: command line, configuration, wiring.

mod app;
mod cli;
mod config;
mod error;
mod help;
mod json;
mod session;
mod terminal;
mod text;

use app::{App, Outcome, say};
use cli::{Cli, Command};
use config::{Environment, Flags};
use error::{Failure, Result};
use std::io::Write;
use std::process::ExitCode;
use text::Lang;

fn main() -> ExitCode {
    let env = Environment::read();
    let lang = Lang::of_locale(env.language.as_deref());
    let cli = match cli::parse(lang) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    match run(cli, env, lang) {
        Ok(Outcome::Done) | Err(Failure::ReaderGone) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::FAILURE,
        Ok(Outcome::Damaged) => ExitCode::from(2),
        Err(failure) => {
            say(&failure.to_string());
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli, env: Environment, lang: Lang) -> Result<Outcome> {
    let flags = Flags {
        data_dir: cli.data_dir,
        config: cli.config,
        provider: None,
    };
    let lang = cli.lang.unwrap_or(lang);
    let mut app = App::new(lang, flags, env);
    let outcome = match cli.command {
        None => {
            write!(app.out, "{}", cli::help(lang))?;
            Outcome::Done
        }
        Some(Command::Session { command }) => {
            // Commands do one thing after the other; one thread is the quickest to start.
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let runtime = runtime.map_err(|error| Failure::plain("runtime", error.to_string()))?;
            runtime.block_on(session::run(command, &mut app))?
        }
    };
    app.out.flush()?;
    Ok(outcome)
}
