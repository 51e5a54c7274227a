//! Backups: made while a server is busy, verified, restored, and refused where they are not whole.

use crate::served::{Server, World};
use crate::support::{SAMPLE_ID, Workspace};
use futures::future::join_all;
use netaclaw_testkit::fake_model::Reply;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Chats that run during the backup.
const CHATS: &str = "NETACLAW_TEST_BACKUP_CHATS";
const PASSWORD: &str = "a password for the test";

/// What the server has acknowledged: session and text of each message, names of agents.
#[derive(Default)]
struct Acknowledged {
    messages: Mutex<Vec<(String, String)>>,
    agents: Mutex<Vec<String>>,
    stop: AtomicBool,
}

impl Acknowledged {
    fn count(&self) -> (usize, usize) {
        let messages = self.messages.lock().unwrap().len();
        (messages, self.agents.lock().unwrap().len())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_acknowledged_before_a_backup_under_load_is_restored() {
    let chats: usize = std::env::var(CHATS).map_or(20, |count| count.parse().unwrap());
    let mut world = World::new().await;
    world.workspace.set("A_KEY", "sk-for-the-test");
    let url = world.model.openai_url();
    world.workspace.out(&format!(
        "channel add keyed --supplier compatible --base-url {url} --model m --api-key-env A_KEY"
    ));
    world
        .model
        .script()
        .otherwise(Reply::tokens(30).with_pace(100.0));
    // One user has all chats. The file is part of the backup.
    let limits = "[limits]\nruns_per_user = 0\nmessages_per_minute = 0\n";
    world.workspace.write("home/.netaclaw/config.toml", limits);
    let server = Arc::new(world.serve().await);
    let ann = json!({"name": "ann", "role": "admin", "password": PASSWORD});
    assert_eq!(server.http("POST", "users", Some(ann)).await.0, 201);
    let seen = Arc::new(Acknowledged::default());
    let chatting =
        (0..chats).map(|number| tokio::spawn(chat(server.clone(), seen.clone(), number)));
    let chatting: Vec<_> = chatting.collect();
    let changing = tokio::spawn(change(server.clone(), seen.clone()));
    while seen.count().0 < 3 * chats || seen.count().1 < 5 {
        tokio::task::yield_now().await;
    }

    let before = seen.count();
    let began = Instant::now();
    let mut backup = world.workspace.command("backup copy");
    backup.stdout(Stdio::piped()).stderr(Stdio::piped());
    let backup = tokio::process::Command::from(backup)
        .output()
        .await
        .unwrap();
    let took = began.elapsed();
    let during = seen.count();
    seen.stop.store(true, Ordering::Relaxed);
    assert!(backup.status.success(), "{backup:?}");
    join_all(chatting)
        .await
        .into_iter()
        .for_each(|job| job.unwrap());
    changing.await.unwrap();
    Arc::into_inner(server).unwrap().kill().await;
    println!(
        "{chats} chats: {before:?} messages and agents acknowledged before the backup, {during:?} at its end after {took:?}"
    );

    world.workspace.out("restore --check copy");
    world.workspace.out("restore copy --data-dir restored");
    world
        .workspace
        .out("session verify --all --data-dir restored");
    let tested = world
        .workspace
        .run("channel test keyed --data-dir restored");
    assert_eq!(tested.code, 0, "its key is decrypted: {}", tested.err);
    let mut command = world
        .workspace
        .command("serve --listen 127.0.0.1:0 --data-dir ../restored");
    command.current_dir(world.project()).stderr(Stdio::null());
    let server = Server::start(command).await.unwrap();
    let login = json!({"name": "ann", "password": PASSWORD});
    assert_eq!(server.http("POST", "login", Some(login)).await.0, 200);
    must_have(&server, &seen, before).await;
}

/// Sends one message after the other into one session.
async fn chat(server: Arc<Server>, seen: Arc<Acknowledged>, number: usize) {
    let mut client = server.client().await;
    let mut session: Option<String> = None;
    for round in 0.. {
        let text = format!("message {number}-{round}.");
        let message = json!({"content": text, "sessionId": session});
        let ack = client.call("chat", message).await;
        assert_eq!(ack["ok"], true, "{ack}");
        let id = ack["sessionId"].as_str().unwrap().to_owned();
        seen.messages.lock().unwrap().push((id.clone(), text));
        session = Some(id);
        client.wait_count("done", 1).await;
        client.events.clear();
        if seen.stop.load(Ordering::Relaxed) {
            return;
        }
    }
}

/// Makes one agent after the other, and changes them.
async fn change(server: Arc<Server>, seen: Arc<Acknowledged>) {
    for number in 0.. {
        let name = format!("agent-{number}");
        let agent = json!({"name": name, "label": "x".repeat(50)});
        let (status, made) = server.http("POST", "agents", Some(agent)).await;
        assert_eq!(status, 201, "{made}");
        seen.agents.lock().unwrap().push(name);
        let path = "settings/clarify.timeoutMs";
        server
            .http("PUT", path, Some(json!({"value": 60_000 + number})))
            .await;
        if seen.stop.load(Ordering::Relaxed) {
            return;
        }
    }
}

async fn must_have(server: &Server, seen: &Acknowledged, before: (usize, usize)) {
    let messages = seen.messages.lock().unwrap()[..before.0].to_vec();
    for (session, text) in messages {
        let path = format!("sessions/{session}/messages");
        let (status, found) = server.http("GET", &path, None).await;
        assert_eq!(status, 200, "{session}");
        let found = found.to_string().matches(&text).count();
        assert_eq!(found, 1, "{text} in {session}");
    }
    let (status, agents) = server.http("GET", "agents", None).await;
    assert_eq!(status, 200);
    let agents = agents.to_string();
    for name in &seen.agents.lock().unwrap()[..before.1] {
        assert!(agents.contains(&format!("\"{name}\"")), "{name}");
    }
}

/// A data directory with a session in it, and a backup of it.
fn backed_up() -> Workspace {
    let workspace = Workspace::with_sample();
    workspace.out("session import sample.jsonl");
    workspace.out("agent list");
    workspace.out("backup copy");
    workspace
}

#[test]
fn a_backup_is_private_and_lists_every_file() {
    let workspace = backed_up();
    let manifest: serde_json::Value =
        serde_json::from_str(&workspace.read("copy/manifest.json")).unwrap();
    let paths: Vec<&str> = manifest["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert!(
        paths.contains(&"netaclaw.db") && paths.contains(&"secret.key"),
        "{paths:?}"
    );
    assert!(
        paths.iter().any(|path| path.contains(SAMPLE_ID)),
        "{paths:?}"
    );
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&workspace.path("copy")), 0o700);
    for path in paths {
        assert_eq!(
            mode(&workspace.path("copy").join(path)) & 0o077,
            0,
            "{path}"
        );
    }
    let checked = workspace.json("restore --check copy --json");
    assert_eq!(checked["sessions"], 1);
}

#[test]
fn a_target_in_use_or_in_the_data_directory_is_refused() {
    let workspace = backed_up();
    for (arguments, why) in [
        ("backup copy", "it is not empty"),
        (
            "backup home/.netaclaw/copy",
            "it is inside the data directory",
        ),
        ("restore copy", "it is not empty"),
        ("restore home", "no manifest.json"),
        ("restore copy --lang zh", "目录不为空"),
    ] {
        let ran = workspace.run(arguments);
        assert_eq!(ran.code, 1, "{arguments}");
        assert!(ran.err.contains(why), "{arguments}: {}", ran.err);
    }
    workspace.write("next.partial/something", "");
    let ran = workspace.run("backup next");
    assert!(
        ran.code == 1 && ran.err.contains("interrupted"),
        "{}",
        ran.err
    );
}

#[test]
fn a_backup_that_is_not_whole_is_not_restored() {
    let workspace = backed_up();
    let manifest = workspace.read("copy/manifest.json");
    let found: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let files = found["files"].as_array().unwrap();
    let session = files
        .iter()
        .find(|file| file["path"].as_str().unwrap().ends_with(".jsonl"));
    let session = format!("copy/{}", session.unwrap()["path"].as_str().unwrap());
    let text = workspace.read(&session);
    let refused = |why: &str| {
        for check in ["--check", ""] {
            let ran = workspace.run(&format!("restore {check} copy --data-dir new"));
            assert_eq!(ran.code, 1, "{why}");
            assert!(ran.err.contains(why), "{}", ran.err);
            assert!(!workspace.path("new").exists(), "nothing is written");
        }
    };
    workspace.write(&session, text.replacen("user", "usex", 1));
    refused("different from the manifest: 1");
    std::fs::remove_file(workspace.path(&session)).unwrap();
    refused("missing");
    workspace.write(&session, &text);
    workspace.write(
        "copy/manifest.json",
        manifest.replace("\"format\": 1", "\"format\": 2"),
    );
    refused("its format is 2");
    workspace.write(
        "copy/manifest.json",
        manifest.replace("\"secret.key\"", "\"../secret.key\""),
    );
    refused("outside the data directory");
    std::fs::remove_file(workspace.path("copy/manifest.json")).unwrap();
    refused("not a complete backup");
}

#[test]
fn an_interrupted_restore_is_not_served() {
    let workspace = backed_up();
    workspace.out("restore copy --data-dir new");
    workspace.out("agent list --data-dir new");
    workspace.write("new/restore.incomplete", "");
    for command in ["agent list", "serve --listen 127.0.0.1:0"] {
        let ran = workspace.run(&format!("{command} --data-dir new"));
        assert_eq!(ran.code, 1);
        assert!(
            ran.err
                .contains("a restore into this directory was interrupted"),
            "{}",
            ran.err
        );
    }
}

#[test]
fn a_damaged_database_is_found_before_the_server_starts() {
    let workspace = backed_up();
    let file = workspace.path("home/.netaclaw/netaclaw.db");
    let mut bytes = std::fs::read(&file).unwrap();
    // As a copy that mixes two states: every page behind the first is of another time.
    let pages = bytes.len() / 4096;
    assert!(pages > 8);
    for page in 3..pages {
        bytes[page * 4096..page * 4096 + 64].fill(0x5a);
    }
    std::fs::write(&file, bytes).unwrap();
    let ran = workspace.run("serve --listen 127.0.0.1:0");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("the database is damaged"), "{}", ran.err);
    assert!(ran.err.contains("netaclaw restore"), "{}", ran.err);
    let ran = workspace.run("doctor --offline");
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("the database is damaged"), "{}", ran.out);
}
