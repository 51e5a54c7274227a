//! What a server writes into its data directory is for its owner alone.

use crate::served::{Server, TOKEN, World};
use crate::support::{message, session};
use netaclaw_testkit::fake_model::Reply;
use rustix::fs::Mode;
use serde_json::json;
use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::test]
async fn under_the_usual_umask_no_other_user_can_read_anything() {
    rustix::process::umask(Mode::from_raw_mode(0o022));
    let world = World::new().await;
    let data = world.workspace.path("home/.netaclaw");
    // As an earlier version left them, and as a user created the directory.
    let old = "home/.netaclaw/sessions/--srv--/2026-01-01T00-00-00-000Z_old.jsonl";
    let text = session("old", &[message("a", None, "an old secret")]);
    world.workspace.write(old, text);
    world
        .workspace
        .write("home/.netaclaw/process-logs/old/call.jsonl", "{}");
    for dir in ["", "sessions", "sessions/--srv--", "process-logs"] {
        set_permissions(data.join(dir), Permissions::from_mode(0o755)).unwrap();
    }
    world.workspace.out("skill new greeter");
    let server = world.serve().await;
    world.runs("echo hello");
    world.model.script().push(Reply::text("done"));
    let (_, mut client) = server.session("run it").await;
    client.wait("done", |_| true).await;
    upload(server.address).await;
    server.http("GET", "sessions", None).await;
    let mut open = Vec::new();
    walk(&data, &mut open);
    assert!(open.is_empty(), "{open:#?}");
    for made in [
        "sessions/index.json",
        "attachments",
        "running",
        "skills/greeter",
    ] {
        assert!(data.join(made).exists(), "{made}");
    }
}

#[tokio::test]
async fn a_start_around_the_data_directory_names_the_agents_that_work_there() {
    let world = World::new().await;
    let mut command = world.workspace.command("serve --listen 127.0.0.1:0");
    let home = world.workspace.path("home");
    command.current_dir(home).stderr(Stdio::piped());
    let mut server = Server::start(command).await.unwrap();
    let mut log = server.log();
    loop {
        let line = log.next_line().await.unwrap();
        let line = line.expect("the log ended without the warning");
        if line.contains("agent default: its workspace contains the data directory") {
            break;
        }
    }
    server.kill().await;
}

/// What an agent of the real server reads of its own machine, with every tool that reads.
#[tokio::test]
async fn keys_in_the_workspace_are_hidden_from_tools_and_programs() {
    const SECRET: &str = "marked-as-secret";
    let mut world = World::new().await;
    world
        .workspace
        .set("NETACLAW_CONFIG", "../elsewhere/own.toml");
    world
        .workspace
        .write("elsewhere/own.toml", format!("# {SECRET}\n"));
    let hidden = [
        ".netaclaw/sessions/of-others.jsonl",
        ".ssh/id_ed25519",
        ".npmrc",
        ".pgpass",
        ".aws/credentials",
        ".config/gh/hosts.yml",
    ];
    for path in hidden {
        world.workspace.write(&format!("home/{path}"), SECRET);
    }
    world.workspace.write("home/notes.txt", "an open note");
    let mut command = world.workspace.command("serve --listen 127.0.0.1:0");
    command
        .current_dir(world.workspace.path("home"))
        .stderr(Stdio::null());
    let server = Server::start(command).await.unwrap();
    let mut calls = Reply::default().and_tool_call("open", "read", r#"{"path": "notes.txt"}"#);
    for (at, path) in hidden.iter().enumerate() {
        let args = json!({ "path": path }).to_string();
        calls = calls.and_tool_call(&format!("read{at}"), "read", &args);
    }
    let config = world.workspace.path("elsewhere/own.toml");
    let mut command = format!("cat notes.txt {}", config.display());
    for path in hidden {
        command += &format!(" ~/{path} {path}");
    }
    let calls = calls
        .and_tool_call("grep", "grep", &json!({ "pattern": SECRET }).to_string())
        .and_tool_call("bash", "bash", &json!({ "command": command }).to_string());
    world.model.script().push(calls);
    world.model.script().push(Reply::text("done"));
    let (_, mut client) = server.session("look around").await;
    client.wait("done", |_| true).await;
    let requests = world.model.script().requests();
    let results = requests.iter().map(|request| request.body.to_string());
    let results = results.max_by_key(String::len).unwrap();
    // Once from the tool and once from the program, so that both have run.
    assert_eq!(results.matches("an open note").count(), 2, "{results}");
    // Once in the arguments of `grep`.
    assert_eq!(results.matches(SECRET).count(), 1, "{results}");
}

#[tokio::test]
async fn temporary_files_of_a_session_are_hidden_from_another() {
    let world = World::new().await;
    let server = world.serve().await;
    world.runs("echo a secret note > $TMPDIR/note; echo in:$TMPDIR:");
    world.model.script().push(Reply::text("done"));
    let (_, mut client) = server.session("write it").await;
    client.wait("done", |_| true).await;
    let requests = world.model.script().requests();
    let bodies = requests.iter().map(|request| request.body.to_string());
    let told = bodies.max_by_key(String::len).unwrap();
    let dir = told
        .split("in:")
        .find(|part| part.starts_with('/'))
        .unwrap();
    let dir = dir.split(':').next().unwrap();
    assert!(Path::new(dir).join("note").exists(), "{told}");

    let path = json!({ "path": format!("{dir}/note") }).to_string();
    let command = json!({ "command": format!("cat {dir}/note; ls {dir}; echo ran") }).to_string();
    let calls = Reply::tool_call("read", "read", &path)
        .and_tool_call("ls", "ls", &json!({ "path": dir }).to_string())
        .and_tool_call("bash", "bash", &command);
    world.model.script().push(calls);
    world.model.script().push(Reply::text("done"));
    let before = world.model.script().requests().len();
    let (_, mut client) = server.session("read it").await;
    client.wait("done", |_| true).await;
    let requests = world.model.script().requests().split_off(before);
    let bodies = requests.iter().map(|request| request.body.to_string());
    let told = bodies.max_by_key(String::len).unwrap();
    assert!(told.contains("ran"), "{told}");
    assert!(!told.contains("a secret note"), "{told}");
}

fn walk(dir: &Path, open: &mut Vec<String>) {
    for item in std::fs::read_dir(dir).unwrap() {
        let path = item.unwrap().path();
        let mode = path.symlink_metadata().unwrap().permissions().mode();
        if mode & 0o077 != 0 {
            open.push(format!("{:o} {}", mode & 0o777, path.display()));
        }
        if path.is_dir() {
            walk(&path, open);
        }
    }
}

async fn upload(server: std::net::SocketAddr) {
    let body = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nhello\r\n--b--\r\n";
    let head = format!(
        "POST /admin/netaclaw/attachments HTTP/1.0\r\nHost: {server}\r\nAuthorization: Bearer {TOKEN}\r\n\
         Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = tokio::net::TcpStream::connect(server).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.contains(" 201 "), "{answer}");
}
