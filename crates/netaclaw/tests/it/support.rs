//! A directory of a test's own and the binary run in it.

use netaclaw_admin::{Actor, AgentStore, Expect};
use netaclaw_store::{AdminDatabase, AdminSettings, SecretKey, SqlAdminStore};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::SystemTime;
use tempfile::TempDir;

/// A small session with everything in it: branches, tools, labels, a compaction, Chinese text,
/// types of later releases, and a leaf that is not the last entry.
pub(crate) const SAMPLE: &str = include_str!("sample.jsonl");
pub(crate) const SAMPLE_ID: &str = "0195f2d1-7c1a-7b3e-8f00-1234567890ab";

const BINARY: &str = env!("CARGO_BIN_EXE_netaclaw");

pub(crate) struct Workspace {
    dir: TempDir,
    variables: Vec<(String, String)>,
}

pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Workspace {
    pub(crate) fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            variables: Vec::new(),
        }
    }

    /// With the sample as `sample.jsonl`.
    pub(crate) fn with_sample() -> Self {
        let workspace = Self::new();
        workspace.write("sample.jsonl", SAMPLE);
        workspace
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, contents).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The binary with arguments separated by spaces, in this directory, with nothing of the
    /// environment but what the test says.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = self.program(BINARY);
        command.args(arguments.split_whitespace());
        command
    }

    /// The same as the first program of a terminal, which has to be its input.
    pub(crate) fn command_of_terminal(&self, arguments: &str) -> Command {
        let mut command = self.program("/usr/bin/setsid");
        command.args(["--ctty", "--wait", BINARY]);
        command.args(arguments.split_whitespace());
        command
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the binary under test is the child"
    )]
    fn program(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.dir.path())
            .env_clear()
            .env("HOME", self.path("home"))
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &str) -> Ran {
        let Output {
            status,
            stdout,
            stderr,
        } = self.command(arguments).output().unwrap();
        Ran {
            code: status.code().expect("it was not killed"),
            out: String::from_utf8(stdout).expect("the output is UTF-8"),
            err: String::from_utf8(stderr).expect("the error output is UTF-8"),
        }
    }

    /// The output of a command that succeeds and has no remarks.
    pub(crate) fn out(&self, arguments: &str) -> String {
        let ran = self.run(arguments);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{arguments}");
        ran.out
    }

    pub(crate) fn json(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.out(arguments)).unwrap()
    }

    /// Adds an agent with the settings of the default one.
    pub(crate) async fn add_agent(&self, name: &str) {
        let store = self.admin().await;
        let mut spec = store.default_agent().await.unwrap().spec;
        spec.name = name.to_owned();
        spec.is_default = false;
        store.create_agent(&Actor::system(), spec).await.unwrap();
        store.close().await;
    }

    pub(crate) async fn delete_agent(&self, name: &str) {
        let store = self.admin().await;
        let agent = store.agent_named(name).await.unwrap();
        let by = Actor::system();
        let deleted = store.delete_agent(&by, &agent.id, Expect::Any);
        deleted.await.unwrap();
        store.close().await;
    }

    async fn admin(&self) -> SqlAdminStore {
        let data = self.path("home/.netaclaw");
        let settings = AdminSettings {
            database: AdminDatabase::Sqlite {
                file: data.join("netaclaw.db"),
            },
            secret_key: SecretKey::load_or_create(&data.join("secret.key")).unwrap(),
        };
        SqlAdminStore::open(settings).await.unwrap()
    }

    /// Contents and times of change of everything in the directory.
    pub(crate) fn state(&self) -> BTreeMap<PathBuf, (SystemTime, Option<Vec<u8>>)> {
        let mut state = BTreeMap::new();
        let mut waiting = vec![self.dir.path().to_owned()];
        while let Some(path) = waiting.pop() {
            let about = path.metadata().unwrap();
            let contents = about.is_file().then(|| std::fs::read(&path).unwrap());
            if about.is_dir() {
                waiting.extend(children(&path));
            }
            state.insert(path, (about.modified().unwrap(), contents));
        }
        state
    }
}

fn children(dir: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(dir)
        .unwrap()
        .map(|item| item.unwrap().path())
        .collect()
}

/// A session file with a header and these lines.
pub(crate) fn session(id: &str, lines: &[String]) -> String {
    let header = format!(
        r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/srv/app"}}"#
    );
    let mut text = header + "\n";
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// A user's message below `parent`.
pub(crate) fn message(id: &str, parent: Option<&str>, text: &str) -> String {
    let entry = serde_json::json!({
        "type": "message", "id": id, "parentId": parent, "timestamp": "2026-01-01T00:00:01.000Z",
        "message": { "role": "user", "content": text, "timestamp": 1 },
    });
    entry.to_string()
}
