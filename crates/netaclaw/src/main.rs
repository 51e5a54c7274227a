//! The NetaClaw binary: command line, configuration, wiring.

mod admin;
mod agent;
mod app;
mod approval;
mod assemble;
mod backup;
mod channel;
mod chat;
mod cli;
mod config;
mod doctor;
mod error;
mod help;
mod hidden;
mod json;
mod mcp;
mod serve;
mod session;
mod shipped;
mod skill;
mod table;
mod terminal;
mod text;
mod tool;
mod usage;

use app::{App, Outcome, say};
use cli::{Cli, Command};
use config::{Environment, Flags};
use error::{Failure, Result};
use netaclaw_tools::spawn::{GUARD_ARG, guard_main};
use rustix::process::Signal;
use serve::ServeArgs;
use std::io::Write;
use std::process::ExitCode;
use text::Lang;
use tokio::signal::unix::{SignalKind, signal};

/// The system's allocator has an arena for each thread and gives little of it back, so that a
/// server kept the memory of its busiest moment.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Before anything else: a guard has neither settings nor words.
    if std::env::args_os()
        .nth(1)
        .is_some_and(|arg| arg == GUARD_ARG)
    {
        return guard_main();
    }
    let env = Environment::read();
    let lang = cli::language().unwrap_or_else(|| Lang::of_locale(env.language.as_deref()));
    let cli = match cli::parse(lang, env.no_color) {
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
    let mut app = App::new(lang, flags, env);
    // Started without a command, NetaClaw is a server.
    let command = cli.command.unwrap_or(Command::Serve(ServeArgs::default()));
    let is_server = matches!(command, Command::Serve(_));
    let mut runtime = match is_server {
        true => tokio::runtime::Builder::new_multi_thread(),
        // Commands do one thing after the other; one thread is the quickest to start.
        false => tokio::runtime::Builder::new_current_thread(),
    };
    let runtime = runtime.enable_all().build();
    let runtime = runtime.map_err(|error| Failure::plain("runtime", error.to_string()))?;
    let outcome = runtime.block_on(run_command(command, &mut app));
    // A terminal chat leaves a thread behind that waits for input that will not come.
    runtime.shutdown_background();
    let outcome = outcome?;
    match app.out.flush() {
        // A server does its work without an output.
        Err(_) if is_server => {}
        flushed => flushed?,
    }
    Ok(outcome)
}

/// A write beyond the file size limit must fail with an error, which is handled, instead of ending
/// the process. A handler of our own replaces the default action for good.
fn survive_file_size_limit() {
    let kind = SignalKind::from_raw(Signal::XFSZ.as_raw());
    if let Err(error) = signal(kind) {
        say(&format!("SIGXFSZ: {error}"));
    }
}

async fn run_command(command: Command, app: &mut App) -> Result<Outcome> {
    survive_file_size_limit();
    match command {
        Command::Serve(args) => serve::run(args, app).await,
        Command::Link(args) => serve::print_link(&args, app),
        Command::Chat(args) => chat::run(args, app).await,
        Command::Session { command } => session::run(command, app).await,
        Command::Channel { command } => channel::run(command, app).await,
        Command::Agent { command } => agent::run(command, app).await,
        Command::Tool { command } => tool::run(command, app).await,
        Command::Mcp { command } => mcp::run(command, app).await,
        Command::Approval { command } => approval::run(command, app).await,
        Command::Skill { command } => skill::run(command, app).await,
        Command::Backup(args) => backup::run(args, app).await,
        Command::Restore(args) => backup::restore::run(args, app).await,
        Command::Doctor(args) => doctor::run(args, app).await,
    }
}
