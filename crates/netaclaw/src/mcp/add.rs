//! `mcp add`: creates a server, or changes the one of that name. Secrets come from variables and
//! are never arguments, which all users of the machine could read.

use crate::admin::option_failure;
use crate::app::App;
use crate::error::{Failure, Result};
use crate::text::Lang;
use clap::Args;
use netaclaw_admin::{Actor, AdminError, AdminStore, Expect, McpSecrets, McpSecretsChange};
use netaclaw_protocol::{
    McpServerSpec, McpTransport, MissingSandbox, SandboxConfig, ToolChoice, ToolStatus,
};
use std::io::Write;

#[derive(Args, Debug)]
pub(crate) struct AddArgs {
    /// Name of the server; also a part of the names of its tools
    #[arg(value_name = "NAME")]
    server: String,
    /// Address of an HTTP server
    #[arg(long, value_name = "URL", conflicts_with = "program")]
    url: Option<String>,
    /// Pass an environment variable to the program; repeatable
    ///
    /// The value is read from the variable of the same name, or from VARIABLE
    #[arg(long = "env", value_name = "NAME[=VARIABLE]")]
    variables: Vec<String>,
    /// Send a header whose value is in VARIABLE; repeatable
    #[arg(long = "header", value_name = "NAME=VARIABLE")]
    headers: Vec<String>,
    /// Let the program write to a directory; repeatable
    ///
    /// The program runs in the first one
    #[arg(long = "root", value_name = "DIR")]
    roots: Vec<String>,
    /// Let the program use the network
    #[arg(long)]
    network: bool,
    /// Start the program even if the machine does not support the sandbox
    #[arg(long)]
    without_sandbox: bool,
    /// Offer only this tool; a final * matches any ending; repeatable
    #[arg(long = "tool", value_name = "TOOL")]
    tools: Vec<String>,
    /// Timeout of a tool call
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    timeout: u64,
    /// Add the server as disabled
    #[arg(long)]
    disabled: bool,
    /// Program and arguments of a local server
    #[arg(last = true, value_name = "COMMAND")]
    program: Vec<String>,
}

/// What is to be done, all arguments understood.
pub(crate) struct Addition {
    spec: McpServerSpec,
    secrets: McpSecrets,
}

impl AddArgs {
    pub(super) fn read(&self, lang: Lang) -> Result<Addition> {
        let transport = match (&self.url, self.program.split_first()) {
            (Some(url), None) => McpTransport::Http { url: url.clone() },
            (None, Some((command, args))) => McpTransport::Stdio {
                command: command.clone(),
                args: args.to_vec(),
            },
            _ => return Err(Failure::plain(lang.mcp_server(), lang.mcp_needs_target())),
        };
        let named = self.variables.iter().chain(&self.headers);
        Ok(Addition {
            secrets: named
                .map(|named| secret(named, lang))
                .collect::<Result<_>>()?,
            spec: McpServerSpec {
                name: self.server.clone(),
                transport,
                status: match self.disabled {
                    true => ToolStatus::Disabled,
                    false => ToolStatus::Enabled,
                },
                tools: ToolChoice {
                    enabled: self.tools.clone(),
                    disabled: Vec::new(),
                },
                sandbox: SandboxConfig {
                    network: self.network,
                    missing: match self.without_sandbox {
                        true => MissingSandbox::Warn,
                        false => MissingSandbox::Refuse,
                    },
                },
                roots: self.roots.clone(),
                timeout_ms: self.timeout.saturating_mul(1000),
            },
        })
    }
}

fn secret(named: &str, lang: Lang) -> Result<(String, secrecy::SecretString)> {
    let (name, variable) = named.split_once('=').unwrap_or((named, named));
    match std::env::var(variable) {
        Ok(value) if !value.is_empty() => Ok((name.to_owned(), value.into())),
        _ => Err(Failure::new(
            name,
            lang.variable_not_set(variable),
            lang.mcp_set_variable(variable),
        )),
    }
}

impl Addition {
    pub(super) async fn run(self, app: &mut App, store: &dyn AdminStore) -> Result<()> {
        let lang = app.lang;
        let name = self.spec.name.clone();
        let put = self.put(store).await;
        put.map_err(|error| option_failure(lang, error, &[("transport.url", "--url")]))?;
        Ok(writeln!(app.out, "{}", lang.mcp_added(name))?)
    }

    async fn put(self, store: &dyn AdminStore) -> std::result::Result<(), AdminError> {
        let by = Actor::command_line();
        match store.mcp_server_named(&self.spec.name).await {
            Ok(known) => {
                // Changing another field must not require the secrets again.
                let secrets = match self.secrets.is_empty() {
                    true => McpSecretsChange::Keep,
                    false => McpSecretsChange::Set(
                        self.secrets
                            .into_iter()
                            .map(|(name, value)| (name, Some(value)))
                            .collect(),
                    ),
                };
                store
                    .update_mcp_server(&by, &known.id, Expect::Any, self.spec, secrets)
                    .await?;
            }
            Err(AdminError::NotFound { .. }) => {
                store
                    .create_mcp_server(&by, self.spec, self.secrets)
                    .await?;
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}
