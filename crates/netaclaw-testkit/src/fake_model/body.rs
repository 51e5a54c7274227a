//! Writing a stream: paced, cut, held, broken, and noticing when the client disconnects.

use super::reply::{Chunking, Fault, Reply};
use super::script::Script;
use bytes::Bytes;
use futures::{Stream, StreamExt, stream};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// One event of a stream.
#[derive(Clone)]
pub(crate) struct Frame {
    pub(crate) bytes: Bytes,
    pub(crate) role: FrameRole,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameRole {
    Frame,
    /// Carries a piece of the answer, which is what is paced.
    Token,
    /// Says that or why the answer is over.
    End,
}

impl Frame {
    pub(crate) fn new(text: String, role: FrameRole) -> Self {
        Self {
            bytes: Bytes::from(text),
            role,
        }
    }
}

/// The body of a streamed answer. `error` is an event that reports a failure.
pub(crate) fn body(
    frames: Vec<Frame>,
    reply: &Reply,
    error: String,
    script: Arc<Script>,
) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let mut steps = Vec::with_capacity(frames.len() + 2);
    let mut tokens = 0;
    for (at, frame) in frames.into_iter().enumerate() {
        let holds = reply.holds.iter().filter(|(hold_at, _)| *hold_at == at);
        steps.extend(holds.map(|(_, hold)| Step::Hold(hold.clone())));
        if let Some(last) = fault_at(reply, at, frame.role, &error) {
            steps.extend(last);
            break;
        }
        if let (Some(pace), FrameRole::Token) = (reply.pace, frame.role) {
            steps.push(Step::At(Duration::from_secs_f64(tokens as f64 / pace)));
            tokens += 1;
        }
        write(&mut steps, frame.bytes, reply.chunking);
    }
    if let Some(Fault::SlowFirstByte(delay)) = reply.fault {
        steps.insert(0, Step::At(delay));
    }
    play(
        steps,
        Watch {
            script,
            over: false,
        },
    )
}

enum Step {
    Write(Bytes),
    /// Not before so long after the beginning.
    At(Duration),
    Hold(super::Hold),
    Break,
    Hang,
}

/// What happens instead of the event at a place, and everything after it.
fn fault_at(reply: &Reply, at: usize, role: FrameRole, error: &str) -> Option<Vec<Step>> {
    Some(match reply.fault.as_ref()? {
        Fault::CutBeforeEnd if role == FrameRole::End => vec![Step::Break],
        Fault::HangBeforeEnd if role == FrameRole::End => vec![Step::Hang],
        Fault::CutAfter(n) if *n == at => vec![Step::Break],
        Fault::EndAfter(n) if *n == at => vec![],
        Fault::HangAfter(n) if *n == at => vec![Step::Hang],
        Fault::GarbageAfter(n) if *n == at => {
            let garbage = "data: {\"oops\": <not json>\n\n";
            vec![Step::Write(Bytes::from_static(garbage.as_bytes()))]
        }
        Fault::ErrorAfter(n) if *n == at => vec![Step::Write(Bytes::from(error.to_owned()))],
        _ => return None,
    })
}

fn write(steps: &mut Vec<Step>, bytes: Bytes, chunking: Chunking) {
    match chunking {
        Chunking::Events => steps.push(Step::Write(bytes)),
        Chunking::Hostile(size) => {
            let text = String::from_utf8_lossy(&bytes).replace('\n', "\r\n");
            let hostile = Bytes::from(format!(": keep-alive\r\n{text}"));
            let cuts = (0..hostile.len()).step_by(size.max(1));
            steps.extend(cuts.map(|from| {
                let to = (from + size.max(1)).min(hostile.len());
                Step::Write(hostile.slice(from..to))
            }));
        }
    }
}

/// Tells the script when it is dropped before the end.
pub(crate) struct Watch {
    pub(crate) script: Arc<Script>,
    pub(crate) over: bool,
}

impl Watch {
    /// The answer came to the end it was meant to have.
    fn ended(mut self) -> Self {
        self.over = true;
        self
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.over {
            self.script.note_abort();
        }
    }
}

fn play(steps: Vec<Step>, watch: Watch) -> impl Stream<Item = io::Result<Bytes>> + Send {
    let start = Instant::now();
    let state = (steps.into_iter(), watch);
    stream::unfold(state, move |(mut steps, watch)| async move {
        loop {
            match steps.next() {
                Some(Step::Write(bytes)) => return Some((Ok(bytes), (steps, watch))),
                // A timer has steps of a millisecond, and would make the first token wait for the
                // next.
                Some(Step::At(offset)) if start + offset <= Instant::now() => {}
                Some(Step::At(offset)) => tokio::time::sleep_until(start + offset).await,
                Some(Step::Hold(hold)) => hold.wait().await,
                Some(Step::Break) => {
                    // The server sends what it holds when the body has to wait, and throws it
                    // away when the body fails.
                    tokio::task::yield_now().await;
                    let cut = io::Error::other("cut by the script");
                    return Some((Err(cut), (steps, watch.ended())));
                }
                Some(Step::Hang) => futures::future::pending::<()>().await,
                None => {
                    drop(watch.ended());
                    return None;
                }
            }
        }
    })
    .fuse()
}
