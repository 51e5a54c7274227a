//! `channel`, with the real binary, real databases and a scripted model server.

use crate::support::{Ran, Workspace};
use netaclaw_testkit::MariaDb;
use netaclaw_testkit::fake_model::FakeModel;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

const KEY: &str = "sk-cli-marker-0815-4711";

/// A workspace whose first start finds nothing on the machine.
fn alone() -> Workspace {
    let mut workspace = Workspace::new();
    // A port without a listener.
    workspace.set("OLLAMA_HOST", "127.0.0.1:1");
    workspace.set("MY_KEY", KEY);
    workspace
}

fn channel(workspace: &Workspace, name: &str) -> Value {
    let channels = workspace.json("channel list --json");
    let channels = channels.as_array().unwrap();
    let found = channels.iter().find(|channel| channel["name"] == name);
    found.cloned().unwrap_or_default()
}

fn agents_model(workspace: &Workspace) -> (String, String) {
    let agent = workspace.json("agent show default --json");
    let config = &agent["modelConfig"];
    let channels = workspace.json("channel list --json");
    let channels = channels.as_array().unwrap();
    let channel = channels
        .iter()
        .find(|channel| channel["id"] == config["channelId"]);
    let text = |value: &Value| value.as_str().unwrap_or("–").to_owned();
    (text(&channel.unwrap()["name"]), text(&config["model"]))
}

/// One line, and nothing done.
#[track_caller]
fn assert_refused(ran: &Ran, part: &str) {
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    assert!(ran.err.contains(part), "{}", ran.err);
}

#[test]
fn a_server_is_set_up_in_two_lines() {
    let workspace = alone();
    let out = workspace.out(
        "channel add local --supplier openai --base-url http://127.0.0.1:9/v1 \
         --api-key-env MY_KEY --model gpt-5:100000 --model qwen3:8b --default",
    );
    assert_eq!(
        out,
        "channel local: added (openai)\nagent default: now uses local, gpt-5\n"
    );
    let local = channel(&workspace, "local");
    assert_eq!(local["models"][0]["contextWindow"], 100_000);
    assert_eq!(local["models"][1]["name"], "qwen3:8b");
    assert_eq!(
        (&local["apiKeySet"], &local["apiKeyLast4"]),
        (&true.into(), &"4711".into())
    );
    assert_eq!(
        agents_model(&workspace),
        ("local".to_owned(), "gpt-5".to_owned())
    );

    let table = workspace.out("channel list");
    assert!(table.contains("demo") && table.contains("…4711"), "{table}");
}

#[test]
fn adding_again_changes_the_given_values_only() {
    let workspace = alone();
    let add = "channel add c --supplier openai";
    workspace.out(&format!(
        "{add} --base-url http://h/v1 --api-key-env MY_KEY --model a --auxiliary"
    ));
    let first = channel(&workspace, "c");
    assert_eq!(workspace.out(add), "channel c: no changes\n");
    assert_eq!(channel(&workspace, "c"), first);

    let out = workspace.out(&format!("{add} --model b --model c"));
    assert_eq!(out, "channel c: updated (openai)\n");
    let second = channel(&workspace, "c");
    assert_eq!((&second["id"], &second["rev"]), (&first["id"], &2.into()));
    assert_eq!(second["models"].as_array().unwrap().len(), 2);
    assert_eq!(second["baseUrl"], "http://h/v1");
    assert_eq!(second["apiKeySet"], true);
    assert_eq!(second["isAuxiliary"], true);

    // Another supplier gets neither the address nor the key of the one before.
    let moved = workspace.run("channel add c --supplier deepseek");
    assert_eq!(moved.code, 0);
    assert!(moved.err.contains("--api-key-env"), "{}", moved.err);
    let third = channel(&workspace, "c");
    assert_eq!(
        (&third["baseUrl"], &third["apiKeySet"]),
        (&Value::Null, &false.into())
    );
}

#[test]
fn mistakes_are_one_line_and_leave_no_trace() {
    let workspace = alone();
    let before = workspace.state();
    let unset = workspace.run("channel add c --supplier openai --api-key-env NO_SUCH");
    assert_refused(&unset, "variable NO_SUCH: it is not set");
    let pasted = workspace.run(&format!(
        "channel add c --supplier openai --api-key-env {KEY}"
    ));
    assert_refused(&pasted, "not a variable name");
    assert!(!pasted.err.contains("marker"), "{}", pasted.err);
    let wrong = workspace.run("channel add c --supplier opnai");
    assert!(
        wrong.code == 2 && wrong.err.contains("did you mean openai?"),
        "{}",
        wrong.err
    );
    assert_eq!(workspace.state(), before);

    let nowhere = workspace.run("channel add c --supplier compatible --model m");
    assert_refused(&nowhere, "--base-url: this supplier has no default address");
    let named = workspace.run("channel add a/b --supplier openai");
    assert_refused(&named, "name: must start and end");
    assert_refused(&workspace.run("channel test dmeo"), "did you mean demo?");
    assert_refused(&workspace.run("channel remove nothing"), "channel list");
    assert_refused(&workspace.run("channel remove demo"), "agent \"default\"");
    let chinese = workspace.run("--lang zh channel remove demo");
    assert_refused(&chinese, "正被使用：智能体 \"default\"");
    assert_eq!(
        workspace
            .json("channel list --json")
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn a_channel_is_removed_when_no_agent_needs_it() {
    let workspace = alone();
    workspace.out("channel add small --supplier ollama --model qwen3 --auxiliary");
    assert_eq!(
        workspace.out("channel remove small"),
        "channel small: removed\n"
    );
    assert_eq!(channel(&workspace, "small"), Value::Null);
    // The way is free for another one.
    let out = workspace.out("channel add next --supplier ollama --model qwen3 --auxiliary");
    assert!(out.contains("(summaries and titles): next"), "{out}");
}

fn assert_nowhere(dir: &Path, needle: &str) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let found = bytes
            .windows(needle.len())
            .any(|window| window == needle.as_bytes());
        assert!(!found, "{}", path.display());
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", path.display());
    }
}

#[test]
fn the_key_is_in_no_file_and_no_output() {
    let mut workspace = alone();
    let add = "channel add c --supplier openai --base-url http://127.0.0.1:1/v1 --model m";
    let mut said = workspace.out(&format!("{add} --api-key-env MY_KEY"));
    said += &workspace.out("channel list");
    said += &workspace.out("channel list --json");
    said += &workspace.run("channel test c").err;
    said += &workspace.run("channel test c --json").out;
    assert!(!said.contains("marker"), "{said}");
    assert_nowhere(&workspace.path("home/.netaclaw"), "marker");

    // With another secret key it is an error with a way out, and nothing is guessed.
    workspace.set("NETACLAW_SECRET_KEY", &"ab".repeat(32));
    let locked = workspace.run("channel test c");
    assert_refused(&locked, "channel \"c\": its API key cannot be decrypted");
    workspace.set("NETACLAW_SECRET_KEY", "too short");
    assert_refused(
        &workspace.run("channel list"),
        "NETACLAW_SECRET_KEY: the secret key must be",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_channel_is_tested_in_plain_words() {
    let fake = FakeModel::start().await;
    fake.script().set_models(["beta", "alpha"]);
    fake.script().set_key(KEY);
    let mut workspace = alone();
    workspace.set("WRONG_KEY", "sk-wrong-marker-key-0000");
    let add = |name: &str, url: &str, key: &str| {
        format!(
            "channel add {name} --supplier openai --base-url {url} --api-key-env {key} --model alpha"
        )
    };
    workspace.out(&add("good", &fake.openai_url(), "MY_KEY"));
    let out = workspace.out("channel test good");
    assert!(
        out.starts_with("channel good: available, responded in "),
        "{out}"
    );
    assert!(out.ends_with("models: alpha, beta\n"), "{out}");
    let json = workspace.json("channel test good --json");
    assert_eq!(
        (&json["ok"], &json["models"][1]),
        (&true.into(), &"beta".into())
    );
    let sent = fake.script().requests();
    assert!(sent.iter().any(|request| {
        request
            .header("authorization")
            .is_some_and(|h| h.contains(KEY))
    }));

    workspace.out(&add("wrong", &fake.openai_url(), "WRONG_KEY"));
    let refused = workspace.run("channel test wrong");
    assert_refused(&refused, "did not accept the API key");
    assert!(!refused.err.contains("marker"), "{}", refused.err);
    let chinese = workspace.run("--lang zh channel test wrong");
    assert_eq!(chinese.code, 1);
    assert!(chinese.err.contains("密钥"), "{}", chinese.err);

    workspace.out(&add("away", "http://127.0.0.1:1/v1", "MY_KEY"));
    assert_refused(&workspace.run("channel test away"), "cannot be reached");
    let json = workspace.run("channel test away --json");
    assert_eq!(json.code, 1);
    let json: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["ok"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_start_finds_keys_and_a_local_server() {
    let fake = FakeModel::start().await;
    fake.script().set_models(["qwen3:8b", "nomic-embed-text"]);
    let mut workspace = Workspace::new();
    let host = fake.anthropic_url();
    workspace.set("OLLAMA_HOST", host.trim_start_matches("http://"));
    workspace.set("DEEPSEEK_API_KEY", KEY);
    workspace.set("OPENAI_API_KEY", "");
    let channels = workspace.json("channel list --json");
    let names: Vec<&str> = channels
        .as_array()
        .unwrap()
        .iter()
        .map(|channel| channel["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["deepseek", "ollama", "demo"]);
    assert_eq!(channels[0]["apiKeyLast4"], "4711");
    assert_eq!(channels[1]["models"].as_array().unwrap().len(), 1);
    assert_eq!(agents_model(&workspace).0, "deepseek");
    assert_nowhere(&workspace.path("home/.netaclaw"), "marker");

    // Later starts find nothing new.
    workspace.set("ANTHROPIC_API_KEY", KEY);
    assert_eq!(workspace.json("channel list --json"), channels);
}

/// Whatever commands start on a new data directory at the same time, each does its work.
fn many_at_once(workspace: &Workspace) {
    let commands: Vec<_> = (0..6)
        .map(|number| {
            let add = format!("channel add c{number} --supplier ollama --model m --default");
            let mut command = workspace.command(&add);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for command in commands {
        let output = command.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && err.is_empty(), "{err}");
    }
    let channels = workspace.json("channel list --json");
    assert_eq!(channels.as_array().unwrap().len(), 7);
    assert_eq!(
        workspace
            .json("agent list --json")
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert!(agents_model(workspace).0.starts_with('c'));
}

#[test]
fn many_commands_at_once_on_a_new_directory_all_count() {
    many_at_once(&alone());
}

#[test]
fn many_commands_at_once_on_a_new_database_all_count() {
    let server = MariaDb::start().unwrap();
    let database = server.fresh_database().unwrap();
    let mut workspace = alone();
    workspace.set("NETACLAW_ADMIN_STORE", "mysql");
    assert_refused(&workspace.run("channel list"), "NETACLAW_MYSQL_URL");
    workspace.set("NETACLAW_MYSQL_URL", &database.url());
    many_at_once(&workspace);
    // Nothing but the key is kept on this machine.
    let kept = std::fs::read_dir(workspace.path("home/.netaclaw")).unwrap();
    let kept: Vec<_> = kept.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(kept, ["secret.key"]);
    workspace.set("NETACLAW_ADMIN_STORE", "postgres");
    assert_refused(&workspace.run("channel list"), "use sqlite or mysql");
}

#[test]
fn models_that_cannot_use_tools_are_said_to_be_such() {
    let workspace = alone();
    let add = "channel add small --supplier ollama --no-tools";
    workspace.out(&format!("{add} --model a:8192 --model b"));
    let models = channel(&workspace, "small")["models"].clone();
    assert_eq!(
        (&models[0]["tools"], &models[1]["tools"]),
        (&false.into(), &false.into())
    );
    assert_eq!(models[0]["contextWindow"], 8192);
}
