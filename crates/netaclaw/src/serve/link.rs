//! The link with the access token, which logs a browser in. It is shown to users only: at a
//! terminal, or on request by a command. An output that is stored, such as a service manager's log,
//! never has it.

use super::token;
use crate::app::{App, Outcome};
use crate::config::{ServerSettings, var};
use crate::error::{Failure, Result};
use clap::Args;
use secrecy::{ExposeSecret, SecretString};
use std::io::{IsTerminal, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

#[derive(Debug, Args)]
pub(crate) struct LinkArgs {
    /// Listen address of the server; the default is the configured one
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
}

/// `netaclaw link`
pub(crate) fn print_link(args: &LinkArgs, app: &mut App) -> Result<Outcome> {
    let config = app.config(None)?;
    let token = match app.env.token.clone() {
        Some(token) => Some(token),
        None => token::load(&config.token_file())
            .map_err(|error| Failure::io(app.lang, app.lang.access_token(), &error))?,
    };
    let token = token.ok_or_else(|| {
        Failure::new(
            app.lang.access_token(),
            app.lang.no_token_yet(),
            app.lang.start_once(var::TOKEN),
        )
    })?;
    let listen = args.listen.as_deref().unwrap_or(&config.server.listen);
    let address = super::listen_address(app, listen)?;
    writeln!(app.out, "{}", link(&config.server, address, &token))?;
    Ok(Outcome::Done)
}

/// What a server says once it is ready: the link if a person reads it, else how to get it.
pub(super) fn greeting(
    app: &App,
    server: &ServerSettings,
    bound: SocketAddr,
    token: &SecretString,
) -> String {
    let address = format!("http://{bound}");
    if std::io::stdout().is_terminal() {
        return app.lang.listening(address, link(server, bound, token));
    }
    let how = match &app.env.token {
        Some(_) => app.lang.with_the_token(var::TOKEN),
        None if server.public_url.is_some() || server.listen == bound.to_string() => {
            app.lang.for_a_link("netaclaw link")
        }
        None => {
            let command = format!("netaclaw link --listen {bound}");
            app.lang.for_a_link(command)
        }
    };
    format!("{} — {how}", app.lang.listening_at(address))
}

fn link(server: &ServerSettings, bound: SocketAddr, token: &SecretString) -> String {
    let origin = server
        .public_url
        .clone()
        .unwrap_or_else(|| format!("http://{}", reachable(bound)));
    format!("{origin}/?token={}", token.expose_secret())
}

/// An address that a browser on this machine can open.
fn reachable(mut bound: SocketAddr) -> SocketAddr {
    match bound.ip() {
        IpAddr::V4(any) if any.is_unspecified() => bound.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(any) if any.is_unspecified() => bound.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    bound
}
