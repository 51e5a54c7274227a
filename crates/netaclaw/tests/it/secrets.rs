//! Where secrets of a server must not appear: in its log, and in an output that is kept.

use crate::pty::Pty;
use crate::served::{Server, TOKEN, World};
use crate::support::Workspace;
use netaclaw_testkit::fake_model::Reply;
use netaclaw_testkit::socket::Client;
use rustix::process::Signal;
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

const MODEL_KEY: &str = "marked-key-of-the-model";
const PASSWORD: &str = "marked password";

#[tokio::test]
async fn no_level_of_the_log_shows_a_secret() {
    let mut world = World::new().await;
    world.workspace.set("MODEL_KEY", MODEL_KEY);
    world.workspace.out(&format!(
        "channel add keyed --supplier compatible --base-url {} --api-key-env MODEL_KEY --model m --default",
        world.model.openai_url()
    ));
    for filter in ["info", "debug", "trace", "warn,socketioxide::client=trace"] {
        let (log, secrets) = worked(&world, filter).await;
        for secret in &secrets {
            let line = log.iter().find(|line| line.contains(secret));
            assert_eq!(line, None, "{secret:?} at {filter}");
        }
        if ["debug", "trace"].contains(&filter) {
            let own = log.iter().any(|line| line.contains("netaclaw_gateway"));
            assert!(own, "details of our own at {filter}: {log:#?}");
        }
    }
}

/// The log of a server that was used in every way that shows a secret, and these secrets.
async fn worked(world: &World, filter: &str) -> (Vec<String>, Vec<String>) {
    let mut command = world.workspace.command("serve --listen 127.0.0.1:0");
    command.env("NETACLAW_LOG", filter).stderr(Stdio::piped());
    let mut server = Server::start(command).await.unwrap();
    let mut lines = server.log();
    let log = tokio::spawn(async move {
        let mut log = Vec::new();
        while let Ok(Some(line)) = lines.next_line().await {
            log.push(line);
        }
        log
    });

    let (_, me) = server.http("GET", "me", None).await;
    let spec = json!({ "userId": me["userId"], "label": "cli", "scope": "full" });
    let (status, issued) = server.http("POST", "tokens", Some(spec)).await;
    assert_eq!(status, 201, "{issued}");
    let issued = issued["secret"].as_str().unwrap().to_owned();
    let login = json!({ "token": TOKEN });
    let login = server.exchange("POST", "login", "", Some(login)).await;
    let cookie = login.lines().find_map(|line| {
        let value = line.strip_prefix("set-cookie: netaclaw_session=")?;
        value.split(';').next()
    });
    let cookie = cookie.unwrap().to_owned();
    let wrong = json!({ "name": "admin", "password": PASSWORD });
    assert_eq!(server.http("POST", "login", Some(wrong)).await.0, 401);
    server
        .send(format!("GET /?token={issued} HTTP/1.0\r\n\r\n").as_bytes())
        .await;
    server.send(b"nonsense\r\n\r\n").await;

    world.model.script().push(Reply::text("Hello."));
    for token in [TOKEN, &issued, &cookie] {
        let auth = json!({ "token": token });
        let mut client = Client::connect(server.address, auth).await.unwrap();
        assert_eq!(client.call("ping", json!({})).await["ok"], true);
    }
    let (_, mut client) = server.session("a message").await;
    client.wait("done", |_| true).await;

    server.signal(Signal::TERM);
    server.ended().await;
    let secrets = [TOKEN, &issued, &cookie, PASSWORD, MODEL_KEY].map(str::to_owned);
    (log.await.unwrap(), secrets.to_vec())
}

#[test]
fn an_output_that_is_kept_has_no_link_and_says_how_to_get_one() {
    let workspace = Workspace::new();
    let without = workspace.run("link");
    assert_eq!(without.code, 1);
    assert!(without.err.contains("NETACLAW_TOKEN"), "{}", without.err);

    let mut command = workspace.command("serve --listen 127.0.0.1:0");
    let mut server = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    let token = workspace.read("home/.netaclaw/access.token");
    assert!(!line.contains(token.trim()), "{line}");
    let command = line.split('`').nth(1).unwrap();
    let arguments = command.strip_prefix("netaclaw ").unwrap();
    let address = arguments.split(' ').next_back().unwrap();
    let link = workspace.out(arguments);
    assert_eq!(
        link.trim(),
        format!("http://{address}/?token={}", token.trim())
    );
    server.kill().unwrap();
    server.wait().unwrap();

    // With a token that only the operator knows, there is nothing to print.
    let mut command = workspace.command("serve --listen 127.0.0.1:0");
    let mut server = command
        .env("NETACLAW_TOKEN", TOKEN)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    line.clear();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    assert!(
        line.contains("NETACLAW_TOKEN") && !line.contains(TOKEN),
        "{line}"
    );
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn a_terminal_shows_the_link() {
    let workspace = Workspace::new();
    let mut terminal = Pty::start(&workspace, "serve --listen 127.0.0.1:0");
    terminal.wait("/?token=");
    let token = workspace.read("home/.netaclaw/access.token");
    terminal.wait(token.trim());
    terminal.control_c();
    assert_eq!(terminal.end().0.code(), Some(0));
}
