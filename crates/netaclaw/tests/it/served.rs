//! The real server in a directory of a test's own, with a scripted model.

use crate::support::Workspace;
use netaclaw_testkit::fake_model::{FakeModel, Reply};
use netaclaw_testkit::socket::Client;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Output, Stdio};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStderr, ChildStdout};

/// Less than the server gives to running runs, and far more than anything else takes.
const LONG: Duration = Duration::from_secs(15);
pub(crate) const TOKEN: &str = "a-token-for-the-test";

/// A project, a data directory and a model for the server.
pub(crate) struct World {
    pub(crate) workspace: Workspace,
    pub(crate) model: FakeModel,
}

impl World {
    pub(crate) async fn new() -> Self {
        let mut workspace = Workspace::new();
        for (name, value) in [
            ("OLLAMA_HOST", "127.0.0.1:1"),
            ("NETACLAW_TOKEN", TOKEN),
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ] {
            workspace.set(name, value);
        }
        let model = FakeModel::start().await;
        workspace.out(&format!(
            "channel add fake --supplier compatible --base-url {} --model m --default",
            model.openai_url()
        ));
        workspace.out("agent edit default --set approval=never");
        fs::create_dir(workspace.path("project")).unwrap();
        Self { workspace, model }
    }

    /// Sessions are kept in this database from now on.
    pub(crate) fn keep_sessions_in(&mut self, url: &str) {
        self.workspace.set("NETACLAW_MYSQL_URL", url);
        self.workspace
            .out("agent edit default --set sessionProvider=mysql");
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.workspace.path("project")
    }

    /// The model calls `bash`.
    pub(crate) fn runs(&self, command: &str) {
        let args = json!({ "command": command }).to_string();
        self.model
            .script()
            .push(Reply::tool_call("call", "bash", &args));
    }

    pub(crate) async fn serve(&self) -> Server {
        let mut command = self.workspace.command("serve --listen 127.0.0.1:0");
        command.current_dir(self.project()).stderr(Stdio::null());
        let started = Server::start(command).await;
        started.expect("the server ended before it was ready")
    }
}

pub(crate) struct Server {
    process: Child,
    pub(crate) address: SocketAddr,
    // A process whose output is not read stops when the pipe is full.
    _output: Lines<BufReader<ChildStdout>>,
}

impl Server {
    /// A server that is ready, or how it ended before it was.
    pub(crate) async fn start(mut command: Command) -> Result<Self, Output> {
        command.stdout(Stdio::piped());
        let mut command = tokio::process::Command::from(command);
        let mut process = command.kill_on_drop(true).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        loop {
            let Some(line) = lines.next_line().await.unwrap() else {
                return Err(process.wait_with_output().await.unwrap());
            };
            if let Some((_, rest)) = line.split_once("http://") {
                let address = rest.split(['/', ' ']).next().unwrap().parse().unwrap();
                return Ok(Self {
                    process,
                    address,
                    _output: lines,
                });
            }
        }
    }

    pub(crate) async fn client(&self) -> Client {
        let auth = json!({"token": TOKEN, "events": ["current"]});
        Client::connect(self.address, auth).await.unwrap()
    }

    /// A new session, with the client that began it and so receives its events.
    pub(crate) async fn session(&self, content: &str) -> (String, Client) {
        let mut client = self.client().await;
        let ack = client.call("chat", json!({ "content": content })).await;
        (ack["sessionId"].as_str().unwrap().to_owned(), client)
    }

    /// The most memory that it has had at once.
    pub(crate) fn peak_memory_kb(&self) -> u64 {
        self.memory("VmHWM:")
    }

    /// The memory that it has now.
    pub(crate) fn memory_kb(&self) -> u64 {
        self.memory("VmRSS:")
    }

    fn memory(&self, what: &str) -> u64 {
        let pid = self.process.id().unwrap();
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let found = status.lines().find_map(|line| line.strip_prefix(what));
        let found = found.unwrap().trim().trim_end_matches(" kB");
        found.parse().unwrap()
    }

    pub(crate) fn pid(&self) -> Pid {
        let pid = i32::try_from(self.process.id().unwrap()).unwrap();
        Pid::from_raw(pid).unwrap()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Sends bytes and nothing more, and waits until the server has had enough of them.
    pub(crate) async fn send(&self, bytes: &[u8]) {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
    }

    /// What it writes about itself, if that was asked for.
    pub(crate) fn log(&mut self) -> Lines<BufReader<ChildStderr>> {
        BufReader::new(self.process.stderr.take().unwrap()).lines()
    }

    /// Its exit status, without a signal from the test.
    pub(crate) async fn ended(mut self) -> ExitStatus {
        let ended = tokio::time::timeout(LONG, self.process.wait()).await;
        ended.expect("the server ends").unwrap()
    }

    pub(crate) async fn kill(mut self) {
        self.process.kill().await.unwrap();
    }

    /// The status and the body of an answer.
    pub(crate) async fn http(&self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        let answer = self.exchange(method, path, "", body).await;
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        (status, serde_json::from_str(body).unwrap_or_default())
    }

    /// The whole answer to a request with further lines in its head.
    pub(crate) async fn exchange(
        &self,
        method: &str,
        path: &str,
        more: &str,
        body: Option<Value>,
    ) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let body = body.map_or_else(String::new, |body| body.to_string());
        let length = body.len();
        let path = match path.starts_with('/') {
            true => path.to_owned(),
            false => format!("/admin/netaclaw/{path}"),
        };
        // The old version, so that the answer comes in one piece.
        let request = format!(
            "{method} {path} HTTP/1.0\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\n\
             Content-Type: application/json\r\n{more}Content-Length: {length}\r\n\r\n{body}",
            self.address
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }
}
