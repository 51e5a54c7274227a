//! The one gate through which child processes start.
//!
//! A child is never started by the server itself. The server starts a *guard*, which is this very
//! program with another argument, and sends it over a socket what to run. The guard creates a
//! session of its own, becomes the subreaper of everything below it, and starts the program from a
//! thread that has sandboxed itself: the restrictions of a thread apply to its children. So no line
//! of `unsafe` is needed between `fork` and `exec`, and the server is never restricted.
//!
//! The socket is also the leash. When the server closes its end, on purpose or because it was
//! killed, the guard ends the whole tree: with `TERM` first, then with `KILL`. A process that
//! ignores `TERM`, changes its group or forks twice is still below the guard and ends with the
//! rest.
//!
//! No other part of the program starts a process; `xtask tidy` checks that.

mod environment;
mod gate;
mod guard;
mod plan;
mod process;
mod sandbox_abilities;
mod scratch;
mod spawner;
mod sweep;
mod text;

pub use gate::{
    ChildOutput, GateSettings, Isolation, Launcher, Namespaces, Program, SpawnError, SpawnGate,
    Started,
};
pub use guard::{GUARD_ARG, guard_main};
pub use plan::{Confinement, Limits, Sandbox};
pub use process::{ChildEnd, ChildProcess};
pub use sandbox_abilities::{SandboxAbilities, sandbox_abilities};
pub use scratch::Scratch;
pub use spawner::Spawner;
pub use text::Utf8Stream;
