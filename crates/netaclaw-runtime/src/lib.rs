#![doc = include_str!("../README.md")]

mod answer;
mod clock;
mod event;
mod host;
mod input;
mod machine;
pub mod prompt;
mod report;
mod run;
mod todo;
mod trouble;

pub use answer::AnswerSoFar;
pub use clock::{Clock, SystemClock};
pub use event::{RunEvent, ToolCompleted, ToolStarted, ToolStep};
pub use host::{HostError, ModelCall, OpenApproval, Overflow, RunContext, RunHost};
pub use input::{AgentSettings, ModelAccess, PendingCalls, RunInput, RunLimits};
pub use report::{EndReason, RunReport, StuckPattern};
pub use run::{NOTICE_ENTRY, run_agent};
pub use todo::{TODO_ENTRY, todo_on_path};
