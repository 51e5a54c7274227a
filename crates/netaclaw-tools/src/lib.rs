#![doc = include_str!("../README.md")]

mod builtin;
mod cap;
mod context;
#[cfg(feature = "contract")]
pub mod contract;
mod execute;
pub mod mcp;
mod output;
pub mod process;
mod registry;
mod schema;
mod service;
pub mod skills;
pub mod spawn;
mod tool;
mod update;
mod workspace;

pub use builtin::{
    Bash, Clarify, EXECUTE_SKILL, Edit, EgressPolicy, ExecuteSkill, Find, Grep, ListSkills, Ls,
    MemorySave, MemorySearch, PublicInternet, Read, ReadSkill, Todo, WebFetch, Write,
    clarify_output, image_type, skill_instructions,
};
pub use context::{ImageUse, ToolContext, Updates};
pub use execute::{Ending, Executed, STOP_GRACE, blocking, execute};
pub use output::ToolOutput;
pub use registry::{RegistryError, ToolRegistry};
pub use schema::schema_of;
pub use service::{
    Clarifier, ClarifyAnswer, ClarifyQuestion, MemoryError, MemoryFact, MemoryService, Provenance,
    ServiceError, TodoService,
};
pub use tool::{Call, Tool, TypedTool};
pub use update::{ProcessUpdate, ToolUpdate};
pub use workspace::{Hidden, PathError, Workspace, real_path};
