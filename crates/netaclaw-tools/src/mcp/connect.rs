//! A connection to a server, by its standard input and output or by HTTP.

use super::bounded::{BoundedLines, MESSAGE_BYTES_MAX, StrayOutput, TooBig};
use super::fault::fault;
use super::handler::Handler;
use super::http::BoundedHttp;
use super::stderr_tail::StderrTail;
use crate::spawn::{
    ChildOutput, ChildProcess, Confinement, Limits, Program, SpawnError, SpawnGate, Started,
};
use netaclaw_protocol::{McpFault, McpFaultCode, McpServerSpec, McpTransport};
use rmcp::service::{ClientInitializeError, Peer, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransportConfig, StreamableHttpError,
};
use rmcp::{RoleClient, ServiceExt};
use secrecy::{ExposeSecret, SecretString};
use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::task::AbortOnDropHandle;

/// A server says hello within this time. The first start of some of them downloads something.
const HELLO_MAX: Duration = Duration::from_secs(60);
const REACH_MAX: Duration = Duration::from_secs(10);

/// A server as it is configured, with what is secret about it.
#[derive(Clone, Debug)]
pub struct McpAccess {
    pub spec: McpServerSpec,
    /// Environment of a program, or headers of requests. `None` if they cannot be decrypted.
    pub secrets: Option<BTreeMap<String, SecretString>>,
}

/// What calls use of a server that has said hello.
pub(super) struct Connection {
    pub(super) peer: Peer<RoleClient>,
    pub(super) handler: Handler,
    /// A call has found that the connection is dead.
    pub(super) found_dead: Notify,
    last_words: StderrTail,
    is_program: bool,
    pub(super) too_big: TooBig,
}

/// What keeps the connection. Dropped, it ends, and the program with it.
pub(super) struct ConnectionGuard {
    pub(super) service: RunningService<RoleClient, Handler>,
    pub(super) program: Option<Running>,
}

pub(super) struct Running {
    _process: ChildProcess,
    _listener: AbortOnDropHandle<()>,
}

impl Connection {
    pub(super) async fn open(
        access: &McpAccess,
        gate: &SpawnGate,
    ) -> Result<(Self, ConnectionGuard), McpFault> {
        let Some(secrets) = &access.secrets else {
            return Err(fault(McpFaultCode::Sealed, ""));
        };
        let chatter = StrayOutput::default();
        let opening = async {
            match &access.spec.transport {
                McpTransport::Stdio { command, args } => {
                    let started = start(&access.spec, command, args, secrets, gate).await?;
                    Self::over_pipes(started, chatter.clone()).await
                }
                McpTransport::Http { url } => Self::over_http(url, secrets).await,
            }
        };
        let opened = tokio::time::timeout(HELLO_MAX, opening).await;
        opened.unwrap_or_else(|_| {
            let waited = format!("{} s", HELLO_MAX.as_secs());
            Err(match chatter.last() {
                Some(said) => fault(McpFaultCode::NotUnderstood, said),
                None => fault(McpFaultCode::Silent, waited),
            })
        })
    }

    async fn over_pipes(
        started: Started,
        chatter: StrayOutput,
    ) -> Result<(Self, ConnectionGuard), McpFault> {
        let Started {
            process,
            input: Some(input),
            output: ChildOutput::Separate { stdout, stderr },
        } = started
        else {
            return Err(fault(McpFaultCode::NotStarted, "its pipes are missing"));
        };
        let (last_words, listener) = StderrTail::listen(stderr);
        let handler = Handler::default();
        let too_big = TooBig::default();
        let rest = stdout.as_fd().try_clone_to_owned();
        let stdout = BoundedLines::new(stdout, too_big.clone(), chatter.clone());
        let service = match handler.clone().serve((stdout, input)).await {
            Ok(service) => service,
            Err(_) if too_big.is_set() => return Err(too_long()),
            Err(error) => {
                let said = last_words.tail().await;
                if chatter.last().is_none()
                    && let Ok(rest) = rest
                {
                    chatter.inspect_rest(rest);
                }
                return Err(match (said.is_empty(), chatter.last()) {
                    (false, _) => fault(McpFaultCode::Ended, said),
                    (true, Some(said)) => fault(McpFaultCode::NotUnderstood, said),
                    (true, None) => fault(McpFaultCode::NotUnderstood, error),
                });
            }
        };
        let connection = Self {
            peer: service.peer().clone(),
            handler,
            found_dead: Notify::new(),
            last_words,
            is_program: true,
            too_big,
        };
        let program = Running {
            _process: process,
            _listener: listener,
        };
        let program = Some(program);
        Ok((connection, ConnectionGuard { service, program }))
    }

    async fn over_http(
        url: &str,
        headers: &BTreeMap<String, SecretString>,
    ) -> Result<(Self, ConnectionGuard), McpFault> {
        let too_big = TooBig::default();
        let client = BoundedHttp::new(http_client()?, too_big.clone());
        let config = http_config(url, headers)?;
        let transport = StreamableHttpClientTransport::with_client(client, config);
        let handler = Handler::default();
        let service = handler.clone().serve(transport).await;
        let service = service.map_err(|error| match too_big.is_set() {
            true => too_long(),
            false => fault(McpFaultCode::Unreachable, cause(&error)),
        })?;
        let connection = Self {
            peer: service.peer().clone(),
            handler,
            found_dead: Notify::new(),
            last_words: StderrTail::default(),
            is_program: false,
            too_big,
        };
        let program = None;
        Ok((connection, ConnectionGuard { service, program }))
    }

    /// The cause of the end of the connection.
    pub(super) async fn epitaph(&self) -> McpFault {
        match self.is_program {
            _ if self.too_big.is_set() => too_long(),
            true => fault(McpFaultCode::Ended, self.last_words.tail().await),
            false => fault(McpFaultCode::Lost, ""),
        }
    }
}

fn too_long() -> McpFault {
    let most = format!("{} MB", MESSAGE_BYTES_MAX >> 20);
    fault(McpFaultCode::TooBig, most)
}

async fn start(
    spec: &McpServerSpec,
    command: &str,
    args: &[String],
    secrets: &BTreeMap<String, SecretString>,
    gate: &SpawnGate,
) -> Result<Started, McpFault> {
    let not_started = |error: SpawnError| fault(McpFaultCode::NotStarted, error);
    let roots: Vec<PathBuf> = spec.roots.iter().map(PathBuf::from).collect();
    let scratch = gate.scratch(&format!("mcp server {}", spec.name));
    let cwd = roots.first().cloned();
    let cwd = cwd.unwrap_or_else(|| scratch.dir().to_owned());
    let confinement = Confinement {
        writable: roots,
        readable: Vec::new(),
        network: spec.sandbox.network,
        missing: spec.sandbox.missing,
        limits: Limits::default(),
    };
    let env = secrets.iter();
    let program = Program {
        program: command.to_owned(),
        args: args.to_vec(),
        cwd,
        env: env
            .map(|(name, value)| (name.clone(), value.expose_secret().to_owned()))
            .collect(),
        takes_input: true,
        merged: false,
    };
    let started = gate.start(program, confinement, scratch).await;
    started.map_err(not_started)
}

/// Follows no redirect: it would send the headers, which are secret, to another host.
fn http_client() -> Result<reqwest::Client, McpFault> {
    // The first caller installs it; all of them install the same.
    rustls::crypto::ring::default_provider()
        .install_default()
        .unwrap_or_default();
    let client = reqwest::Client::builder()
        .connect_timeout(REACH_MAX)
        .pool_max_idle_per_host(0)
        .redirect(reqwest::redirect::Policy::none())
        .build();
    client.map_err(|error| fault(McpFaultCode::Unreachable, error))
}

fn http_config(
    url: &str,
    headers: &BTreeMap<String, SecretString>,
) -> Result<StreamableHttpClientTransportConfig, McpFault> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    for (name, value) in headers {
        let bad = || fault(McpFaultCode::BadAddress, name);
        let header = http::HeaderName::from_str(name).map_err(|_| bad())?;
        let mut value = http::HeaderValue::from_str(value.expose_secret()).map_err(|_| bad())?;
        value.set_sensitive(true);
        config.custom_headers.insert(header, value);
    }
    Ok(config)
}

/// The library wraps the cause in text about itself.
fn cause(error: &ClientInitializeError) -> String {
    let ClientInitializeError::TransportError { error, .. } = error else {
        return error.to_string();
    };
    let error = &error.error;
    let mut innermost: &dyn std::error::Error = match error.downcast_ref() {
        // The library does not say that this one is behind its own.
        Some(StreamableHttpError::<reqwest::Error>::Client(request)) => request,
        _ => &**error,
    };
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
