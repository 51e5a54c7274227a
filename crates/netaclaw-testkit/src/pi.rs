//! The real Pi, asked through the bridge in `interop/`.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// A running bridge. It ends with this value.
pub struct Pi {
    process: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    next_id: u64,
}

impl Pi {
    pub fn start() -> anyhow::Result<Self> {
        let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../interop");
        ensure!(
            dir.join("node_modules").exists(),
            "Pi is not installed; run `make interop`"
        );
        #[expect(
            clippy::disallowed_methods,
            reason = "tests start the program they compare with"
        )]
        let mut process = std::process::Command::new("node")
            .arg("pi-bridge.mjs")
            .current_dir(dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("Node is needed to run Pi")?;
        let requests = process.stdin.take();
        let answers = BufReader::new(process.stdout.take().context("a pipe")?);
        Ok(Self {
            process,
            requests,
            answers,
            next_id: 0,
        })
    }

    /// Sends one command and waits for its answer. `arguments` is an object.
    pub fn ask(&mut self, command: &str, arguments: Value) -> anyhow::Result<Value> {
        self.next_id += 1;
        let mut request = arguments;
        request["id"] = json!(self.next_id);
        request["cmd"] = json!(command);
        let stdin = self.requests.as_mut().context("the bridge is open")?;
        writeln!(stdin, "{request}")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let mut answer: Value =
            serde_json::from_str(&line).context("the bridge answers in JSON")?;
        ensure!(
            answer["id"] == self.next_id,
            "an answer to something else: {answer}"
        );
        ensure!(
            answer["ok"] == true,
            "Pi refused {command}: {}",
            answer["error"]
        );
        Ok(answer["result"].take())
    }
}

impl Drop for Pi {
    fn drop(&mut self) {
        // The bridge ends at the end of its input; waiting leaves no zombie.
        drop(self.requests.take());
        drop(self.process.wait());
    }
}
