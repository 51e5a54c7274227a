//! Empties a socket's outbox into the Socket.IO layer, never faster than the network takes it.

use super::PACKETS_MAX;
use super::connection::{Connection, notice};
use super::outbox::{Next, OutgoingFrame};
use crate::gateway::Shared;
use crate::transport::{ByteMeter, Peer};
use axum::extract::ConnectInfo;
use netaclaw_engine::ServerEvent;
use netaclaw_protocol::{Notice, Refusal};
use serde_json::value::RawValue;
use socketioxide::adapter::LocalAdapter;
use socketioxide::extract::{AckSender, SocketRef};
use socketioxide::handler::{FromMessageParts, Value};
use socketioxide::socket::Socket;
use socketioxide::{SendError, SocketError, TransportType};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// How long to wait when the layer's queue is full after all.
const RETRY_AFTER: Duration = Duration::from_millis(10);
/// Half of the layer's queue stays free: a ping that finds no room closes the connection.
const PACKETS_OUT_MAX: usize = PACKETS_MAX / 2;
/// What one poll may fetch. python-socketio gives up on a poll with more than 16 packets.
const PACKETS_POLLED_MAX: usize = 12;
/// What Socket.IO adds to each payload. A lower bound, so that the estimate of bytes in flight is
/// never too high.
const FRAME_BYTES: usize = 12;
/// A task that waits for a poll checks again after this: a socket that was upgraded does not poll.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// Sends until the socket is gone or has to go.
pub(super) async fn send_all(
    shared: Arc<Shared>,
    socket: SocketRef,
    raw: Arc<Socket<LocalAdapter>>,
    connection: Arc<Connection>,
) {
    let window = InFlightWindow::new(shared.settings.outbox.window_bytes);
    let mut sender = Sender {
        shared,
        socket,
        raw,
        connection,
        window,
    };
    let closed = sender.connection.closed.clone();
    closed.run_until_cancelled(sender.run()).await;
    sender.connection.outbox.close();
}

struct Sender {
    shared: Arc<Shared>,
    socket: SocketRef,
    raw: Arc<Socket<LocalAdapter>>,
    connection: Arc<Connection>,
    window: InFlightWindow,
}

impl Sender {
    async fn run(&mut self) {
        loop {
            let next = self.connection.outbox.next().await;
            let sent = match next {
                Next::Parcel(frame) => self.send(frame).await,
                Next::End(why) => {
                    self.dismiss(&why).await;
                    ControlFlow::Break(())
                }
            };
            if sent.is_break() {
                return;
            }
        }
    }

    async fn send(&mut self, frame: OutgoingFrame) -> ControlFlow<()> {
        match frame {
            OutgoingFrame::Ack { id, body } | OutgoingFrame::Refused { id, body } => {
                self.ack(id, &body).await
            }
            OutgoingFrame::Event(event) => self.emit(&event).await,
        }
    }

    async fn emit(&mut self, event: &ServerEvent) -> ControlFlow<()> {
        self.window
            .wait_for_capacity(&self.shared, &self.socket)
            .await;
        loop {
            match self.socket.emit(event.name, &*event.json) {
                Ok(()) => {
                    self.window.sent(event.name.len() + event.json.get().len());
                    return ControlFlow::Continue(());
                }
                Err(error) => retry(error).await?,
            }
        }
    }

    async fn ack(&mut self, id: i64, body: &RawValue) -> ControlFlow<()> {
        self.window
            .wait_for_capacity(&self.shared, &self.socket)
            .await;
        loop {
            match ack_sender(&self.raw, id).send(body) {
                Ok(()) => {
                    self.window.sent(body.get().len());
                    return ControlFlow::Continue(());
                }
                Err(error) => retry(error).await?,
            }
        }
    }

    /// Says why, and ends the connection to the namespace.
    async fn dismiss(&mut self, why: &Refusal) {
        tracing::info!(
            socket.id = %self.connection.sid,
            reason = why.message,
            "disconnecting a client"
        );
        let notice = notice(Notice::Error(why.clone()));
        if self.emit(&notice).await.is_break() {
            return;
        }
        while let Err(SocketError::InternalChannelFull) = self.socket.clone().disconnect() {
            tokio::time::sleep(RETRY_AFTER).await;
        }
    }
}

/// Whether to try again. What cannot be written as JSON does not exist here.
async fn retry(error: SendError) -> ControlFlow<()> {
    match error {
        SendError::Socket(SocketError::InternalChannelFull) => {
            tokio::time::sleep(RETRY_AFTER).await;
            ControlFlow::Continue(())
        }
        SendError::Socket(SocketError::Closed) => ControlFlow::Break(()),
        SendError::Serialize(error) => {
            tracing::error!(%error, "failed to serialize an event");
            ControlFlow::Break(())
        }
    }
}

/// Sending consumes it also when the queue is full, so each try needs a new one.
fn ack_sender(socket: &Arc<Socket<LocalAdapter>>, id: i64) -> AckSender {
    let made = AckSender::from_message_parts(socket, &mut Value::Str("".into(), None), &Some(id));
    match made {
        Ok(sender) => sender,
        Err(never) => match never {},
    }
}

/// How much was handed over and not yet written, or not yet fetched.
struct InFlightWindow {
    bytes_max: usize,
    carrier: Option<TransportMeter>,
    handed_over: u64,
    /// Where each packet in flight ends.
    ends: VecDeque<u64>,
}

/// What takes the packets away.
#[derive(Clone)]
struct TransportMeter {
    transport: TransportType,
    meter: Arc<ByteMeter>,
}

impl InFlightWindow {
    fn new(bytes_max: usize) -> Self {
        Self {
            bytes_max,
            carrier: None,
            handed_over: 0,
            ends: VecDeque::new(),
        }
    }

    /// Waits until the next packet may be handed over.
    async fn wait_for_capacity(&mut self, shared: &Shared, socket: &SocketRef) {
        while let Some(TransportMeter { transport, meter }) = self.carrier(shared, socket) {
            let packets_max = match transport {
                TransportType::Websocket => PACKETS_OUT_MAX,
                TransportType::Polling => PACKETS_POLLED_MAX,
            };
            let written = meter.written();
            while self.ends.front().is_some_and(|end| *end <= written) {
                self.ends.pop_front();
            }
            if self.ends.is_empty() {
                // Pings and headers are written too; without this the counts would drift apart.
                self.handed_over = written;
            }
            let out = self.handed_over.saturating_sub(written);
            if out < self.bytes_max as u64 && self.ends.len() < packets_max {
                return;
            }
            // Both ways to end the wait mean the same: look again.
            drop(tokio::time::timeout(LOOK_AGAIN, meter.written_beyond(written)).await);
        }
    }

    /// The current transport. With a new one counting restarts.
    fn carrier(&mut self, shared: &Shared, socket: &SocketRef) -> Option<TransportMeter> {
        let transport = socket.transport_type();
        let known = self.carrier.as_ref();
        if known.is_none_or(|known| known.transport != transport) {
            self.carrier =
                meter_of(shared, socket).map(|meter| TransportMeter { transport, meter });
            self.ends.clear();
        }
        self.carrier.clone()
    }

    fn sent(&mut self, payload_bytes: usize) {
        self.handed_over += (payload_bytes + FRAME_BYTES) as u64;
        if self.carrier.is_some() {
            self.ends.push_back(self.handed_over);
        }
    }
}

/// The connection that carries the socket's WebSocket, or its polls.
fn meter_of(shared: &Shared, socket: &SocketRef) -> Option<Arc<ByteMeter>> {
    let sid = socket.id.to_string();
    if socket.transport_type() == TransportType::Polling {
        return Some(shared.upgrades.polls(&sid));
    }
    let upgraded = shared.upgrades.get(&sid);
    upgraded.or_else(|| {
        let handshake = socket.req_parts();
        let direct = handshake.uri.query().unwrap_or_default();
        let peer = handshake.extensions.get::<ConnectInfo<Peer>>()?;
        direct
            .contains("transport=websocket")
            .then(|| Arc::clone(&peer.0.meter))
    })
}
