//! Standing approvals: which scopes can be granted with a call, and which calls they cover.
//!
//! What cannot be decided safely is not covered, and is asked about.

mod command;
mod path;
mod programs;

use crate::approval::{ApprovalRequest, CallHash, canonical};
use crate::manifest::ToolManifest;
use crate::resolve::{ResolvedTool, ResolvedTools};
use command::{Pattern, parse};
use netaclaw_protocol::{
    ApprovalGrant, ApprovalOffer, ApprovalScope, ApprovalWithin, SessionId, StandingApproval,
    ToolCategory, ToolRisk, UserId,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub use path::{WORKSPACE, is_below};

/// Simple commands of one call, each of which needs a pattern of its own.
const PATTERNS_MAX: usize = 6;
/// The beginning of a call that is kept with a standing approval.
const SAMPLE_CHARS_MAX: usize = 200;
/// The arguments of a shell tool that a pattern decides about. A call with others is asked about.
const SHELL_ARGUMENTS: [&str; 3] = ["command", "cwd", "timeout"];

/// What a standing approval is judged by, beside tool and arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallFacts {
    pub kind: CallKind,
    /// The tool of the call, and those that one approval covers together with it, each with the
    /// hash of its definition and settings at this moment.
    pub tools: BTreeMap<String, String>,
    /// The call is asked about because of external content, not only because of its risk.
    pub from_outside: bool,
    /// Where a file would be written, relative to the workspace and without links. `None` if that
    /// is outside of it or unknown.
    pub place: Option<String>,
}

/// What kind of scopes a call has beyond itself and its tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    #[default]
    Other,
    /// Writes a file of the workspace.
    Edit,
    /// Runs a command of the shell.
    Shell,
}

impl CallKind {
    pub(crate) fn of(tool: &ToolManifest) -> Self {
        match (tool.category, tool.risk) {
            (ToolCategory::Files, ToolRisk::Write) => Self::Edit,
            (ToolCategory::Shell, _) => Self::Shell,
            _ => Self::Other,
        }
    }
}

impl CallFacts {
    pub(crate) fn of(tools: &ResolvedTools, tool: &ResolvedTool, from_outside: bool) -> Self {
        let kind = CallKind::of(tool.manifest());
        let bound = match kind {
            CallKind::Edit => edit_tools(tools),
            CallKind::Other | CallKind::Shell => [(tool.name().to_owned(), binding(tool))].into(),
        };
        Self {
            kind,
            tools: bound,
            from_outside,
            place: None,
        }
    }
}

/// The enabled tools that edit files, as they are at this moment.
pub fn edit_tools(tools: &ResolvedTools) -> BTreeMap<String, String> {
    let edits = |tool: &&ResolvedTool| CallKind::of(tool.manifest()) == CallKind::Edit;
    let bound = tools.enabled().filter(edits);
    bound
        .map(|tool| (tool.name().to_owned(), binding(tool)))
        .collect()
}

/// The enabled tool of this name, as it is at this moment.
pub fn one_tool(tools: &ResolvedTools, name: &str) -> BTreeMap<String, String> {
    let bound = tools.get(name).filter(|tool| tool.is_enabled());
    bound
        .map(|tool| (tool.name().to_owned(), binding(tool)))
        .into_iter()
        .collect()
}

/// Changes with everything that a user who granted an approval relied on.
fn binding(tool: &ResolvedTool) -> String {
    let facts = json!({
        "manifest": &**tool.manifest(),
        "settings": tool.settings(),
        "network": tool.programs_reach_network(),
    });
    CallHash::of(tool.name(), &facts).as_str().to_owned()
}

/// The session that a call is made in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalSeat {
    pub session_id: SessionId,
    pub user_id: Option<UserId>,
    pub agent_id: Option<String>,
}

impl ApprovalSeat {
    fn is_of(&self, approval: &StandingApproval) -> bool {
        match approval.within {
            ApprovalWithin::Session => approval.session_id.as_ref() == Some(&self.session_id),
            ApprovalWithin::Agent => {
                self.user_id.as_ref() == Some(&approval.user_id)
                    && self.agent_id.is_some()
                    && self.agent_id == approval.agent_id
            }
        }
    }
}

/// The standing approvals that together cover the call, in the order of its parts; `None` if a user
/// has to be asked.
pub fn covering<'a>(
    standing: &'a [StandingApproval],
    seat: &ApprovalSeat,
    call: &ApprovalRequest,
) -> Option<Vec<&'a StandingApproval>> {
    let is_valid = |approval: &&StandingApproval| {
        let bound = approval.tools.get(&call.tool_name);
        seat.is_of(approval)
            && bound.is_some()
            && bound == call.facts.tools.get(&call.tool_name)
            && is_for_foreign(approval, call)
    };
    let valid: Vec<&StandingApproval> = standing.iter().filter(is_valid).collect();
    let whole = valid.iter().find(|approval| match &approval.scope {
        ApprovalScope::Commands { .. } => false,
        scope => covers_alone(scope, &approval.tool_name, call),
    });
    if let Some(whole) = whole {
        return Some(vec![whole]);
    }
    let patterns: Vec<(&StandingApproval, Vec<Pattern>)> = valid
        .iter()
        .filter_map(|approval| Some((*approval, patterns_of(&approval.scope)?)))
        .collect();
    let mut used: Vec<&StandingApproval> = Vec::new();
    for words in shell_words(call)? {
        let covers = |(_, patterns): &&(&StandingApproval, Vec<Pattern>)| {
            patterns.iter().any(|pattern| pattern.covers(&words))
        };
        let (approval, _) = patterns.iter().find(covers)?;
        if !used.iter().any(|known| known.id == approval.id) {
            used.push(approval);
        }
    }
    Some(used)
}

/// After external content, only the very call that was allowed in this session is not asked again.
fn is_for_foreign(approval: &StandingApproval, call: &ApprovalRequest) -> bool {
    let is_exact = matches!(approval.scope, ApprovalScope::Call { .. })
        && approval.within == ApprovalWithin::Session;
    is_exact || !call.facts.from_outside
}

fn covers_alone(scope: &ApprovalScope, tool: &str, call: &ApprovalRequest) -> bool {
    match scope {
        ApprovalScope::Call { hash } => hash == call.hash.as_str(),
        ApprovalScope::Tool => tool == call.tool_name,
        ApprovalScope::Edits { folder } => {
            let place = edit_place(call);
            place.is_some_and(|place| is_below(folder, place))
        }
        ApprovalScope::Commands { .. } => {
            let (Some(patterns), Some(commands)) = (patterns_of(scope), shell_words(call)) else {
                return false;
            };
            let mut commands = commands.iter();
            commands.all(|words| patterns.iter().any(|pattern| pattern.covers(words)))
        }
    }
}

/// Where an edit goes, if its path can be judged.
fn edit_place(call: &ApprovalRequest) -> Option<&str> {
    if call.facts.kind != CallKind::Edit {
        return None;
    }
    let path = call.args.get("path")?.as_str()?;
    let place = call.facts.place.as_deref()?;
    (path::is_plain(path) && path::is_place(place)).then_some(place)
}

/// The simple commands of a call, if all of it can be read.
fn shell_words(call: &ApprovalRequest) -> Option<Vec<Vec<String>>> {
    if call.facts.kind != CallKind::Shell {
        return None;
    }
    let args = call.args.as_object()?;
    if args
        .keys()
        .any(|name| !SHELL_ARGUMENTS.contains(&name.as_str()))
    {
        return None;
    }
    match args.get("cwd") {
        None | Some(Value::Null) => {}
        Some(Value::String(cwd)) if path::is_relative(cwd) => {}
        Some(_) => return None,
    }
    parse(args.get("command")?.as_str()?)
}

/// `None` unless all of them can be read.
fn patterns_of(scope: &ApprovalScope) -> Option<Vec<Pattern>> {
    let ApprovalScope::Commands { patterns } = scope else {
        return None;
    };
    let read: Option<Vec<Pattern>> = patterns.iter().map(|text| Pattern::read(text)).collect();
    read.filter(|read| !read.is_empty() && read.len() <= PATTERNS_MAX)
}

/// The scopes that a user can grant with this call. `for_agent` if the session has a user and an
/// agent to grant them to.
pub fn offers(call: &ApprovalRequest, for_agent: bool) -> Vec<ApprovalOffer> {
    let exact = ApprovalScope::Call {
        hash: call.hash.as_str().to_owned(),
    };
    if !call.facts.tools.contains_key(&call.tool_name) {
        return Vec::new();
    }
    if call.facts.from_outside {
        let within = vec![ApprovalWithin::Session];
        return vec![ApprovalOffer {
            scope: exact,
            within,
        }];
    }
    let mut scopes = vec![exact];
    if let Some(place) = edit_place(call) {
        let folders = path::folders_of(place);
        scopes.extend(
            folders
                .into_iter()
                .map(|folder| ApprovalScope::Edits { folder }),
        );
    }
    scopes.extend(suggested_patterns(call));
    scopes.push(ApprovalScope::Tool);
    let within = match for_agent {
        true => vec![ApprovalWithin::Session, ApprovalWithin::Agent],
        false => vec![ApprovalWithin::Session],
    };
    let offer = |scope| ApprovalOffer {
        scope,
        within: within.clone(),
    };
    scopes.into_iter().map(offer).collect()
}

fn suggested_patterns(call: &ApprovalRequest) -> Option<ApprovalScope> {
    let mut patterns: Vec<String> = Vec::new();
    for words in shell_words(call)? {
        let pattern = Pattern::suggested(&words)?.to_string();
        if !patterns.contains(&pattern) {
            patterns.push(pattern);
        }
    }
    (patterns.len() <= PATTERNS_MAX).then_some(ApprovalScope::Commands { patterns })
}

/// The scope as it is to be stored, if it may be granted with this call: it was offered or is
/// narrower than an offer, and covers the call.
pub fn granted(
    call: &ApprovalRequest,
    for_agent: bool,
    grant: &ApprovalGrant,
) -> Option<ApprovalScope> {
    let scope = normal(&grant.scope)?;
    let offers = offers(call, for_agent);
    let mut fitting = offers
        .iter()
        .filter(|offer| offer.within.contains(&grant.within));
    let is_offered = fitting.any(|offer| is_within(&scope, &offer.scope));
    (is_offered && covers_alone(&scope, &call.tool_name, call)).then_some(scope)
}

/// One spelling of a scope; `None` if it cannot be read.
fn normal(scope: &ApprovalScope) -> Option<ApprovalScope> {
    match scope {
        ApprovalScope::Commands { .. } => {
            let patterns = patterns_of(scope)?.iter().map(Pattern::to_string).collect();
            Some(ApprovalScope::Commands { patterns })
        }
        ApprovalScope::Edits { folder } => {
            let folder = path::normal_folder(folder)?;
            Some(ApprovalScope::Edits { folder })
        }
        ApprovalScope::Call { .. } | ApprovalScope::Tool => Some(scope.clone()),
    }
}

/// Whether every call that `inner` covers is covered by `outer`.
fn is_within(inner: &ApprovalScope, outer: &ApprovalScope) -> bool {
    match (inner, outer) {
        (ApprovalScope::Edits { folder }, ApprovalScope::Edits { folder: outer }) => {
            folder == outer || is_below(outer, folder)
        }
        (ApprovalScope::Commands { .. }, ApprovalScope::Commands { .. }) => {
            let (Some(inner), Some(outer)) = (patterns_of(inner), patterns_of(outer)) else {
                return false;
            };
            let is_in = |one: &Pattern| outer.iter().any(|other| one.is_within(other));
            inner.iter().all(is_in)
        }
        (inner, outer) => inner == outer,
    }
}

/// What a call does, for people who later look at what they granted.
pub fn sample(args: &Value) -> String {
    let named = ["command", "path", "url", "name"];
    let named = named.iter().find_map(|name| args.get(name)?.as_str());
    let text = named.map_or_else(|| canonical(args), str::to_owned);
    let shown = text.chars().filter(|c| !path::is_invisible(*c));
    shown.take(SAMPLE_CHARS_MAX).collect()
}
