//! `bash`: a command of the shell, locked into the workspace.

mod bounded_output;
mod live;
mod watch;

use crate::context::ToolContext;
use crate::output::ToolOutput;
use crate::spawn::{ChildOutput, Program, SpawnError, Started};
use crate::tool::{Call, TypedTool};
use crate::update::{ProcessUpdate, ToolUpdate};
use async_trait::async_trait;
use netaclaw_governance::{Concurrency, EgressTarget, ToolManifest, WorkerUse};
use netaclaw_protocol::{ProcessLevel, ToolCategory, ToolLabel, ToolRisk, ToolStatus};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use watch::{CommandWatch, watch};

const SECONDS_DEFAULT: u64 = 120;
const SECONDS_MAX: u64 = 3600;
/// The kernel takes no argument that is longer than 128 KiB.
const COMMAND_BYTES_MAX: usize = 120 << 10;
/// In the order they are tried.
const SHELLS: [(&str, &[&str]); 2] = [("bash", &["--noprofile", "--norc", "-c"]), ("sh", &["-c"])];

/// Runs shell commands.
#[derive(Clone, Copy, Debug)]
pub struct Bash;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BashInput {
    /// Shell command. Can have several lines.
    command: String,
    /// Directory to run it in, relative to the workspace. Default: the workspace.
    #[serde(default)]
    cwd: Option<String>,
    /// Timeout in seconds, after which the command is killed. Default: 120.
    #[serde(default)]
    #[schemars(range(min = 1, max = 3600))]
    timeout: Option<u64>,
}

#[async_trait]
impl TypedTool for Bash {
    type Input = BashInput;

    fn manifest(&self) -> ToolManifest {
        ToolManifest {
            name: "bash".to_owned(),
            label: ToolLabel {
                zh: "运行命令".to_owned(),
                en: "Run command".to_owned(),
            },
            description: "Runs a command with bash and returns its output (standard output and \
                          standard error combined, in order) and its exit code. It can write only \
                          to the workspace and to temporary directories, usually has no network \
                          access, and has no input and no terminal. Every call starts a new \
                          shell. When the command ends, its background processes are killed."
                .into(),
            guidance: "Use `bash` to build, test and run programs; prefer the other tools for \
                       reading, searching and changing files."
                .to_owned(),
            category: ToolCategory::Shell,
            schema: Value::Null.into(),
            risk: ToolRisk::Exec,
            default_status: ToolStatus::Enabled,
            worker: WorkerUse::Proxy,
            needs: Vec::new(),
            timeout: Some(Duration::from_secs(SECONDS_MAX + 10)),
            output_cap: 32 << 10,
            concurrency: Concurrency::Exclusive,
            outlet: EgressTarget::Programs,
        }
    }

    async fn run(&self, call: Call<BashInput>, context: ToolContext) -> ToolOutput {
        let output_cap = call.output_cap();
        let input = call.into_input();
        match begin(&input, &context).await {
            Ok((started, output)) => {
                let seconds = input.timeout.unwrap_or(SECONDS_DEFAULT);
                let limits = CommandWatch {
                    time: Duration::from_secs(seconds.clamp(1, SECONDS_MAX)),
                    output_cap,
                };
                watch(started, output, limits, &context).await
            }
            Err(why) => ToolOutput::error(why),
        }
    }
}

type Pipe = tokio::net::unix::pipe::Receiver;

/// Starts the command; `Err` is for the model to read.
async fn begin(
    input: &BashInput,
    context: &ToolContext,
) -> Result<(crate::spawn::ChildProcess, Pipe), String> {
    if context.cancel.is_cancelled() {
        return Err("The command was not started.".to_owned());
    }
    if input.command.len() > COMMAND_BYTES_MAX {
        return Err(format!(
            "The command is too long: {} bytes, and the limit is {COMMAND_BYTES_MAX}. Write it to \
             a file first, then run the file.",
            input.command.len()
        ));
    }
    let cwd = directory(input.cwd.clone(), context).await?;
    let Started {
        process, output, ..
    } = start(&input.command, cwd, context)
        .await
        .map_err(|error| sentence(&error))?;
    let ChildOutput::Merged(output) = output else {
        unreachable!("both were asked to come through one pipe");
    };
    if process.sandbox().landlock.is_none() {
        context.updates.send(ToolUpdate::Process(ProcessUpdate {
            level: ProcessLevel::Warning,
            message: "The command runs without a sandbox: this machine does not support it."
                .to_owned(),
            ..ProcessUpdate::default()
        }));
    }
    Ok((process, output))
}

async fn directory(cwd: Option<String>, context: &ToolContext) -> Result<PathBuf, String> {
    let workspace = context.workspace.clone();
    let Some(cwd) = cwd.filter(|cwd| !cwd.is_empty()) else {
        return Ok(workspace.root().to_owned());
    };
    let look = move || match workspace.open_dir(&cwd) {
        Ok(_) => workspace
            .root()
            .join(&cwd)
            .canonicalize()
            .map_err(|_| format!("`{cwd}` does not exist.")),
        Err(error) => Err(error.to_string()),
    };
    crate::execute::blocking(look).await
}

async fn start(command: &str, cwd: PathBuf, context: &ToolContext) -> Result<Started, SpawnError> {
    let mut last = None;
    for (shell, flags) in SHELLS {
        let flags = flags.iter().map(|flag| (*flag).to_owned());
        let program = Program {
            program: shell.to_owned(),
            args: flags.chain([command.to_owned()]).collect(),
            cwd: cwd.clone(),
            env: BTreeMap::new(),
            takes_input: false,
            merged: true,
        };
        match context.spawner.start(program, &context.workspace).await {
            Err(error @ SpawnError::NotFound(_)) => last = Some(error),
            started => return started,
        }
    }
    Err(last.expect("there is at least one shell to try"))
}

fn sentence(error: &SpawnError) -> String {
    if let SpawnError::Io(cause) = error {
        tracing::warn!(%cause, "failed to start a command");
    }
    format!("The command was not run: {error}.")
}
