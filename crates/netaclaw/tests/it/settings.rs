//! Settings of the server: each is verified by its effect, and a wrong one by its error.

use crate::served::{Server, TOKEN, World};
use netaclaw_testkit::fake_model::Reply;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::process::Stdio;

/// A server with a configuration file and variables of the environment.
pub(crate) async fn serve(world: &World, file: &str, variables: &[(&str, &str)]) -> Server {
    world.workspace.write("home/.netaclaw/config.toml", file);
    let mut command = world.workspace.command("serve --listen 127.0.0.1:0");
    command
        .current_dir(world.project())
        .envs(variables.iter().copied())
        .stderr(Stdio::piped());
    let started = Server::start(command).await;
    started.expect("the server ended before it was ready")
}

/// Whether a page of this origin may use the server.
async fn is_let_in(server: &Server, origin: &str) -> bool {
    let origin = format!("Origin: {origin}\r\n");
    let login = json!({ "token": TOKEN });
    let answer = server.exchange("POST", "login", &origin, Some(login)).await;
    match answer.split(' ').nth(1) {
        Some("200") => true,
        Some("403") => false,
        _ => panic!("{answer}"),
    }
}

#[tokio::test]
async fn other_origins_are_let_in_by_name() {
    let world = World::new().await;
    let file = "[server]\nallowed_origins = ['https://filed.example/']";
    let server = serve(&world, file, &[]).await;
    assert!(is_let_in(&server, "https://filed.example").await);
    assert!(!is_let_in(&server, "https://said.example").await);
    server.kill().await;
    let said = [(
        "NETACLAW_ALLOWED_ORIGINS",
        "https://said.example, http://b.example:81",
    )];
    let server = serve(&world, file, &said).await;
    assert!(is_let_in(&server, "https://said.example").await);
    assert!(is_let_in(&server, "http://b.example:81").await);
    assert!(!is_let_in(&server, "https://filed.example").await);
    server.kill().await;
}

#[tokio::test]
async fn the_cookie_can_be_kept_to_tls() {
    let world = World::new().await;
    let cookie = async |server: &Server| {
        let login = json!({ "token": TOKEN });
        let answer = server.exchange("POST", "login", "", Some(login)).await;
        let cookie = answer.lines().find(|line| line.starts_with("set-cookie:"));
        cookie.unwrap_or_else(|| panic!("{answer}")).to_owned()
    };
    let server = serve(&world, "", &[]).await;
    assert!(!cookie(&server).await.contains("Secure"));
    server.kill().await;
    let server = serve(&world, "[server]\nsecure_cookie = true", &[]).await;
    assert!(cookie(&server).await.contains("; Secure"));
    server.kill().await;
    let server = serve(&world, "", &[("NETACLAW_SECURE_COOKIE", "true")]).await;
    assert!(cookie(&server).await.contains("; Secure"));
    server.kill().await;
}

#[tokio::test]
async fn runs_get_as_long_as_was_said_to_come_to_their_end() {
    let world = World::new().await;
    // Without a word they would have longer than the test waits.
    for (file, variables) in [
        ("[server]\ndrain_seconds = 0", vec![]),
        ("", vec![("NETACLAW_DRAIN_SECONDS", "0")]),
    ] {
        let server = serve(&world, file, &variables).await;
        let (reply, _silence) = Reply::text("Hello.").holding_after(1);
        world.model.script().push(reply);
        let (_, mut client) = server.session("hello").await;
        server.signal(Signal::TERM);
        let done = client.wait("done", |_| true).await;
        assert_eq!(done["data"]["outcome"], "interrupted");
        assert_eq!(server.ended().await.code(), Some(0));
    }
}

#[tokio::test]
async fn the_log_says_what_was_asked_for_in_the_form_that_was_asked_for() {
    let world = World::new().await;
    let file = "[log]\nfilter = 'netaclaw_gateway=debug'\nformat = 'json'";
    let logged = async |server: &mut Server| {
        let mut log = server.log();
        // What is not HTTP is worth a line at the debug level.
        server.send(b"nonsense\r\n\r\n").await;
        log.next_line().await.unwrap().unwrap()
    };
    let mut server = serve(&world, file, &[]).await;
    let line = logged(&mut server).await;
    let read: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(
        (&read["level"], &read["target"]),
        (&json!("DEBUG"), &json!("netaclaw_gateway::http_server"))
    );
    assert!(
        read["timestamp"].is_string() && read["fields"]["message"].is_string(),
        "{line}"
    );
    server.kill().await;
    let mut server = serve(&world, file, &[("NETACLAW_LOG_FORMAT", "text")]).await;
    let line = logged(&mut server).await;
    assert!(
        line.contains("DEBUG netaclaw_gateway::http_server: "),
        "{line}"
    );
    server.kill().await;
}

#[tokio::test]
async fn a_wrong_value_is_refused_at_the_start() {
    let world = World::new().await;
    let refused = |file: &str, variable: Option<(&str, &str)>, parts: [&str; 2]| {
        world.workspace.write("home/.netaclaw/config.toml", file);
        let mut command = world.workspace.command("serve --listen 127.0.0.1:0");
        command
            .envs(variable)
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (output.status.code(), said.lines().count()),
            (Some(1), 1),
            "{said}"
        );
        for part in parts {
            assert!(said.contains(part), "{said}");
        }
    };
    for (name, value, part) in [
        (
            "NETACLAW_ALLOWED_ORIGINS",
            "example.org",
            "https://example.org",
        ),
        ("NETACLAW_SECURE_COOKIE", "yes", "true or false"),
        ("NETACLAW_DRAIN_SECONDS", "long", "number of seconds"),
        ("NETACLAW_LOG", "inof", "warn, info"),
        ("NETACLAW_LOG_FORMAT", "xml", "text or json"),
    ] {
        refused("", Some((name, value)), [value, part]);
    }
    refused(
        "[server]\nallowed_origins = ['*']",
        None,
        ["\"*\"", "https://example.org"],
    );
    refused("[server]\nsecure_cookie = 1", None, ["line 2", "boolean"]);
    refused("[server]\ndrain_seconds = 7200", None, ["7200", "3600"]);
    refused("[log]\nfilter = 'loud'", None, ["loud", "debug"]);
    refused("[log]\nformat = 'yaml'", None, ["yaml", "json"]);
}
