//! Outputs that cannot be written and limits of the system: the real server answers all the same.

use crate::served::{Server, TOKEN, World};
use netaclaw_testkit::fake_model::Reply;
use netaclaw_testkit::socket::Client;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Resource, Rlimit, Signal, getrlimit, prlimit};
use serde_json::json;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::Stdio;
use tokio::net::TcpStream;

/// Starts a server that logs everything it can to `stderr`.
async fn logging_to(world: &World, stderr: impl Into<Stdio>) -> Server {
    let mut command = world.workspace.command("serve --listen 127.0.0.1:0");
    command
        .current_dir(world.project())
        .env("NETACLAW_LOG", "trace")
        .stderr(stderr);
    let started = Server::start(command).await;
    started.expect("the server ended before it was ready")
}

/// Logs in, asks and chats, and ends the server.
async fn serves(world: &World, server: Server) {
    let login = json!({ "token": TOKEN });
    assert_eq!(server.http("POST", "login", Some(login)).await.0, 200);
    assert_eq!(server.http("GET", "sessions", None).await.0, 200);
    // More than one socket, and more than one message of each.
    for _ in 0..2 {
        world.model.script().push(Reply::text("One."));
        let (id, mut client) = server.session("first").await;
        client.wait_count("done", 1).await;
        world.model.script().push(Reply::text("Two."));
        let ack = client
            .call("chat", json!({"sessionId": id, "content": "second"}))
            .await;
        assert_eq!(ack["ok"], true, "{ack}");
        client.wait_count("done", 2).await;
    }
    server.signal(Signal::TERM);
    assert_eq!(server.ended().await.code(), Some(0));
}

#[tokio::test]
async fn a_log_on_a_full_disk() {
    let world = World::new().await;
    let full = File::options().write(true).open("/dev/full").unwrap();
    let server = logging_to(&world, full).await;
    serves(&world, server).await;
}

#[tokio::test]
async fn a_log_whose_reader_is_gone() {
    let world = World::new().await;
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let server = logging_to(&world, writer).await;
    serves(&world, server).await;
}

#[tokio::test]
async fn a_log_whose_reader_does_not_read() {
    let world = World::new().await;
    let (_reader, mut writer) = std::io::pipe().unwrap();
    let flags = fcntl_getfl(&writer).unwrap();
    fcntl_setfl(&writer, flags | OFlags::NONBLOCK).unwrap();
    loop {
        match writer.write(&[b'x'; 4096]) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => panic!("{error}"),
        }
    }
    fcntl_setfl(&writer, flags).unwrap();
    let server = logging_to(&world, writer).await;
    serves(&world, server).await;
}

#[tokio::test]
async fn a_standard_output_that_cannot_be_written() {
    let world = World::new().await;
    world.model.script().push(Reply::text("Hello."));
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address: SocketAddr = free.local_addr().unwrap();
    drop(free);
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let mut command = world
        .workspace
        .command(&format!("serve --listen {address}"));
    command
        .current_dir(world.project())
        .stdout(full())
        .stderr(full());
    let mut command = tokio::process::Command::from(command);
    let mut process = command.kill_on_drop(true).spawn().unwrap();
    // It cannot say when it is ready: it is when it takes connections.
    while TcpStream::connect(address).await.is_err() {
        assert!(
            process.try_wait().unwrap().is_none(),
            "the server has ended"
        );
        tokio::task::yield_now().await;
    }
    let auth = json!({"token": TOKEN, "events": ["current"]});
    let mut client = Client::connect(address, auth).await.unwrap();
    let ack = client.call("chat", json!({ "content": "hello" })).await;
    assert_eq!(ack["ok"], true, "{ack}");
    client.wait("done", |_| true).await;
    process.kill().await.unwrap();
}

#[tokio::test]
async fn a_file_size_limit_refuses_and_does_not_kill() {
    let world = World::new().await;
    let server = world.serve().await;
    world.model.script().push(Reply::text("One."));
    let (id, mut client) = server.session("first").await;
    client.wait_count("done", 1).await;
    // Less than the session's file has: no further line fits.
    let none = Rlimit {
        current: Some(16),
        ..getrlimit(Resource::Fsize)
    };
    prlimit(Some(server.pid()), Resource::Fsize, none).unwrap();
    let again = json!({"sessionId": id, "content": "second"});
    let refused = client.call("chat", again.clone()).await;
    assert_eq!(refused["ok"], false, "{refused}");
    // The server is there, and goes on when it may write.
    prlimit(
        Some(server.pid()),
        Resource::Fsize,
        Rlimit {
            current: none.maximum,
            ..none
        },
    )
    .unwrap();
    world.model.script().push(Reply::text("Two."));
    let ack = client.call("chat", again).await;
    assert_eq!(ack["ok"], true, "{ack}");
    client.wait_count("done", 2).await;
    server.kill().await;
}
