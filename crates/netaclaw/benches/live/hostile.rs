//! What one hostile user costs the others: the first token of other users, the server's memory and
//! its CPU time, without an attack and under each of four. Run with `--hostile`; prints a table,
//! asserts nothing.

use crate::client::{Client, Events};
use crate::process::{Server, work_dir};
use crate::report::percentile;
use futures::future::try_join_all;
use netaclaw_testkit::fake_model::{FakeModel, Fault, Reply};
use serde_json::json;
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Other users, and the messages that each sends during the attack.
const VICTIMS: usize = 10;
const MESSAGES: usize = 30;
const QUEUED: usize = 50;
const QUEUED_BYTES: usize = 900_000;
const BOMBS: usize = 10;
const HALF_OPEN: usize = 5_000;
const HALF_OPEN_BYTES: usize = 64 * 1024;
const RUNS: usize = 1_500;

/// One user attacks, so one token is used.
const ATTACKER: usize = 99;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attack {
    None,
    Queue,
    Grep,
    HalfOpenFrames,
    ManyRuns,
}

impl Attack {
    const ALL: [Self; 5] = [
        Self::None,
        Self::Queue,
        Self::Grep,
        Self::HalfOpenFrames,
        Self::ManyRuns,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::None => "no attack",
            Self::Queue => "50 messages of 0.9 MB to a busy session",
            Self::Grep => "10 grep calls with a nested repetition",
            Self::HalfOpenFrames => "5,000 unfinished frames of 64 kB",
            Self::ManyRuns => "1,500 runs at once from one token",
        }
    }
}

/// Measures a server that was just started, with users.
#[expect(clippy::print_stdout, reason = "a benchmark's output is its purpose")]
pub(crate) async fn run(server: &Server, dir: &Path, model: &FakeModel) -> anyhow::Result<()> {
    // A file for the search to work on.
    std::fs::write(
        work_dir(dir).join("large.txt"),
        "aaaaaaaaaa".repeat(500_000),
    )?;
    script(model);
    println!(
        "{:42} {:>10} {:>10} {:>9} {:>9} {:>9}  what the attacker got",
        "", "first p50", "first p95", "peak RSS", "CPU", "CPU after"
    );
    for attack in Attack::ALL {
        let mut victims = try_join_all((0..VICTIMS).map(|at| began(server, at))).await?;
        // The first turns of a process and of a session are not its usual ones.
        measure(&mut victims).await?;
        server.reset_peak()?;
        let before = server.cpu_time()?;
        let (struck, first) = tokio::join!(strike(attack, server), measure(&mut victims));
        let (got, first) = (struck?, first?);
        let spent = server.cpu_time()? - before;
        let peak = server.peak_bytes()?;
        let (kept, text) = got.finish().await?;
        let after = cpu_of_a_second(server).await?;
        drop(kept);
        println!(
            "{:42} {:>7.2} ms {:>7.2} ms {:>6.0} MB {:>7.2} s {:>7.2} s  {text}",
            attack.name(),
            1e3 * percentile(&first, 50.0),
            1e3 * percentile(&first, 95.0),
            peak as f64 / 1e6,
            spent.as_secs_f64(),
            after.as_secs_f64(),
        );
    }
    println!(
        "data directory: {:.1} MB",
        directory_bytes(&dir.join("data"))? as f64 / 1e6
    );
    Ok(())
}

fn script(model: &FakeModel) {
    let script = model.script();
    script.otherwise(Reply::tokens(5).with_pace(200.0));
    script.when("Stay busy.", Reply::failing(Fault::HangBeforeEnd));
    let bomb = json!({"pattern": "(((a{1,100}){1,100}){1,100}){1,10}b", "path": "."});
    script.when(
        "Search.",
        Reply::tool_call("call_bomb", "grep", &bomb.to_string()),
    );
}

async fn began(server: &Server, user: usize) -> anyhow::Result<Client> {
    let mut client = Client::connect(server.address, server.token(user), Events::Current).await?;
    client.begin().await?;
    Ok(client)
}

async fn measure(victims: &mut [Client]) -> anyhow::Result<Vec<Duration>> {
    let each = victims.iter_mut().map(|victim| async move {
        let mut first = Vec::new();
        for _ in 0..MESSAGES {
            first.push(victim.chat("Count for me, please.").await?.first_token);
        }
        anyhow::Ok(first)
    });
    Ok(try_join_all(each).await?.concat())
}

/// What still runs after an attack, to be ended.
struct Struck {
    clients: Vec<Client>,
    frames: Vec<TcpStream>,
    text: String,
}

impl Struck {
    /// Stops what the attacker began, so that what still costs time afterwards shows.
    async fn finish(mut self) -> anyhow::Result<(Vec<Client>, String)> {
        for client in &mut self.clients {
            client.end().await?;
        }
        drop(self.frames);
        Ok((self.clients, self.text))
    }
}

async fn strike(attack: Attack, server: &Server) -> anyhow::Result<Struck> {
    let mut struck = Struck {
        clients: Vec::new(),
        frames: Vec::new(),
        text: String::new(),
    };
    match attack {
        Attack::None => {}
        Attack::Queue => {
            let mut client = began(server, ATTACKER).await?;
            client.try_say("Stay busy.").await?;
            let large = "x".repeat(QUEUED_BYTES);
            struck.text = tally(QUEUED, &mut client, &large).await?;
            struck.clients.push(client);
        }
        Attack::Grep => {
            for _ in 0..BOMBS {
                let mut client = began(server, ATTACKER).await?;
                client.try_say("Search.").await?;
                struck.clients.push(client);
            }
            struck.text = format!("{BOMBS} searches begun");
        }
        Attack::HalfOpenFrames => {
            struck.frames = half_open(server).await;
            struck.text = format!("{} of {HALF_OPEN} still open", struck.frames.len());
        }
        Attack::ManyRuns => {
            let mut client =
                Client::connect(server.address, server.token(ATTACKER), Events::Current).await?;
            struck.text = tally(RUNS, &mut client, "Stay busy.").await?;
            struck.clients.push(client);
        }
    }
    Ok(struck)
}

/// Sends so many messages and counts how they were answered.
async fn tally(count: usize, client: &mut Client, message: &str) -> anyhow::Result<String> {
    let mut answers: std::collections::BTreeMap<String, usize> = Default::default();
    for _ in 0..count {
        let answer = client.try_say(message).await?;
        *answers.entry(answer).or_default() += 1;
    }
    let parts = answers
        .iter()
        .map(|(answer, count)| format!("{count} {answer}"));
    Ok(parts.collect::<Vec<_>>().join(", "))
}

/// WebSockets without a credential, each with a frame that announces 3.8 MB and never ends.
async fn half_open(server: &Server) -> Vec<TcpStream> {
    let mut open = Vec::new();
    for _ in 0..HALF_OPEN {
        if let Ok(stream) = unfinished_frame(server).await {
            open.push(stream);
        }
    }
    open
}

async fn unfinished_frame(server: &Server) -> anyhow::Result<TcpStream> {
    let address = server.address;
    let mut stream = TcpStream::connect(address).await?;
    let upgrade = format!(
        "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nhost: {address}\r\nconnection: Upgrade\r\n\
         upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(upgrade.as_bytes()).await?;
    let mut head = [0; 512];
    anyhow::ensure!(stream.read(&mut head).await? > 0, "refused");
    // A masked text frame with a length of eight bytes.
    let mut frame = vec![0x81, 0xff];
    frame.extend(3_800_000_u64.to_be_bytes());
    frame.extend([0; 4]);
    frame.resize(frame.len() + HALF_OPEN_BYTES, b'x');
    stream.write_all(&frame).await?;
    Ok(stream)
}

async fn cpu_of_a_second(server: &Server) -> anyhow::Result<Duration> {
    let before = server.cpu_time()?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    Ok(server.cpu_time()? - before)
}

fn directory_bytes(dir: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let meta = entry.metadata()?;
        bytes += match meta.is_dir() {
            true => directory_bytes(&entry.path())?,
            false => meta.len(),
        };
    }
    Ok(bytes)
}
