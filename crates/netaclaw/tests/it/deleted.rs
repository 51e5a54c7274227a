//! Deleted sessions: restored for a while, and then removed for good.

use crate::served::{Server, TOKEN, World};
use crate::support::{SAMPLE_ID, Workspace};
use netaclaw_testkit::fake_model::Reply;
use serde_json::json;
use std::path::{Path, PathBuf};

const SECRET: &str = "a-word-that-occurs-nowhere-else";

/// The files below a directory that contain a text.
fn holding(dir: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for item in std::fs::read_dir(dir).unwrap() {
        let path = item.unwrap().path();
        if path.is_dir() {
            found.extend(holding(&path, text));
        } else if String::from_utf8_lossy(&std::fs::read(&path).unwrap()).contains(text) {
            found.push(path);
        }
    }
    found
}

#[tokio::test]
async fn delete_now_leaves_nothing_in_the_data_directory() {
    let world = World::new().await;
    let data = world.workspace.path("home/.netaclaw");
    world.model.script().otherwise(Reply::text("seen"));
    let server = world.serve().await;
    let (id, mut client) = server.session(SECRET).await;
    client.wait("done", |_| true).await;
    let path = format!("sessions/{id}");
    assert_eq!(server.http("DELETE", &path, None).await.0, 204);
    assert!(!holding(&data, SECRET).is_empty(), "it can be restored");
    let active = Some(json!({"status": "active"}));
    assert_eq!(server.http("PATCH", &path, active).await.0, 200);
    assert_eq!(server.http("GET", &path, None).await.0, 200);

    let now = format!("{path}?now=true");
    assert_eq!(server.http("DELETE", &now, None).await.0, 204);
    assert_eq!(server.http("DELETE", &now, None).await.0, 404);
    // The listing brings its index up to date.
    server.http("GET", "sessions", None).await;
    assert_eq!(holding(&data, SECRET), Vec::<PathBuf>::new());
}

/// A workspace with the sample, deleted in 2020.
fn deleted_long_ago() -> Workspace {
    let workspace = Workspace::with_sample();
    workspace.out("session import sample.jsonl");
    workspace.out(&format!("session delete {SAMPLE_ID}"));
    let held = holding(&workspace.path("home/.netaclaw/sessions"), SAMPLE_ID);
    let is_session = |path: &&PathBuf| path.extension().is_some_and(|end| end == "jsonl");
    let file = held.iter().find(is_session).unwrap();
    let text = std::fs::read_to_string(file).unwrap();
    // The last line is the deletion.
    let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let deleted_at = last["timestamp"].as_str().unwrap();
    let text = text.replace(deleted_at, "2020-01-01T00:00:00.000Z");
    std::fs::write(file, text).unwrap();
    workspace
}

/// How many deleted sessions a server leaves that keeps them so long.
async fn left_after_a_sweep(workspace: &Workspace, days: &str) -> u64 {
    let mut command = workspace.command("serve --listen 127.0.0.1:0");
    command
        .env("NETACLAW_KEEP_DELETED_DAYS", days)
        .env("NETACLAW_TOKEN", TOKEN)
        .env("NETACLAW_LOG", "netaclaw=debug")
        .stderr(std::process::Stdio::piped());
    let mut server = Server::start(command).await.unwrap();
    let mut log = server.log();
    loop {
        let line = log.next_line().await.unwrap().expect("the sweep is logged");
        if line.contains("completed the daily maintenance") {
            break;
        }
    }
    server.kill().await;
    let listed = workspace.json("session list --status deleted --json");
    listed["total"].as_u64().unwrap()
}

#[tokio::test]
async fn the_retention_period_decides_what_is_removed() {
    let workspace = deleted_long_ago();
    assert_eq!(left_after_a_sweep(&workspace, "unlimited").await, 1);
    assert_eq!(left_after_a_sweep(&workspace, "36500").await, 1);
    assert_eq!(left_after_a_sweep(&workspace, "30").await, 0);
}

#[test]
fn the_command_line_deletes_restores_and_deletes_now() {
    let workspace = Workspace::with_sample();
    workspace.out("session import sample.jsonl");
    let short = &SAMPLE_ID[..8];
    workspace.out(&format!("session delete {short}"));
    for command in ["show", "export --format md", "tree", "delete"] {
        let ran = workspace.run(&format!("session {command} {SAMPLE_ID}"));
        assert_eq!(ran.code, 1, "{command}: {}", ran.err);
        assert!(ran.err.contains("session undelete"), "{}", ran.err);
    }
    workspace.out(&format!("session undelete {SAMPLE_ID}"));
    workspace.out(&format!("session show {SAMPLE_ID}"));
    workspace.out(&format!("session delete {short}"));
    let said = workspace.out(&format!("session delete {SAMPLE_ID} --now"));
    assert!(said.contains("deleted permanently"), "{said}");
    let ran = workspace.run(&format!("session undelete {SAMPLE_ID}"));
    assert_eq!(ran.code, 1);
    let left = workspace.json("session list --status deleted --json");
    assert_eq!(left["total"], 0);
}
