//! Socket.IO: the namespace `/netaclaw`.
//!
//! Incoming events go through one ordered queue per socket, outgoing ones through another. Nothing
//! here decides what a command does; the engine does.

mod admit;
mod answer;
mod command;
mod connection;
mod dispatch;
mod feed;
mod frame;
mod lists;
mod outbox;
mod sender;

pub(crate) use connection::Connections;
pub(crate) use lists::{ListWatch, WatchedLists};

use crate::gateway::Shared;
use netaclaw_protocol::COMMAND_BYTES_MAX;
use socketioxide::extract::{SocketRef, TryData};
use socketioxide::handler::ConnectHandler;
use socketioxide::layer::SocketIoLayer;
use socketioxide::{ParserConfig, SocketIo};
use std::sync::Arc;
use std::time::Duration;

pub(crate) const PATH: &str = "/socket.io";
const NAMESPACE: &str = "/netaclaw";

/// Frames up to here are read at all, so that a command that is too long can be answered.
const FRAME_BYTES_MAX: usize = 4 * COMMAND_BYTES_MAX;
/// What a session may send in all before it has joined the namespace, for which it needs a
/// credential.
pub(crate) const STRANGER_BYTES_MAX: usize = 16 << 10;
/// A session that has not joined by then ends.
const JOIN_WITHIN: Duration = Duration::from_secs(20);
/// Packets that the Socket.IO layer queues per connection. Ours is in front of it and keeps it
/// from filling up, because it drops what does not fit.
const PACKETS_MAX: usize = 1024;
/// The read buffer of a connection. Most commands fit, and every connection holds one of these for
/// its lifetime; a longer command is read in several pieces.
const READ_BYTES: usize = 1 << 10;
/// Commands are JSON; attachments go by HTTP.
const BINARIES_MAX: usize = 8;

pub(crate) fn layer(shared: &Arc<Shared>) -> (SocketIoLayer, SocketIo) {
    let (layer, io) = SocketIo::builder()
        .req_path(PATH)
        .max_buffer_size(PACKETS_MAX)
        .max_payload(FRAME_BYTES_MAX as u64)
        .ws_max_message_size(FRAME_BYTES_MAX)
        .ws_max_frame_size(FRAME_BYTES_MAX)
        .ws_read_buffer_size(READ_BYTES)
        .connect_timeout(JOIN_WITHIN)
        .ping_interval(shared.settings.ping_interval)
        .ping_timeout(shared.settings.ping_timeout)
        .with_parser(ParserConfig::common().max_incoming_binaries(BINARIES_MAX))
        .build_layer();
    let gate = Arc::clone(shared);
    // Events may follow right after the acknowledgement of the connection, so the handlers have
    // to be there before it: they are registered in the middleware.
    let middleware = move |socket: SocketRef, TryData(auth): TryData<serde_json::Value>| {
        admit::admit(gate, socket, auth.unwrap_or_default())
    };
    io.ns(NAMESPACE, admit::begin.with(middleware));
    (layer, io)
}
