//! The life of a server in a process of its own, from its start to its violent end.

use super::doomed::{Doom, Doomed, tell};
use crate::whole::{Home, Node, Whole};
use netaclaw_gateway::GatewaySettings;
use netaclaw_testkit::engine::Intercepted;
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout};

const DIR: &str = "NETACLAW_KILLED_TEST_DIR";
const SESSIONS: &str = "NETACLAW_KILLED_TEST_SESSIONS";
const MYSQL_URL: &str = "NETACLAW_KILLED_TEST_MYSQL_URL";
const DOOM: &str = "NETACLAW_KILLED_TEST_DOOM";

/// The server's process, and what it says of itself.
pub(super) struct Life {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
    /// The writes that were begun.
    writes: Vec<String>,
}

impl Life {
    pub(super) async fn start(home: &Home, doom: Doom) -> Self {
        let name = std::thread::current().name().unwrap().to_owned();
        #[expect(clippy::disallowed_methods, reason = "the process to be killed")]
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", &name, "--nocapture"])
            .env(DIR, &home.dir)
            .env(SESSIONS, &home.sessions)
            .env(DOOM, doom.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        if let Some(url) = &home.mysql_url {
            command.env(MYSQL_URL, url);
        }
        let mut command = tokio::process::Command::from(command);
        let mut process = command.kill_on_drop(true).spawn().unwrap();
        let out = process.stdout.take().unwrap();
        Self {
            process,
            lines: BufReader::new(out).lines(),
            writes: Vec::new(),
        }
    }

    /// Where it listens; `None` if it died before.
    pub(super) async fn address(&mut self) -> Option<SocketAddr> {
        self.line("listens ").await?.parse().ok()
    }

    /// Waits until a write of this name has happened.
    pub(super) async fn wrote(&mut self, name: &str) -> Option<()> {
        while self.line("wrote ").await? != name {}
        Some(())
    }

    /// What follows the words on the next line that has them.
    async fn line(&mut self, words: &str) -> Option<String> {
        while let Some(line) = self.lines.next_line().await.unwrap() {
            if let Some((_, write)) = line.split_once("write ") {
                self.writes.push(write.to_owned());
            }
            // The test harness may have printed something in front on the same line.
            if let Some((_, rest)) = line.split_once(words) {
                return Some(rest.to_owned());
            }
        }
        None
    }

    /// Ends it if it has not ended, and gives the name of its last write.
    pub(super) async fn end(mut self) -> String {
        // A process that is gone already is as good.
        self.process.start_kill().unwrap_or_default();
        while self.line("write ").await.is_some() {}
        let status = self.process.wait().await.unwrap();
        assert_eq!(status.signal(), Some(9), "it was killed, and not otherwise");
        self.writes.pop().unwrap_or_default()
    }
}

/// Runs the server, if the environment says so; `false` if not.
pub(super) async fn live_as_told() -> bool {
    let Ok(dir) = std::env::var(DIR) else {
        return false;
    };
    let home = Home {
        dir: dir.into(),
        sessions: std::env::var(SESSIONS).unwrap().into(),
        mysql_url: std::env::var(MYSQL_URL).ok(),
    };
    let node = home.node().await;
    let doomed = Intercepted {
        inner: node.sessions,
        by: Doomed {
            doom: std::env::var(DOOM).unwrap().parse().unwrap(),
            writes: AtomicUsize::new(0),
        },
    };
    let server = Whole::start_over(
        &home,
        Node {
            sessions: Arc::new(doomed),
            instance: node.instance,
        },
        GatewaySettings::default(),
    )
    .await;
    tell("listens", &server.address.to_string());
    server.serving.await.unwrap();
    true
}
