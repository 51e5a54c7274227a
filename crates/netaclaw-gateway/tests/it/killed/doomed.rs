//! A provider that ends its process at one of its writes, as `kill -9` would.

use netaclaw_session::{SessionError, SessionId};
use netaclaw_testkit::engine::{Intercept, WriteKind};
use std::io::Write as _;
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};

type Result<T> = std::result::Result<T, SessionError>;

/// When the process is killed: at which write, and before or after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Doom {
    pub(super) write: Write,
    pub(super) side: Side,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Write {
    /// Counted from 1, without those of answers in flight: how many of them there are is a matter
    /// of time.
    Number(usize),
    /// The first of an answer in flight.
    InFlight,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Nothing of the write has happened.
    Before,
    /// The write is complete, and not acknowledged.
    After,
}

impl std::fmt::Display for Doom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.write {
            Write::Number(number) => write!(f, "{:?} {number}", self.side),
            Write::InFlight => write!(f, "{:?} {IN_FLIGHT}", self.side),
        }
    }
}

impl FromStr for Doom {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (side, write) = text.split_once(' ').ok_or(text)?;
        let side = match side {
            "Before" => Side::Before,
            "After" => Side::After,
            other => return Err(other.to_owned()),
        };
        let write = match write {
            IN_FLIGHT => Write::InFlight,
            number => Write::Number(number.parse().map_err(|_| number.to_owned())?),
        };
        Ok(Self { write, side })
    }
}

/// Tells of every write on the standard output, as `write NAME`, before it happens; and as
/// `wrote NAME` when it has.
pub(super) struct Doomed {
    pub(super) doom: Doom,
    /// How many there were.
    pub(super) writes: AtomicUsize,
}

const IN_FLIGHT: &str = "in_flight";

impl Intercept for Doomed {
    async fn write<T: Send>(
        &self,
        _: Option<&SessionId>,
        write: WriteKind,
        work: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        let Some(name) = name_of(&write) else {
            return work.await;
        };
        let at = match name {
            IN_FLIGHT => Write::InFlight,
            _ => Write::Number(1 + self.writes.fetch_add(1, Ordering::SeqCst)),
        };
        tell("write", name);
        let side = (at == self.doom.write).then_some(self.doom.side);
        if side == Some(Side::Before) {
            die();
        }
        let done = work.await;
        if side == Some(Side::After) {
            die();
        }
        tell("wrote", name);
        done
    }
}

pub(super) fn tell(what: &str, name: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{what} {name}").unwrap();
    out.flush().unwrap();
}

fn die() -> ! {
    let own = rustix::process::getpid();
    rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
    unreachable!("a process does not outlive this signal");
}

/// The kind of write, as text; `None` if the process does not end at it.
fn name_of(write: &WriteKind) -> Option<&str> {
    Some(match write {
        WriteKind::Create => "create",
        WriteKind::Import => "import",
        WriteKind::Purge => "purge",
        WriteKind::Title => "title",
        WriteKind::State => "state",
        WriteKind::Delete => "delete",
        WriteKind::Message(role) => role,
        WriteKind::Custom(custom_type) => custom_type,
        WriteKind::ThinkingLevel => "thinking_level_change",
        WriteKind::OtherEntry => "entry",
        WriteKind::InFlight => IN_FLIGHT,
        WriteKind::TakeOver => "take_over",
        WriteKind::Claim => "claim",
        WriteKind::Leaf => "leaf",
        WriteKind::Fork => "fork",
        WriteKind::Sync => return None,
    })
}
