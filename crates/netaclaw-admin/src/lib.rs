#![doc = include_str!("../README.md")]

mod agent;
mod approval;
mod audit;
mod channel;
#[cfg(feature = "contract")]
pub mod contract;
mod defaults;
mod dictionary;
mod error;
mod mcp;
mod memory;
mod nearest;
mod open;
mod patch;
mod resolve;
mod rules;
mod setting;
mod snapshot;
mod store;
mod token;
mod tool;
mod user;

pub use agent::{
    AgentStore, ProviderChoice, check_agent, check_apart, check_exist, session_provider,
};
pub use approval::{APPROVALS_MAX, ApprovalStore, approval_act};
pub use audit::{Act, Actor, AuditStore, changed_fields};
pub use channel::{ChannelStore, check_channel, last4, model_channel};
pub use defaults::{
    DEFAULT_AGENT, DEMO_CHANNEL, FIRST_USER, FirstStart, LocalModels, Plan, PlannedChannel, plan,
    usual_models,
};
pub use dictionary::{
    AUXILIARY_CHANNEL_ID, AUXILIARY_MODEL_ID, DictionaryStore, NETACLAW_GROUP, check_dict_info,
    check_dict_type,
};
pub use error::{AdminError, Invalid, Problem, Result, UsedBy};
pub use mcp::{
    McpSecrets, McpSecretsChange, McpStore, check_mcp_roots, check_mcp_secrets, check_mcp_server,
};
pub use memory::{
    MEMORIES_MAX, MEMORY_CHARS_MAX, MemoryProposal, MemoryStore, PENDING_MEMORIES_MAX,
    by_relevance, check_memory, search,
};
pub use nearest::nearest;
pub use netaclaw_protocol::ModelChoiceError;
pub use open::{OpenModel, OpenModels, open_auxiliary, open_models};
pub use patch::apply_patch;
pub use resolve::{
    AuxiliaryChoice, AuxiliarySource, DictionaryDefault, ModelChoice, ModelPlan, check_choice,
    default_model, resolve_auxiliary, resolve_model,
};
pub use setting::{CLARIFY_TIMEOUT, SETTINGS, SettingStore, check_setting, check_setting_name};
pub use snapshot::{ChannelKey, ConfigSnapshot, ConfiguredMcpServer, UnreadableAgent};
pub use store::{AdminStore, Expect, Seeded};
pub use token::{
    Access, BROWSER_LABEL, IssuedToken, TokenCheck, TokenStore, check_token_spec, is_alive,
    is_browsers, login_is_possible, same_secret,
};
pub use tool::{BUILTIN_TOOLS, KnownTool, ToolStore, ToolSync, global_status};
pub use user::{LoginCheck, PasswordChange, UserStore, check_password_rules, check_user};
