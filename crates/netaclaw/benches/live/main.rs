//! A live server measured: NetaClaw, with all it stores and sends, compared with a Node relay that
//! stores nothing, with the same fake model and the same clients in the same run. Prints a table
//! and writes the figures as JSON; asserts nothing.
//!
//! `cargo bench -p netaclaw --bench live -- [--chats 100] [--tokens 400] [--pace 50] [--idle 1000]
//! [--repeat 3] [--quick] [--beside BINARY]`
//!
//! `--quick` leaves out the relay and all memory, for a first look at a change. `--beside` measures
//! another build of NetaClaw too, in turns with this one, so that a change is judged by a ratio of
//! one run. `--hostile` measures instead what a hostile user costs the others, and `--one-user`
//! what it costs that many sockets belong to one user.

#![expect(clippy::print_stdout, reason = "a benchmark's output is its purpose")]

mod client;
mod hostile;
mod load;
mod one_user;
mod process;
mod report;
mod users;

use client::Events;
use load::{Load, Pace};
use netaclaw_testkit::fake_model::FakeModel;
use process::{NETACLAW, Server};
use report::{Figures, Report};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Starts of the server that are timed.
const STARTS: usize = 20;

fn main() -> anyhow::Result<()> {
    let load = Load {
        chats: number("--chats", 100)?,
        tokens: number("--tokens", 400)?,
        pace: number("--pace", 50)?,
        idle: number("--idle", 1000)?,
        sessions: number("--sessions", 50)?,
        turns: number("--turns", 100)?,
    };
    let plan = Plan {
        quick: std::env::args().any(|argument| argument == "--quick"),
        hostile: std::env::args().any(|argument| argument == "--hostile"),
        one_user: std::env::args().any(|argument| argument == "--one-user"),
        beside: argument("--beside").map(PathBuf::from),
        repeat: number("--repeat", 3)?,
    };
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        // Apart from those of the servers in a profile.
        .thread_name("bench")
        .enable_all()
        .build()?
        .block_on(run(&load, &plan))
}

/// What is measured, and how often.
struct Plan {
    quick: bool,
    hostile: bool,
    one_user: bool,
    /// Another build of NetaClaw.
    beside: Option<PathBuf>,
    repeat: usize,
}

async fn run(load: &Load, plan: &Plan) -> anyhow::Result<()> {
    let model = FakeModel::start().await;
    let dir = tempfile::tempdir_in(build_dir())?;
    if plan.hostile {
        return hostile(plan, dir.path(), &model).await;
    }
    if plan.one_user {
        return one_user::run(Path::new(NETACLAW), dir.path(), &model).await;
    }
    let mut report = Report::default();
    for round in 0..plan.repeat {
        let place = dir.path().join(round.to_string());
        // In turns, so that a machine that becomes slower does so for both.
        let other_first = round % 2 == 1;
        let other = |name: &str| measured_beside(plan, place.join(name), &model, load);
        let before = match other_first {
            true => other("before").await?,
            false => None,
        };
        let ours = measured(plan, Path::new(NETACLAW), &place, &model, load).await?;
        // Its last request is repeated without it: the model has as much to read.
        let asked = model.script().last_request().body;
        let direct = load::direct(&model, load, &asked).await?;
        let beside = match before {
            None => other("after").await?,
            measured => measured,
        };
        let relay = match plan.quick {
            true => Figures::default(),
            false => relay(dir.path(), &model, load).await?,
        };
        report.add(direct, ours, beside, relay);
    }
    let starts = process::start_times(&dir.path().join("0/busy"), STARTS).await?;
    report.print(load, &starts);
    let path = build_dir().join("bench-live.json");
    report.write(&path, &starts)?;
    println!("\nfigures: {}", path.display());
    Ok(())
}

async fn hostile(plan: &Plan, dir: &Path, model: &FakeModel) -> anyhow::Result<()> {
    let builds = std::iter::once(Path::new(NETACLAW)).chain(plan.beside.as_deref());
    for (at, binary) in builds.enumerate() {
        println!("{}", ["\nthis build", "\nother build"][at]);
        let dir = dir.join(format!("hostile-{at}"));
        let server = started(binary, &dir, model).await?;
        hostile::run(&server, &dir, model).await?;
    }
    Ok(())
}

async fn measured_beside(
    plan: &Plan,
    dir: PathBuf,
    model: &FakeModel,
    load: &Load,
) -> anyhow::Result<Option<Figures>> {
    match &plan.beside {
        Some(binary) => Ok(Some(measured(plan, binary, &dir, model, load).await?)),
        None => Ok(None),
    }
}

async fn measured(
    plan: &Plan,
    binary: &Path,
    dir: &Path,
    model: &FakeModel,
    load: &Load,
) -> anyhow::Result<Figures> {
    if plan.quick {
        let server = started(binary, &dir.join("busy"), model).await?;
        return busy(&server, model, load).await;
    }
    netaclaw(binary, dir, model, load).await
}

/// Each size is that of a process of its own: memory that another measurement has left behind
/// would hide what this one takes.
async fn netaclaw(
    binary: &Path,
    dir: &Path,
    model: &FakeModel,
    load: &Load,
) -> anyhow::Result<Figures> {
    let fresh = Server::netaclaw(binary, &dir.join("fresh"), model).await?;
    let idle_bytes = idle_bytes(&fresh).await?;
    drop(fresh);
    let server = started(binary, &dir.join("sessions"), model).await?;
    let sessions_bytes = load::live_sessions(&server, model, load).await?;
    let connection_bytes = {
        let server = started(binary, &dir.join("idle"), model).await?;
        load::idle_connections(&server, load.idle).await?
    };
    let server = started(binary, &dir.join("busy"), model).await?;
    let all = load::chats(&server, model, load, Pace::Model, Events::All).await?;
    let stops = load::stops(&server, model, load.turns).await?;
    Ok(Figures {
        idle_bytes,
        sessions_bytes,
        connection_bytes,
        all_events: Some(all),
        stops,
        ..busy(&server, model, load).await?
    })
}

/// A server with its users.
async fn started(binary: &Path, dir: &Path, model: &FakeModel) -> anyhow::Result<Server> {
    let mut server = Server::netaclaw(binary, dir, model).await?;
    server.admit_users(process::USERS).await?;
    Ok(server)
}

async fn relay(dir: &Path, model: &FakeModel, load: &Load) -> anyhow::Result<Figures> {
    let server = Server::relay(dir, model).await?;
    let idle_bytes = idle_bytes(&server).await?;
    let sessions_bytes = load::live_sessions(&server, model, load).await?;
    let idle = Server::relay(dir, model).await?;
    let connection_bytes = load::idle_connections(&idle, load.idle).await?;
    let server = Server::relay(dir, model).await?;
    Ok(Figures {
        idle_bytes,
        sessions_bytes,
        connection_bytes,
        ..busy(&server, model, load).await?
    })
}

/// The size of a server before its first request. What it still does after it is ready is part of
/// its start.
async fn idle_bytes(server: &Server) -> anyhow::Result<u64> {
    tokio::time::sleep(Duration::from_secs(1)).await;
    server.resident_bytes()
}

/// What both can do.
async fn busy(server: &Server, model: &FakeModel, load: &Load) -> anyhow::Result<Figures> {
    // The first turns of a process are not its usual ones.
    load::turns_with_tools(server, model, 10).await?;
    let tool_turn = load::turns_with_tools(server, model, load.turns).await?;
    // All at once comes first: a server that has had so many chats has its connections to the model
    // already, as who asks it directly here has.
    let flat_out = load::chats(server, model, load, Pace::FlatOut, Events::Current).await?;
    let paced = load::chats(server, model, load, Pace::Model, Events::Current).await?;
    Ok(Figures {
        tool_turn,
        paced: Some(paced),
        flat_out: Some(flat_out),
        ..Figures::default()
    })
}

fn number<N>(name: &str, otherwise: N) -> anyhow::Result<N>
where
    N: std::str::FromStr,
    N::Err: std::error::Error + Send + Sync + 'static,
{
    match argument(name) {
        Some(value) => Ok(value.parse()?),
        None => Ok(otherwise),
    }
}

/// What follows a flag.
fn argument(name: &str) -> Option<String> {
    std::env::args()
        .skip_while(|argument| argument != name)
        .nth(1)
}

/// A place of cargo's for what benchmarks leave behind.
fn build_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}
