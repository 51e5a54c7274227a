//! The command line: its grammar, and errors in it.

use crate::agent::AgentCommand;
use crate::app::say;
use crate::approval::ApprovalCommand;
use crate::backup::BackupArgs;
use crate::backup::restore::RestoreArgs;
use crate::channel::ChannelCommand;
use crate::chat::ChatArgs;
use crate::doctor::DoctorArgs;
use crate::help::in_chinese;
use crate::mcp::McpCommand;
use crate::serve::{LinkArgs, ServeArgs};
use crate::session::SessionCommand;
use crate::skill::SkillCommand;
use crate::text::Lang;
use crate::tool::ToolCommand;
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Run a self-hosted agent engine
#[derive(Debug, Parser)]
#[command(name = "netaclaw", version, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// Data directory [NETACLAW_DATA_DIR; default: ~/.netaclaw]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Configuration file [NETACLAW_CONFIG; default: DATA_DIR/config.toml]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Language of messages; the default is that of the locale
    #[arg(long, global = true, value_enum)]
    pub(crate) lang: Option<Lang>,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start the server (the default command)
    Serve(ServeArgs),
    /// Print a login link for the first administrator
    Link(LinkArgs),
    /// Chat with an agent in the terminal
    Chat(ChatArgs),
    /// Show, export, import and copy sessions
    Session {
        #[command(subcommand)]
        command: SessionCommand,
    },
    /// Manage channels to model suppliers
    Channel {
        #[command(subcommand)]
        command: ChannelCommand,
    },
    /// Show and change agents
    Agent {
        #[command(subcommand)]
        command: AgentCommand,
    },
    /// Show tools, and enable or disable them for all agents
    Tool {
        #[command(subcommand)]
        command: ToolCommand,
    },
    /// Manage MCP servers, and offer tools as one
    Mcp {
        #[command(subcommand)]
        command: McpCommand,
    },
    /// List and revoke standing approvals
    Approval {
        #[command(subcommand)]
        command: ApprovalCommand,
    },
    /// Create, check and run skills
    Skill {
        #[command(subcommand)]
        command: SkillCommand,
    },
    /// Back up the data directory, even while the server runs
    Backup(BackupArgs),
    /// Verify a backup and restore it into an empty data directory
    Restore(RestoreArgs),
    /// Check the installation and suggest fixes
    Doctor(DoctorArgs),
}

/// What the arguments ask for, or how the program ends if they ask for nothing that can be done.
pub(crate) fn parse(lang: Lang) -> Result<Cli, ExitCode> {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    command(lang)
        .try_get_matches_from(&arguments)
        .and_then(|matches| Cli::from_arg_matches(&matches))
        .map_err(|error| answer(&error, &arguments, lang))
}

fn command(lang: Lang) -> clap::Command {
    match lang {
        Lang::En => Cli::command(),
        Lang::Zh => in_chinese(Cli::command()),
    }
}

/// Help and version go to the output; a mistake is one line that says where to read on.
fn answer(error: &clap::Error, arguments: &[OsString], lang: Lang) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // A reader that has closed the pipe, as in `| head`, is not a failure.
            error.print().unwrap_or_default();
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            error.print().unwrap_or_default();
            ExitCode::from(2)
        }
        _ => {
            let text = error.render().to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text);
            // The first paragraph says it all, at times in several lines; a later one may guess
            // what was meant.
            let tip = text
                .split("\n\n")
                .find(|part| part.trim_start().starts_with("tip:"));
            let said = text
                .split("\n\n")
                .take(1)
                .chain(tip)
                .collect::<Vec<_>>()
                .join("; ");
            let words: Vec<&str> = said.split_whitespace().collect();
            let command = command_name(arguments);
            let line = format!(
                "{}: {}; {}",
                lang.usage_word(),
                words.join(" "),
                lang.see_help(command)
            );
            say(&line);
            ExitCode::from(2)
        }
    }
}

/// The command as far as it is one, e.g. `netaclaw session show`.
fn command_name(arguments: &[OsString]) -> String {
    let mut spoken = String::from("netaclaw");
    let mut command = Cli::command();
    for argument in arguments.iter().skip(1) {
        let Some(found) = command.find_subcommand(argument).cloned() else {
            continue;
        };
        spoken.push(' ');
        spoken.push_str(found.get_name());
        command = found;
    }
    spoken
}
