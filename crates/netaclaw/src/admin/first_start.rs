//! What a first start finds on the machine: keys in the environment, and a local Ollama.

use super::failure;
use crate::app::App;
use crate::config::Config;
use crate::error::{Result, language};
use netaclaw_admin::{AdminStore, FirstStart, LocalModels};
use netaclaw_models::{Channel, Timeouts, Transport, list_models};
use netaclaw_protocol::Supplier;
use std::time::Duration;

/// A server on this machine answers at once, or there is none.
const OLLAMA_PATIENCE: Duration = Duration::from_millis(500);

/// Looks only if this is a first start.
pub(super) async fn detect(
    app: &App,
    config: &Config,
    store: &dyn AdminStore,
) -> Result<FirstStart> {
    let agents = store.agents().await;
    let agents = agents.map_err(|error| failure(app.lang, error))?;
    let ollama = match agents.is_empty() {
        true => find_ollama(app.env.ollama_host.as_deref()).await,
        false => None,
    };
    Ok(FirstStart {
        language: language(app.lang),
        session_provider: config.provider,
        keys: app.env.supplier_keys.clone(),
        ollama,
    })
}

async fn find_ollama(host: Option<&str>) -> Option<LocalModels> {
    let base_url = host.map(address);
    let channel = Channel {
        base_url: base_url.clone(),
        ..Channel::new("ollama", Supplier::Ollama)
    };
    let transport = Transport::new(Timeouts {
        connect: OLLAMA_PATIENCE,
        first_byte: OLLAMA_PATIENCE,
        idle: OLLAMA_PATIENCE,
    });
    let models = list_models(&channel, &transport).await.ok()?;
    Some(LocalModels { base_url, models })
}

/// `OLLAMA_HOST` as Ollama parses it: with or without scheme and port, and `0.0.0.0` to listen
/// everywhere, which is not an address to connect to.
fn address(host: &str) -> String {
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let rest = rest.trim_end_matches('/');
    let rest = rest.replacen("0.0.0.0", "127.0.0.1", 1);
    let rest = match rest.strip_prefix(':') {
        Some(port) => format!("127.0.0.1:{port}"),
        None => rest,
    };
    let has_port = rest
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    match has_port {
        true => format!("{scheme}://{rest}/v1"),
        false => format!("{scheme}://{rest}:11434/v1"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ollamas_address_is_understood_as_ollama_does() {
        for (host, expected) in [
            ("127.0.0.1", "http://127.0.0.1:11434/v1"),
            ("127.0.0.1:4000", "http://127.0.0.1:4000/v1"),
            ("0.0.0.0", "http://127.0.0.1:11434/v1"),
            (":4000", "http://127.0.0.1:4000/v1"),
            ("https://box.example:443/", "https://box.example:443/v1"),
        ] {
            assert_eq!(address(host), expected, "{host}");
        }
    }
}
