//! The servers that are measured, as processes of their own.
#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark has no gate; it ends what it starts"
)]

use crate::users;
use anyhow::{Context, ensure};
use netaclaw_testkit::fake_model::FakeModel;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

pub(crate) const NETACLAW: &str = env!("CARGO_BIN_EXE_netaclaw");
const TOKEN: &str = "a-token-for-the-benchmark";
pub(crate) const USERS: usize = 100;
/// The kernel's unit in `/proc/PID/stat`, on every platform Linux runs on today.
const TICKS_PER_SECOND: u64 = 100;

pub(crate) struct Server {
    process: Child,
    pub(crate) address: SocketAddr,
    /// Of so many users. Each chat has a user, who sees only their own sessions.
    tokens: Vec<String>,
    // A process whose output is not read stops when the pipe is full.
    _output: Lines<BufReader<ChildStdout>>,
}

impl Server {
    /// A build of NetaClaw on an empty data directory, with the fake model as its channel.
    pub(crate) async fn netaclaw(
        binary: &Path,
        dir: &Path,
        model: &FakeModel,
    ) -> anyhow::Result<Self> {
        std::fs::create_dir_all(work_dir(dir))?;
        let added = Command::new(binary)
            .args(["channel", "add", "bench", "--supplier", "openai"])
            .args(["--base-url", &model.openai_url(), "--api-key-env", "KEY"])
            .args(["--model", "bench:128000", "--default", "--data-dir"])
            .arg(dir.join("data"))
            .env("KEY", "none")
            .output()
            .await?;
        let words = String::from_utf8_lossy(&added.stderr);
        ensure!(added.status.success(), "the channel was not added: {words}");
        Self::start(&mut netaclaw(binary, dir)).await
    }

    /// Lets people in, with a token each.
    pub(crate) async fn admit_users(&mut self, count: usize) -> anyhow::Result<()> {
        for at in 0..count {
            let token = users::make(self.address, TOKEN, at).await?;
            self.tokens.push(token);
        }
        Ok(())
    }

    /// The token of one of the users. The relay has none and accepts every client.
    pub(crate) fn token(&self, client: usize) -> &str {
        match self.tokens.len() {
            0 => TOKEN,
            users => &self.tokens[client % users],
        }
    }

    /// The Node relay of `interop/bench-relay.mjs`; its tool looks at the directory.
    pub(crate) async fn relay(dir: &Path, model: &FakeModel) -> anyhow::Result<Self> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../interop/bench-relay.mjs");
        let mut node = Command::new("node");
        node.args([script, &model.openai_url()]).current_dir(dir);
        Self::start(&mut node).await
    }

    async fn start(command: &mut Command) -> anyhow::Result<Self> {
        let mut process = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let output = process.stdout.take().context("its output is piped")?;
        let mut lines = BufReader::new(output).lines();
        loop {
            let line = lines.next_line().await?;
            let line = line.context("the server ended before it was ready")?;
            let Some((_, address)) = line.split_once("ready at http://") else {
                continue;
            };
            let address = address.split(['/', ' ']).next().unwrap_or(address);
            return Ok(Self {
                process,
                address: address.parse()?,
                tokens: Vec::new(),
                _output: lines,
            });
        }
    }

    pub(crate) fn resident_bytes(&self) -> anyhow::Result<u64> {
        self.status_bytes("VmRSS:")
    }

    /// The largest size since the last reset.
    pub(crate) fn peak_bytes(&self) -> anyhow::Result<u64> {
        self.status_bytes("VmHWM:")
    }

    pub(crate) fn reset_peak(&self) -> anyhow::Result<()> {
        let id = self.process.id().context("the server has ended")?;
        Ok(std::fs::write(format!("/proc/{id}/clear_refs"), "5")?)
    }

    fn status_bytes(&self, field: &str) -> anyhow::Result<u64> {
        let status = self.proc_file("status")?;
        let line = status.lines().find_map(|line| line.strip_prefix(field));
        let kib = line.and_then(|line| line.split_whitespace().next());
        Ok(kib.context("a process has a size")?.parse::<u64>()? * 1024)
    }

    /// User and system time so far.
    pub(crate) fn cpu_time(&self) -> anyhow::Result<Duration> {
        let stat = self.proc_file("stat")?;
        // The name may hold anything, so what follows its closing bracket is counted.
        let (_, rest) = stat.rsplit_once(')').context("no name in stat")?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let ticks = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
        Ok(Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND))
    }

    fn proc_file(&self, name: &str) -> anyhow::Result<String> {
        let id = self.process.id().context("the server has ended")?;
        Ok(std::fs::read_to_string(format!("/proc/{id}/{name}"))?)
    }
}

/// From the start of the process to its ready line, on a data directory that was used before.
pub(crate) async fn start_times(dir: &Path, times: usize) -> anyhow::Result<Vec<Duration>> {
    let mut measured = Vec::new();
    for _ in 0..times {
        let begun = Instant::now();
        let mut server = Server::start(&mut netaclaw(Path::new(NETACLAW), dir)).await?;
        measured.push(begun.elapsed());
        // Nothing is asked of it, so nothing is lost.
        server.process.kill().await?;
    }
    Ok(measured)
}

/// Where the agents of a server work; not in its data.
pub(crate) fn work_dir(dir: &Path) -> PathBuf {
    dir.join("work")
}

fn netaclaw(binary: &Path, dir: &Path) -> Command {
    let mut command = Command::new(binary);
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(dir.join("data"))
        .current_dir(work_dir(dir))
        .env("NETACLAW_TOKEN", TOKEN)
        .env("LC_ALL", "C");
    command
}
