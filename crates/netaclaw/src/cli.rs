//! The command line: its grammar, and errors in it.

use crate::agent::AgentCommand;
use crate::app::say;
use crate::approval::ApprovalCommand;
use crate::backup::BackupArgs;
use crate::backup::restore::RestoreArgs;
use crate::channel::ChannelCommand;
use crate::chat::ChatArgs;
use crate::doctor::DoctorArgs;
use crate::help::{chinese_notes, in_chinese};
use crate::mcp::McpCommand;
use crate::serve::{LinkArgs, ServeArgs};
use crate::session::SessionCommand;
use crate::skill::SkillCommand;
use crate::text::Lang;
use crate::tool::ToolCommand;
use crate::usage::mistake;
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// The heading of the options that every command has.
const GLOBAL: &str = "Global options";

/// Run a self-hosted agent engine
#[derive(Debug, Parser)]
#[command(name = "netaclaw", version, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// Data directory [NETACLAW_DATA_DIR; default: ~/.netaclaw]
    #[arg(long, global = true, value_name = "DIR", help_heading = GLOBAL)]
    pub(crate) data_dir: Option<PathBuf>,
    /// Configuration file [NETACLAW_CONFIG; default: DATA_DIR/config.toml]
    #[arg(long, global = true, value_name = "FILE", help_heading = GLOBAL)]
    pub(crate) config: Option<PathBuf>,
    /// Language of messages; the default is that of the locale
    #[arg(long, global = true, value_enum, help_heading = GLOBAL)]
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
    /// List, show, export, import, copy and delete sessions
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

/// The language that the arguments ask for. It is read before all else, as help and mistakes are
/// written in it.
pub(crate) fn language() -> Option<Lang> {
    let mut arguments = std::env::args_os().take_while(|argument| argument != "--");
    let mut value = None;
    while let Some(argument) = arguments.next() {
        if argument == "--lang" {
            value = arguments.next();
        } else if let Some(given) = argument.to_str().and_then(|a| a.strip_prefix("--lang=")) {
            value = Some(given.into());
        }
    }
    Lang::from_str(value?.to_str()?, false).ok()
}

/// What the arguments ask for, or how the program ends if they ask for nothing that can be done.
pub(crate) fn parse(lang: Lang, no_color: bool) -> Result<Cli, ExitCode> {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    command(lang)
        .try_get_matches_from(&arguments)
        .and_then(|matches| Cli::from_arg_matches(&matches))
        .map_err(|error| answer(&error, &arguments, lang, no_color))
}

fn command(lang: Lang) -> clap::Command {
    match lang {
        Lang::En => Cli::command(),
        Lang::Zh => in_chinese(Cli::command()),
    }
}

/// Help and version go to the output; a mistake is one line that says where to read on.
fn answer(error: &clap::Error, arguments: &[OsString], lang: Lang, no_color: bool) -> ExitCode {
    let write_help = |out: &mut dyn Write, with_style: bool| {
        let help = error.render();
        let help = match with_style {
            true => help.ansi().to_string(),
            false => help.to_string(),
        };
        let help = match lang {
            Lang::En => help,
            Lang::Zh => chinese_notes(&help),
        };
        // A reader that has closed the pipe, as in `| head`, is not a failure.
        out.write_all(help.as_bytes()).unwrap_or_default();
    };
    let with_style = |is_terminal: bool| is_terminal && !no_color;
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let mut out = std::io::stdout();
            let with_style = with_style(out.is_terminal());
            write_help(&mut out, with_style);
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let mut out = std::io::stderr();
            let with_style = with_style(out.is_terminal());
            write_help(&mut out, with_style);
            ExitCode::from(2)
        }
        _ => {
            let mistake = mistake(lang, error);
            // A suggestion says all that is to be done.
            match mistake.ends_with(['?', '？']) {
                true => say(&mistake),
                false => {
                    let help = lang.see_help(command_name(arguments));
                    say(&lang.and_then(mistake, help));
                }
            }
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
