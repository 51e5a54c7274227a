//! Other processes on the same data directory: what this server tells them of itself, and what it
//! tells its operator of them.

use crate::app::App;
use netaclaw_store::Instance;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// What a process says of itself in its instance file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Process {
    Server { pid: u32, address: String },
    Chat { pid: u32 },
}

/// Warns of the others. They can work side by side, as long as no two use the same session.
pub(super) fn warn(app: &App, instance: &Instance) {
    // What cannot be read here keeps nothing from working.
    for words in instance.others().unwrap_or_default() {
        match serde_json::from_str(&words) {
            Ok(Process::Server { pid, address }) => {
                app.warn(&app.lang.other_server(pid, address));
            }
            Ok(Process::Chat { pid }) => app.warn(&app.lang.other_chat(pid)),
            // A command that will soon be done, or another version.
            Err(_) => {}
        }
    }
}

pub(super) fn announce_server(instance: &mut Instance, bound: SocketAddr) {
    let address = format!("http://{bound}");
    let pid = std::process::id();
    announce(instance, &Process::Server { pid, address });
}

/// The same for a chat in a terminal.
pub(crate) fn announce_chat(instance: &mut Instance) {
    let pid = std::process::id();
    announce(instance, &Process::Chat { pid });
}

fn announce(instance: &mut Instance, process: &Process) {
    let said = serde_json::to_string(process).map_err(std::io::Error::from);
    if let Err(error) = said.and_then(|words| instance.describe(&words)) {
        tracing::warn!(%error, "failed to describe this process to others");
    }
}
