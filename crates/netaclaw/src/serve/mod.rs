//! `netaclaw serve`: the server.

mod link;
mod log;
mod log_writer;
mod maintenance;
mod others;
mod telemetry;
mod text;
mod token;
mod web;
mod workspaces;

pub(crate) use link::{LinkArgs, print_link};
pub(crate) use others::announce_chat;

use crate::app::{App, Outcome};
use crate::assemble::{Assembled, assemble};
use crate::config::var;
use crate::error::{Failure, Result};
use clap::Args;
use maintenance::Recovered;
use netaclaw_admin::{AdminStore, TokenStore, UserStore, login_is_possible};
use netaclaw_gateway::{AuthSettings, ConnectionLimits, Gateway, GatewayOptions, GatewaySettings};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use telemetry::Traces;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// More than this is never asked for.
const OPEN_FILES_MAX: u64 = 1 << 16;

#[derive(Debug, Default, Args)]
pub(crate) struct ServeArgs {
    /// Listen address [NETACLAW_LISTEN; default: 127.0.0.1:7300]
    ///
    /// Port 0 picks a free port
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
}

pub(crate) async fn run(args: ServeArgs, app: &mut App) -> Result<Outcome> {
    let config = app.config(None)?;
    // Dropped last: what the end of the server has to say is written too.
    let _flush = log::start(&config.log)?;
    let traces = Traces::start(config.traces.as_ref());
    let files = allow_many_files();
    let server = &config.server;
    let wanted = args.listen.unwrap_or_else(|| server.listen.clone());
    let address = listen_address(app, &wanted)?;
    let Assembled {
        engine,
        admin,
        agents,
        mut instance,
        dead,
        mcp,
    } = assemble(app).await?;
    let given = app.env.token.clone();
    if !address.ip().is_loopback() && given.is_none() {
        must_have_accounts(app, &*admin).await?;
    }
    let token = match given {
        Some(token) => token,
        None => token::load_or_create(&config.token_file())
            .map_err(|error| Failure::io(app.lang, app.lang.access_token(), &error))?,
    };
    // Before the address may turn out to be that of the other server.
    others::warn(app, &instance);
    let listener = TcpListener::bind(address).await.map_err(|error| {
        Failure::new(
            address.to_string(),
            error.to_string(),
            app.lang.listen_elsewhere(),
        )
    })?;
    workspaces::warn(app, &config, &*admin).await?;
    let bound = listener.local_addr()?;
    others::announce_server(&mut instance, bound);
    let secret_key = crate::admin::secret_key(app, &config)?;
    let auth = AuthSettings {
        access_token: Some(token.clone()),
        allowed_origins: server.allowed_origins.clone(),
        secure_cookie: server.secure_cookie,
        public_url: server.public_url.clone(),
        trusted_proxies: server.trusted_proxies.clone(),
        browser_key: Some(secret_key.derived("known browsers")),
    };
    let settings = GatewaySettings {
        drain_grace: server.drain,
        connections: within_files(config.limits.connections, files),
        ..GatewaySettings::default()
    };
    let store = Arc::clone(&admin) as Arc<dyn AdminStore>;
    let data_dir = config.data_dir.clone();
    let options = GatewayOptions {
        assets: Some(Arc::new(web::WebApp)),
        previews: Some(agents),
        mcp: Some(mcp),
        disk_probe: Some(Arc::new(move || netaclaw_store::probe_data_dir(&data_dir))),
    };
    let gateway = Gateway::new(engine.clone(), store, auth, settings, options);
    let shutdown = CancellationToken::new();
    // Before the server is announced, and kept, so that no signal is missed.
    let mut stops = StopSignals::new()?;
    let greeting = link::greeting(app, server, bound, &token);
    announce(app, &greeting);
    // Beside the work for those who are here already.
    let recovery = engine.recover_interrupted();
    engine.take_over_dead_sessions();
    let kept = maintenance::run(engine.clone(), recovery, config.retention, shutdown.clone());
    let maintenance = tokio::spawn(kept);
    let serving = gateway.serve(listener, shutdown.clone());
    tokio::pin!(serving);
    tokio::select! {
        () = &mut serving => {}
        () = stops.next() => {
            shutdown.cancel();
            tokio::select! {
                () = &mut serving => {}
                // A second signal does not wait for what still runs. The next start finds it as
                // after a crash.
                () = stops.next() => {
                    app.warn(&app.lang.stopped_at_once());
                    // Its file says that it did not end properly.
                    std::mem::forget(instance);
                    return Ok(Outcome::Failed);
                }
            }
        }
    }
    // The serving has waited for the recovery. If it was cut short, the next start does the rest.
    if let Ok(Recovered::All) = maintenance.await {
        dead.forget()?;
    }
    drop(instance);
    admin.close().await;
    if let Some(traces) = traces {
        traces.end().await;
    }
    Ok(Outcome::Done)
}

/// Says where the server is. An output that cannot be written does not keep it from serving.
fn announce(app: &mut App, text: &str) {
    let said = writeln!(app.out, "{text}").and_then(|()| app.out.flush());
    if let Err(error) = said {
        tracing::warn!(%error, "failed to write the address to standard output");
    }
}

fn listen_address(app: &App, text: &str) -> Result<SocketAddr> {
    text.parse().map_err(|_| {
        Failure::new(
            format!("{text:?}"),
            app.lang.not_an_address(),
            app.lang.listen_example(),
        )
    })
}

/// Connections and open sessions of hundreds of users take more files than systems give to a program
/// that does not ask. Programs that are started from here have a limit of their own.
///
/// Returns how many files it may open, if that is limited.
fn allow_many_files() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(OPEN_FILES_MAX).min(OPEN_FILES_MAX);
    if limit.current.is_none_or(|current| current >= most) {
        return limit.current;
    }
    let more = Rlimit {
        current: Some(most),
        ..limit
    };
    if let Err(error) = setrlimit(Resource::Nofile, more) {
        tracing::warn!(%error, "failed to raise the limit of open files");
        return limit.current;
    }
    Some(most)
}

/// Connections leave files for sessions and stores: strangers cannot use up all of them.
fn within_files(limits: ConnectionLimits, files: Option<u64>) -> ConnectionLimits {
    let room = files.and_then(|files| usize::try_from(files / 4 * 3).ok());
    match (limits.total_max, room) {
        (0, _) | (_, None) => limits,
        (total, Some(room)) => ConnectionLimits {
            total_max: total.min(room),
            ..limits
        },
    }
}

/// An administrator who opens the server to others must have a login.
async fn must_have_accounts(app: &App, admin: &dyn AdminStore) -> Result<()> {
    let failed = |error| crate::admin::failure(app.lang, error);
    let users = UserStore::users(admin).await.map_err(failed)?;
    let tokens = TokenStore::tokens(admin).await.map_err(failed)?;
    let now_ms = jiff::Timestamp::now().as_millisecond();
    match login_is_possible(&users, &tokens, now_ms) {
        true => Ok(()),
        false => Err(Failure::new(
            app.lang.listen_setting(),
            app.lang.no_accounts(),
            app.lang.set_token(var::TOKEN),
        )),
    }
}

/// What asks a server to end: Ctrl-C, and what service managers send.
struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl StopSignals {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
