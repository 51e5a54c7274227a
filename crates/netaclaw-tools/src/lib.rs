#![doc = include_str!("../README.md")]

mod builtin;
mod cap;
mod context;
#[cfg(feature = "contract")]
pub mod contract;
mod execute;
pub mod mcp;
mod output;
mod registry;
mod schema;
mod service;
pub mod spawn;
mod tool;
mod update;
mod workspace;

pub use builtin::{
    Bash, Clarify, Edit, Find, Grep, Ls, MemorySave, MemorySearch, PublicInternet, Reach, Read,
    Todo, WebFetch, Write, clarify_output, image_type,
};
pub use context::{ImageUse, ToolContext, Updates};
pub use execute::{Ending, Executed, STOP_GRACE, execute};
pub use output::ToolOutput;
pub use registry::{RegistryError, ToolRegistry};
pub use schema::schema_of;
pub use service::{
    Clarifier, ClarifyAnswer, ClarifyQuestion, MemoryError, MemoryFact, MemoryService,
    ServiceError, TodoService,
};
pub use tool::{Call, Tool, TypedTool};
pub use update::{ProcessLevel, ProcessStatus, ProcessUpdate, ToolUpdate};
pub use workspace::{PathError, Workspace};
