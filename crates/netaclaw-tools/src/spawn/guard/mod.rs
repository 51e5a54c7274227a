//! The guard: a small process between the server and a child.
//!
//! It receives on its standard input what to run, reports the outcome there, and ends the whole
//! tree below it when that input is closed.

mod calls;
mod confine;
mod places;
mod process_limit;
mod quota;
mod tree;
mod view;

pub(super) use tree::kill_marked;

use super::plan::{Plan, ProgramEnd, Reply, StartFault};
use process_limit::ProcessLimit;
use quota::Quota;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use rustix::process::{Pid, WaitOptions, WaitStatus, getpriority_process, setpriority_process};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::os::unix::process::CommandExt;
use std::process::{ExitCode, Stdio};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tokio::time::{Instant, MissedTickBehavior};

/// The argument that makes a program the guard.
pub const GUARD_ARG: &str = "__guard";

/// How long those may take that were asked to end.
const GRACE: Duration = Duration::from_millis(1500);
/// The same for what a program left behind that has itself ended.
const LEFTOVER_GRACE: Duration = Duration::from_millis(300);
/// Killing takes effect at once, except for who waits for a disk. Seen to again so often.
const KILL_AGAIN: Duration = Duration::from_millis(50);
/// Who cannot be killed in this time is left to the kernel.
const KILL_MAX: Duration = Duration::from_secs(20);
/// The smallest niceness there is.
const MOST_URGENT: i32 = -20;
/// So often it is seen to how many there are. In the time between a machine makes a few thousand
/// processes at most.
const COUNT_EVERY: Duration = Duration::from_millis(100);
/// Whom the kernel ends first when memory runs out: rather a program than the server.
const OOM_SCORE: &str = "/proc/self/oom_score_adj";
const OOM_SCORE_OF_CHILDREN: &str = "500";

/// The whole program, if it was started with [`GUARD_ARG`].
pub fn guard_main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let ended = runtime.and_then(|runtime| runtime.block_on(guard()));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        // Only the exit code can report it.
        Err(_) => ExitCode::FAILURE,
    }
}

async fn guard() -> io::Result<()> {
    // Away from the server's terminal, so that a Ctrl-C there is the server's to pass on.
    rustix::process::setsid()?;
    // A process that loses its parent becomes a child of the guard.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    // To end many processes, the guard needs CPU time. Without the privilege this is refused, and
    // then it takes longer.
    let niceness = getpriority_process(None).unwrap_or_default();
    setpriority_process(None, MOST_URGENT).unwrap_or_default();
    // Files that the server's own parent left open must not reach the child.
    close_fds::set_fds_cloexec(3, &[]);

    let (mut control, stdin) = GuardControl::receive()?;
    let Some(plan) = control.plan().await? else {
        return Ok(());
    };
    // The handlers are installed before there is a process to signal them.
    let mut signals = Signals::new()?;
    // Before the view is made, because making room removes what the view is built on.
    let mut bounds = Bounds {
        process_limit: ProcessLimit::new(plan.confinement.limits.tasks),
        quota: Quota::new(&plan),
    };
    // For example left by a program whose guard was killed.
    if bounds.quota.is_full() {
        bounds.quota.enforce();
    }
    if bounds.quota.is_full() {
        let fault = StartFault::ScratchFull(bounds.quota.most());
        return control.send_reply(&Reply::Failed(fault)).await;
    }
    // While there is one thread: the kernel makes no user namespace for a part of a process.
    if plan.namespaces
        && let Err(why) = view::enter(&plan)
    {
        let fault = StartFault::NoNamespaces(why);
        return control.send_reply(&Reply::Failed(fault)).await;
    }
    let own_score = std::fs::read_to_string(OOM_SCORE);
    // Inherited by the child, and taken back here: the guard has to outlive what it guards. It is
    // always allowed to raise it.
    std::fs::write(OOM_SCORE, OOM_SCORE_OF_CHILDREN).unwrap_or_default();
    let started = start(plan, stdin, niceness).await;
    if let Ok(own_score) = own_score {
        std::fs::write(OOM_SCORE, own_score).unwrap_or_default();
    }
    match started {
        Err(fault) => control.send_reply(&Reply::Failed(fault)).await,
        Ok((child, sandbox)) => {
            control.send_reply(&Reply::Started(sandbox)).await?;
            let mut ended = watch(child, &mut control, &mut signals, &mut bounds).await?;
            if bounds.quota.enforce() {
                ended.over_quota = Some(bounds.quota.most());
            }
            control.send_reply(&Reply::Ended(ended)).await
        }
    }
}

/// What is counted while a child runs.
struct Bounds {
    process_limit: ProcessLimit,
    quota: Quota,
}

/// Starts the program from a thread that has locked itself in; its children have what it has.
async fn start(
    plan: Plan,
    stdin: Option<OwnedFd>,
    niceness: i32,
) -> Result<(Pid, super::plan::Sandbox), StartFault> {
    let (tx, rx) = oneshot::channel();
    std::thread::spawn(move || {
        // To become less urgent is always allowed.
        setpriority_process(None, niceness).unwrap_or_default();
        let started = confine::confine(&plan).and_then(|sandbox| {
            let child = spawn(&plan, stdin).map_err(|error| fault(&error))?;
            Ok((child, sandbox))
        });
        // The one who waits is gone only if the whole guard is.
        tx.send(started).unwrap_or_default();
    });
    let gone = |_| StartFault::Other("the thread that starts the program failed".to_owned());
    rx.await.map_err(gone)?
}

fn spawn(plan: &Plan, stdin: Option<OwnedFd>) -> io::Result<Pid> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the gate, inside of the guard"
    )]
    let mut command = std::process::Command::new(&plan.program);
    command
        .args(&plan.args)
        .current_dir(&plan.cwd)
        .process_group(0)
        .stdin(stdin.map_or_else(Stdio::null, Stdio::from));
    let child = command.spawn()?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    pid.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn fault(error: &io::Error) -> StartFault {
    match error.kind() {
        io::ErrorKind::NotFound => StartFault::NotFound,
        io::ErrorKind::PermissionDenied => StartFault::NotPermitted,
        kind => StartFault::Other(kind.to_string()),
    }
}

/// Stays until nothing is left below, and returns how the child itself ended.
async fn watch(
    child: Pid,
    control: &mut GuardControl,
    signals: &mut Signals,
    bounds: &mut Bounds,
) -> io::Result<ProgramEnd> {
    let mut status = None;
    let mut ending: Option<TreeShutdown> = None;
    let (mut crowded, mut over_quota) = (None, None);
    let mut counts = tokio::time::interval(COUNT_EVERY);
    counts.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let is_over = !reap(child, &mut status)?;
        if is_over || ending.as_ref().is_some_and(TreeShutdown::is_hopeless) {
            return Ok(ProgramEnd {
                code: status.and_then(WaitStatus::exit_status),
                signal: status.and_then(WaitStatus::terminating_signal),
                crowded,
                over_quota,
            });
        }
        if status.is_some() && ending.is_none() {
            ending = Some(TreeShutdown::begin(child, LEFTOVER_GRACE));
        }
        let next = ending.as_ref().map(|ending| ending.next);
        tokio::select! {
            _ = signals.child.recv() => {}
            _ = signals.terminate.recv(), if ending.is_none() => {
                ending = Some(TreeShutdown::begin(child, GRACE));
            }
            () = control.closed(), if ending.is_none() => {
                ending = Some(TreeShutdown::begin(child, GRACE));
            }
            _ = counts.tick(), if crowded.is_none() && over_quota.is_none() => {
                if bounds.process_limit.is_too_large(child) {
                    crowded = Some(bounds.process_limit.most());
                    ending = Some(TreeShutdown::kill_at_once(child));
                } else if bounds.quota.is_exceeded() {
                    over_quota = Some(bounds.quota.most());
                    ending = Some(TreeShutdown::kill_at_once(child));
                }
            }
            () = until(next) => {
                if let Some(ending) = &mut ending {
                    ending.escalate(child);
                }
            }
        }
    }
}

/// Collects processes that have ended. Returns whether any are left.
fn reap(child: Pid, status: &mut Option<WaitStatus>) -> io::Result<bool> {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, ended))) if pid == child => *status = Some(ended),
            Ok(Some(_)) => {}
            Ok(None) => return Ok(true),
            Err(rustix::io::Errno::CHILD) => return Ok(false),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

async fn until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// The tree is being ended.
struct TreeShutdown {
    next: Instant,
    give_up: Instant,
}

impl TreeShutdown {
    /// Sends `TERM` to all.
    fn begin(child: Pid, grace: Duration) -> Self {
        tree::terminate(child);
        let now = Instant::now();
        Self {
            next: now + grace,
            give_up: now + grace + KILL_MAX,
        }
    }

    /// Kills without `TERM`: a tree over its limit must not get time to grow.
    fn kill_at_once(child: Pid) -> Self {
        let now = Instant::now();
        let mut ending = Self {
            next: now,
            give_up: now + KILL_MAX,
        };
        ending.escalate(child);
        ending
    }

    /// The time to ask is over.
    fn escalate(&mut self, child: Pid) {
        tree::kill(child);
        self.next = Instant::now() + KILL_AGAIN;
    }

    fn is_hopeless(&self) -> bool {
        Instant::now() >= self.give_up
    }
}

struct Signals {
    child: Signal,
    terminate: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            child: signal(SignalKind::child())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }
}

/// The guard's end of the leash.
struct GuardControl {
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    is_closed: bool,
}

impl GuardControl {
    /// Takes the socket from standard input, and with its first byte the input of the child.
    fn receive() -> io::Result<(Self, Option<OwnedFd>)> {
        let socket: OwnedFd = io::stdin().as_fd().try_clone_to_owned()?;
        let stdin = receive_first(&socket)?;
        let socket = StdUnixStream::from(socket);
        socket.set_nonblocking(true)?;
        let (reader, writer) = UnixStream::from_std(socket)?.into_split();
        let control = Self {
            reader: BufReader::new(reader),
            writer,
            is_closed: false,
        };
        Ok((control, stdin))
    }

    async fn plan(&mut self) -> io::Result<Option<Plan>> {
        let mut line = Vec::new();
        match self.reader.read_until(b'\n', &mut line).await? {
            0 => Ok(None),
            _ => Ok(Some(serde_json::from_slice(&line)?)),
        }
    }

    /// The server closes its end, or is gone.
    async fn closed(&mut self) {
        let mut ignored = [0; 64];
        while !self.is_closed {
            self.is_closed = !matches!(self.reader.read(&mut ignored).await, Ok(1..));
        }
    }

    /// A server that is gone receives nothing, and that is not an error of the guard.
    async fn send_reply(&mut self, reply: &Reply) -> io::Result<()> {
        let mut line = serde_json::to_vec(reply)?;
        line.push(b'\n');
        match self.writer.write_all(&line).await {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            said => said,
        }
    }
}

/// The byte before the plan, which may carry the input of the child.
pub(super) fn send_first(socket: impl AsFd, stdin: Option<OwnedFd>) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let fds: Vec<_> = stdin.iter().map(AsFd::as_fd).collect();
    if !fds.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(&fds));
    }
    sendmsg(
        socket,
        &[IoSlice::new(b"\n")],
        &mut ancillary,
        SendFlags::NOSIGNAL,
    )?;
    Ok(())
}

fn receive_first(socket: impl AsFd) -> io::Result<Option<OwnedFd>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(
        socket,
        &mut [IoSliceMut::new(&mut byte)],
        &mut ancillary,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    let received = ancillary.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    Ok(received)
}
