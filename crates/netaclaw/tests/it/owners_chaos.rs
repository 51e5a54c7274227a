//! Two servers, terminals and sixteen clients on one database, with servers that are killed and
//! owners that are deposed while they live: nothing acknowledged is lost, nothing is doubled, no
//! message is off the active path, and the fences of stored rows never decrease.
//!
//! `NETACLAW_CHAOS_SECONDS=300` runs it for that long, `NETACLAW_CHAOS_SEED` with another seed. A
//! debug build with `NETACLAW_TEST_UNFENCED=1` in its environment has no fence in the append; then
//! the test must fail.

use crate::served::{Server, TOKEN, World};
use netaclaw_testkit::fake_model::Reply;
use netaclaw_testkit::socket::Client;
use netaclaw_testkit::{Database, MariaDb};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::JoinSet;

const CLIENTS: usize = 16;
const SESSIONS: usize = 11;
/// Of each client, if no time is given.
const OPERATIONS: usize = 24;
/// A live node is declared dead after so many operations of all clients, and a server killed.
const DEPOSE_EVERY: usize = 12;
const KILL_EVERY: usize = 90;
/// How often a message is sent again before its sender gives up.
const ATTEMPTS: usize = 40;
/// Far more than an answer takes. A call that is not answered by then never is.
const NEVER: Duration = Duration::from_secs(90);

/// Numbers that are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

struct Chaos {
    world: World,
    database: Database,
    _mariadb: MariaDb,
    sessions: Vec<String>,
    /// Where the two servers listen now.
    addresses: Mutex<[SocketAddr; 2]>,
    servers: tokio::sync::Mutex<[Option<Server>; 2]>,
    /// What was acknowledged: the session of each text.
    acknowledged: Mutex<BTreeMap<String, String>>,
    done: AtomicUsize,
    step: Notify,
    until: Option<Instant>,
    tally: Mutex<BTreeMap<&'static str, usize>>,
}

impl Chaos {
    async fn new() -> Self {
        let mariadb = MariaDb::start().unwrap();
        let database = mariadb.fresh_database().unwrap();
        let mut world = World::new().await;
        world.keep_sessions_in(&database.url());
        let answer = Reply::text("one two three four five six seven eight nine ten");
        world.model.script().otherwise(answer.with_pace(30.0));
        let (a, b) = (world.serve().await, world.serve().await);
        let mut sessions = Vec::new();
        for at in 0..SESSIONS {
            let server = if at % 2 == 0 { &a } else { &b };
            sessions.push(server.session("the first message").await.0);
        }
        let seconds = std::env::var("NETACLAW_CHAOS_SECONDS").ok();
        let seconds = seconds.map(|seconds| Duration::from_secs(seconds.parse().unwrap()));
        Self {
            sessions,
            addresses: Mutex::new([a.address, b.address]),
            servers: tokio::sync::Mutex::new([Some(a), Some(b)]),
            world,
            database,
            _mariadb: mariadb,
            acknowledged: Mutex::default(),
            done: AtomicUsize::new(0),
            step: Notify::new(),
            until: seconds.map(|seconds| Instant::now() + seconds),
            tally: Mutex::default(),
        }
    }

    fn goes_on(&self, operations: usize) -> bool {
        match self.until {
            Some(until) => Instant::now() < until,
            None => operations < OPERATIONS,
        }
    }

    fn count(&self, what: &'static str) {
        *self.tally.lock().unwrap().entry(what).or_default() += 1;
    }

    /// A connection to one of the servers; `None` while it is down.
    async fn connect(&self, server: usize) -> Option<Client> {
        let address = self.addresses.lock().unwrap()[server];
        let auth = json!({"token": TOKEN, "events": ["current"]});
        // The client panics if the server is gone; mostly that shows before.
        drop(TcpStream::connect(address).await.ok()?);
        let connected = tokio::spawn(Client::connect(address, auth)).await;
        connected.ok()?.ok()
    }

    /// One client: sends, looks, stops.
    async fn client(self: Arc<Self>, number: usize, mut dice: Dice) {
        let mut sockets: [Option<Client>; 2] = [None, None];
        let mut operation = 0;
        while self.goes_on(operation) {
            operation += 1;
            let session = self.sessions[dice.below(SESSIONS)].clone();
            let what = dice.below(100);
            match what {
                0..70 => {
                    let text = format!("message {number} {operation}");
                    self.send(&mut sockets, &mut dice, &session, &text).await;
                }
                _ => {
                    let server = dice.below(2);
                    let name = if what < 85 { "session_open" } else { "stop" };
                    let call = json!({"sessionId": session});
                    self.call(&mut sockets, server, name, call).await;
                }
            }
            self.done.fetch_add(1, Ordering::SeqCst);
            self.step.notify_one();
        }
    }

    async fn call(
        &self,
        sockets: &mut [Option<Client>; 2],
        server: usize,
        name: &str,
        payload: Value,
    ) -> Option<Value> {
        if sockets[server].is_none() {
            sockets[server] = self.connect(server).await;
        }
        let socket = sockets[server].as_mut()?;
        let answer = tokio::time::timeout(NEVER, socket.try_call(name, payload)).await;
        let answer = answer.unwrap_or_else(|_| panic!("{name} was never answered"));
        if answer.is_none() {
            sockets[server] = None;
        }
        answer
    }

    /// Sends a message under one request id until a server takes it, now here and now there.
    async fn send(
        &self,
        sockets: &mut [Option<Client>; 2],
        dice: &mut Dice,
        session: &str,
        text: &str,
    ) {
        let chat =
            json!({"sessionId": session, "content": text, "requestId": text, "mode": "queue"});
        for _ in 0..ATTEMPTS {
            let server = dice.below(2);
            let Some(answer) = self.call(sockets, server, "chat", chat.clone()).await else {
                self.count("cut off");
                tokio::task::yield_now().await;
                continue;
            };
            if answer["ok"] == true {
                self.count("acknowledged");
                if answer["deduped"] == true {
                    self.count("deduplicated");
                }
                let mut acknowledged = self.acknowledged.lock().unwrap();
                acknowledged.insert(text.to_owned(), session.to_owned());
                return;
            }
            match answer["code"].as_str().unwrap() {
                "session_busy" => self.count("busy"),
                "unavailable" => self.count("unavailable"),
                "rate_limited" => self.count("queue full"),
                code => panic!("{text} in {session}: {code}: {answer}"),
            }
        }
    }

    /// A terminal that says one thing in one session.
    async fn terminal(&self, dice: &mut Dice, number: usize) {
        let session = &self.sessions[dice.below(SESSIONS)];
        let text = format!("terminal {number}");
        let chat = format!("chat --session {session}");
        let mut chat = tokio::process::Command::from(self.world.workspace.command(&chat));
        chat.stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut chat = chat.spawn().unwrap();
        let mut input = chat.stdin.take().unwrap();
        input
            .write_all(format!("{text}\n").as_bytes())
            .await
            .unwrap();
        drop(input);
        let ended = tokio::time::timeout(NEVER, chat.wait_with_output()).await;
        let ended = ended.expect("a terminal chat ends").unwrap();
        match ended.status.success() {
            true => {
                self.count("terminal answered");
                let mut acknowledged = self.acknowledged.lock().unwrap();
                acknowledged.insert(text, session.clone());
            }
            false => self.count("terminal refused"),
        }
    }

    /// Declares living nodes dead, and kills servers, while the clients continue.
    async fn faults(self: Arc<Self>, mut dice: Dice) {
        let (mut deposed, mut killed, mut terminals) = (0, 0, 0);
        loop {
            self.step.notified().await;
            let done = self.done.load(Ordering::SeqCst);
            if done / DEPOSE_EVERY > deposed {
                deposed = done / DEPOSE_EVERY;
                self.count("deposed");
                let offset = dice.below(2);
                let depose = format!(
                    "UPDATE netaclaw_node JOIN (SELECT nodeId FROM netaclaw_node WHERE state = 'live' \
                     ORDER BY nodeId LIMIT 1 OFFSET {offset}) chosen USING (nodeId) SET state = 'dead'"
                );
                self.database.query(&depose).unwrap();
            }
            if done / KILL_EVERY > killed {
                killed = done / KILL_EVERY;
                self.count("killed");
                self.kill(dice.below(2)).await;
            }
            if done / (DEPOSE_EVERY * 3) > terminals {
                terminals = done / (DEPOSE_EVERY * 3);
                self.terminal(&mut dice, terminals).await;
            }
        }
    }

    async fn kill(&self, server: usize) {
        let mut servers = self.servers.lock().await;
        servers[server].take().unwrap().kill().await;
        let next = self.world.serve().await;
        self.addresses.lock().unwrap()[server] = next.address;
        servers[server] = Some(next);
    }

    /// Waits until nothing runs in a session and nothing waits but what a stop holds. Gives what
    /// waits.
    async fn at_rest(&self, session: &str) -> Vec<String> {
        let mut sockets: [Option<Client>; 2] = [None, None];
        let mut server = 0;
        loop {
            let open = json!({"sessionId": session});
            let opened = self.call(&mut sockets, server, "session_open", open).await;
            let opened = opened.unwrap();
            if opened["ok"] != true {
                server = 1 - server;
                // The owner may be a node that is about to learn that it is dead.
                tokio::task::yield_now().await;
                continue;
            }
            let (run, queue) = (&opened["snapshot"]["run"], &opened["snapshot"]["queue"]);
            let items = queue["items"].as_array().unwrap();
            if run["status"] == "idle" && items.iter().all(|item| item["held"] == true) {
                let texts = items.iter().map(|item| item["content"].as_str().unwrap());
                return texts.map(str::to_owned).collect();
            }
            let socket = sockets[server].as_mut().unwrap();
            loop {
                let event = socket.next_event().await;
                let news = ["run_status", "queue_update", "done", "session_resync"];
                if news.iter().any(|name| event["type"] == *name) {
                    break;
                }
            }
        }
    }

    /// Everything that is wrong with a session.
    fn check(&self, session: &str, waiting: &[String], wrong: &mut Vec<String>) {
        let rows = format!(
            "SELECT entryId, COALESCE(parentEntryId, ''), fence, \
             COALESCE(JSON_UNQUOTE(JSON_EXTRACT(message, '$.role')), ''), \
             COALESCE(JSON_UNQUOTE(JSON_EXTRACT(message, '$.content')), '') \
             FROM neta_agent_session_entry WHERE sessionId = '{session}' AND entrySeq > 0 ORDER BY entrySeq"
        );
        let rows = self.database.query(&rows).unwrap();
        let leaf =
            format!("SELECT leafEntryId FROM neta_agent_session WHERE sessionId = '{session}'");
        let leaf = self.database.query(&leaf).unwrap();
        let parents: BTreeMap<&str, &str> = rows.iter().map(|row| (&*row[0], &*row[1])).collect();
        let mut path = BTreeSet::new();
        let mut at = leaf.first().map(|row| row[0].as_str());
        while let Some(entry) = at.filter(|entry| !entry.is_empty()) {
            path.insert(entry);
            at = parents.get(entry).copied();
        }
        let mut last = 0;
        let mut said: BTreeMap<&str, usize> = BTreeMap::new();
        for row in &rows {
            let fence: u64 = row[2].parse().unwrap();
            if fence < last {
                wrong.push(format!(
                    "{session}: {} has fence {fence} after {last}",
                    row[0]
                ));
            }
            last = last.max(fence);
            // Labels and names hang from the leaf and do not move it.
            if !row[3].is_empty() && !path.contains(&*row[0]) {
                wrong.push(format!(
                    "{session}: {} ({}) is off the path",
                    row[0], row[3]
                ));
            }
            if row[3] == "user" {
                *said.entry(&row[4]).or_default() += 1;
            }
        }
        for text in waiting {
            *said.entry(text).or_default() += 1;
        }
        let doubled = said.iter().filter(|(_, count)| **count > 1);
        wrong.extend(doubled.map(|(text, count)| format!("{session}: {text:?} {count} times")));
        let acknowledged = self.acknowledged.lock().unwrap();
        let ours = acknowledged.iter().filter(|(_, of)| *of == session);
        let lost = ours.filter(|(text, _)| !said.contains_key(text.as_str()));
        wrong.extend(lost.map(|(text, _)| format!("{session}: {text:?} is lost")));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_is_lost_or_doubled_whatever_happens_to_the_owners() {
    let chaos = Arc::new(Chaos::new().await);
    let seed = std::env::var("NETACLAW_CHAOS_SEED").ok();
    let seed: u64 = seed.map_or(20, |seed| seed.parse().unwrap());
    let dice =
        |of: usize| Dice((seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ ((of as u64 + 1) << 32));
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        clients.spawn(Arc::clone(&chaos).client(number, dice(number)));
    }
    let faults = tokio::spawn(Arc::clone(&chaos).faults(dice(CLIENTS)));
    while let Some(ended) = clients.join_next().await {
        ended.unwrap();
    }
    faults.abort();
    let faults = faults.await;
    assert!(
        faults.is_err_and(|ended| ended.is_cancelled()),
        "the faults ended by themselves"
    );
    // It may have been cut off between the end of a server and the start of the next.
    for server in 0..2 {
        if chaos.servers.lock().await[server].is_none() {
            let next = chaos.world.serve().await;
            chaos.addresses.lock().unwrap()[server] = next.address;
            chaos.servers.lock().await[server] = Some(next);
        }
    }
    let mut wrong = Vec::new();
    for session in &chaos.sessions {
        let waiting = chaos.at_rest(session).await;
        chaos.check(session, &waiting, &mut wrong);
    }
    let tally = chaos.tally.lock().unwrap().clone();
    let figures = format!("seed {seed}, {:?} operations, {tally:?}", chaos.done);
    assert!(wrong.is_empty(), "{figures}\n{}", wrong.join("\n"));
    for what in ["acknowledged", "busy", "deposed", "killed"] {
        assert!(
            tally.get(what).is_some_and(|count| *count > 0),
            "never {what}: {figures}"
        );
    }
    // With `--no-capture` a long run prints what it did.
    std::io::Write::write_all(&mut std::io::stdout(), format!("{figures}\n").as_bytes()).unwrap();
}
