//! Outputs that cannot be written and limits of the system: the real server answers all the same.

use crate::served::{Server, TOKEN, World};
use netaclaw_testkit::fake_model::Reply;
use netaclaw_testkit::socket::Client;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use rustix::process::{Resource, Rlimit, Signal, getrlimit, prlimit};
use serde_json::{Value, json};
use std::ffi::CString;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
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
    assert_eq!(refused["code"], "unavailable", "{refused}");
    let said = refused["message"].as_str().unwrap();
    assert!(said.contains("size limit") && !said.contains('/'), "{said}");
    let (status, body) = ready(&server).await;
    assert_eq!(status, 503);
    assert_eq!(body["details"]["check"], "data_directory", "{body}");
    // The server is there, and continues when it can write.
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

/// Whether the server says that it can work.
async fn ready(server: &Server) -> (u16, Value) {
    server.http("GET", "/readyz", None).await
}

/// The data directory on a disk of its own, with little room.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None` where this user may not mount anything.
    fn mount(dir: PathBuf, bytes: usize) -> Option<Self> {
        let kept = tempfile::tempdir().unwrap();
        let data = CString::new(format!("size={bytes},mode=0700")).unwrap();
        copy(&dir, kept.path());
        mount("tmpfs", &dir, "tmpfs", MountFlags::empty(), data.as_c_str()).ok()?;
        let disk = Self(dir);
        copy(kept.path(), &disk.0);
        Some(disk)
    }

    /// Leaves no room at all.
    fn fill(&self) {
        let mut file = File::create(self.0.join("filler")).unwrap();
        for bytes in [1 << 16, 1 << 12, 1] {
            while file.write_all(&vec![b'x'; bytes]).is_ok() {}
        }
    }

    fn make_room(&self) {
        std::fs::remove_file(self.0.join("filler")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        unmount(&self.0, UnmountFlags::DETACH).unwrap();
    }
}

fn copy(from: &Path, to: &Path) {
    for item in std::fs::read_dir(from).unwrap() {
        let item = item.unwrap();
        let target = to.join(item.file_name());
        match item.file_type().unwrap().is_dir() {
            true => {
                std::fs::create_dir(&target).unwrap();
                copy(&item.path(), &target);
            }
            false => drop(std::fs::copy(item.path(), target).unwrap()),
        }
    }
}

#[tokio::test]
async fn a_full_disk_is_reported_and_recovers() {
    let world = World::new().await;
    let dir = world.workspace.path("home/.netaclaw");
    let Some(disk) = SmallDisk::mount(dir, 16 << 20) else {
        return;
    };
    let server = world.serve().await;
    world.model.script().push(Reply::text("One."));
    let (id, mut client) = server.session("first").await;
    client.wait_count("done", 1).await;
    disk.fill();
    let again = json!({"sessionId": id, "content": "second ".repeat(2000)});
    let refused = client.call("chat", again.clone()).await;
    assert_eq!(refused["code"], "unavailable", "{refused}");
    assert_eq!(refused["reason"]["code"], "disk_full", "{refused}");
    let message = refused["message"].as_str().unwrap();
    assert!(!message.contains('/'), "{message}");
    let (status, body) = ready(&server).await;
    assert_eq!(status, 503);
    assert_eq!(body["details"]["check"], "data_directory", "{body}");
    assert_eq!(body["reason"]["fault"]["code"], "disk_full", "{body}");
    disk.make_room();
    while ready(&server).await.0 != 200 {}
    world.model.script().push(Reply::text("Two."));
    let ack = client.call("chat", again).await;
    assert_eq!(ack["ok"], true, "{ack}");
    client.wait_count("done", 2).await;
    server.kill().await;
}
