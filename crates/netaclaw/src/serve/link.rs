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
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

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
    let address = address(app, server, bound);
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

/// Where the server is, in the words of the greeting. One that listens on all addresses is at none
/// of the form 0.0.0.0.
fn address(app: &App, server: &ServerSettings, bound: SocketAddr) -> String {
    match bound.ip().is_unspecified() {
        false => format!("http://{bound}"),
        true => {
            let origin = server.public_url.clone();
            let origin = origin.unwrap_or_else(|| format!("http://{}", reachable(bound)));
            app.lang.on_all_addresses(origin, bound)
        }
    }
}

/// An address that browsers can open. For a server that listens on all of them, the one that
/// other machines see, or that of this machine if there is no network.
fn reachable(mut bound: SocketAddr) -> SocketAddr {
    if bound.ip().is_unspecified() {
        let own = match bound.ip() {
            IpAddr::V4(_) => own_address(ANYWHERE_V4),
            IpAddr::V6(_) => own_address(ANYWHERE_V6).or_else(|| own_address(ANYWHERE_V4)),
        };
        let local = match bound.ip() {
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        };
        bound.set_ip(own.unwrap_or(local));
    }
    bound
}

/// Addresses that are for documentation only.
const ANYWHERE_V4: (IpAddr, IpAddr) = (
    IpAddr::V4(Ipv4Addr::UNSPECIFIED),
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
);
const ANYWHERE_V6: (IpAddr, IpAddr) = (
    IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)),
);

/// The address from which this machine would reach another one. Nothing is sent: connecting a
/// datagram socket only chooses a route.
fn own_address((from, to): (IpAddr, IpAddr)) -> Option<IpAddr> {
    let socket = UdpSocket::bind((from, 0)).ok()?;
    socket.connect((to, 9)).ok()?;
    let own = socket.local_addr().ok()?.ip();
    (!own.is_unspecified()).then_some(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_never_leads_to_all_addresses() {
        for bound in ["0.0.0.0:7300", "[::]:7300"] {
            let opened = reachable(bound.parse().unwrap());
            assert!(!opened.ip().is_unspecified(), "{opened}");
            assert_eq!(opened.port(), 7300);
        }
        let local: SocketAddr = "127.0.0.1:80".parse().unwrap();
        assert_eq!(reachable(local), local);
    }
}
