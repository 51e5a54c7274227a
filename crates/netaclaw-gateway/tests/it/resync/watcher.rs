//! A client that watches a session through a bad connection.

use super::view::{Applied, View};
use crate::whole::credentials;
use netaclaw_testkit::socket::Client;
use serde_json::{Value, json};
use std::net::SocketAddr;

/// The fault of a client's connection.
#[derive(Clone, Debug)]
pub(super) enum Weather {
    Fair,
    /// The connection is cut once, after this many events.
    CutAfter(usize, Return),
    /// Anything may happen at any event.
    Stormy(fastrand::Rng),
}

/// How a client comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Return {
    /// Tells what it has seen, and gets the rest.
    Knowing,
    /// Without any state, as a page that was reloaded.
    Afresh,
}

pub(super) struct Watcher {
    address: SocketAddr,
    session: Value,
    client: Client,
    pub(super) view: View,
    weather: Weather,
    /// Events that arrived, applied or not.
    pub(super) seen: usize,
    /// How often it came back.
    pub(super) returns: usize,
    /// Set when it missed an event and cannot detect it.
    lost: bool,
}

impl Watcher {
    pub(super) async fn join(address: SocketAddr, session: &Value, weather: Weather) -> Self {
        let mut client = connect(address, &weather).await;
        let opened = open(&mut client, session, None).await;
        Self {
            address,
            session: session.clone(),
            client,
            view: View::of_snapshot(&opened),
            weather,
            seen: 0,
            returns: 0,
            lost: false,
        }
    }

    /// Reads on until the view is as wished.
    pub(super) async fn until(&mut self, fits: impl Fn(&View) -> bool) {
        while !fits(&self.view) {
            // Where nothing follows that shows the gap, it asks now and then.
            if self.lost && !self.client.has_more() {
                self.sync().await;
                continue;
            }
            let event = self.client.next_event().await;
            self.seen += 1;
            self.take(&event).await;
        }
    }

    async fn take(&mut self, event: &Value) {
        match &mut self.weather {
            Weather::Fair => self.apply(event).await,
            Weather::CutAfter(after, how) => {
                let cut = (self.seen == *after).then_some(*how);
                self.apply(event).await;
                if let Some(how) = cut {
                    self.come_back(how).await;
                }
            }
            Weather::Stormy(chance) => match chance.u8(0..24) {
                // Lost; the next one shows that it is missing.
                0 | 1 => self.lost = true,
                2 | 3 => {
                    self.apply(event).await;
                    self.apply(event).await;
                }
                4 => self.come_back(Return::Knowing).await,
                5 => {
                    self.apply(event).await;
                    self.come_back(Return::Knowing).await;
                }
                6 => self.come_back(Return::Afresh).await,
                // Opened again by the same socket, as a tab does that becomes visible.
                7 => self.sync().await,
                _ => self.apply(event).await,
            },
        }
    }

    async fn apply(&mut self, event: &Value) {
        if self.view.apply(event) == Applied::NeedsSync {
            self.sync().await;
        }
    }

    /// Loses the connection, and comes back on another.
    async fn come_back(&mut self, how: Return) {
        self.returns += 1;
        self.client = connect(self.address, &self.weather).await;
        match how {
            Return::Knowing => self.sync().await,
            Return::Afresh => {
                self.lost = false;
                let opened = open(&mut self.client, &self.session, None).await;
                self.view = View::of_snapshot(&opened);
            }
        }
    }

    /// Asks for what is missing.
    async fn sync(&mut self) {
        self.lost = false;
        let known = Some((self.view.epoch.as_str(), self.view.seq));
        let opened = open(&mut self.client, &self.session, known).await;
        if opened["mode"] == "snapshot" {
            self.view = View::of_snapshot(&opened);
        }
    }
}

async fn connect(address: SocketAddr, weather: &Weather) -> Client {
    let client = match weather {
        // For the slow ones the kernel keeps next to nothing.
        Weather::Stormy(_) => Client::connect_narrow(address, credentials()).await,
        _ => Client::connect(address, credentials()).await,
    };
    client.unwrap()
}

async fn open(client: &mut Client, session: &Value, known: Option<(&str, u64)>) -> Value {
    let payload = match known {
        Some((epoch, seq)) => json!({"sessionId": session, "epoch": epoch, "lastSeq": seq}),
        None => json!({"sessionId": session}),
    };
    let opened = client.call("session_open", payload).await;
    assert_eq!(opened["ok"], true, "{opened}");
    opened
}
