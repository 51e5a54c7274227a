//! The rules after external content, and the limits of an approved call.

use crate::hosts::{AllowedHosts, Destination, parse};
use crate::manifest::EgressTarget;
use crate::resolve::ResolvedTool;
use netaclaw_protocol::{ForeignContent, ForeignNote, ToolRisk};
use serde_json::Value;

/// How far an approved call may go. Governance decides it; tools ask it while they work.
#[derive(Clone, Debug)]
pub struct CallLimits {
    after_foreign: bool,
    /// `None` if it may go anywhere.
    bounds: Option<Bounds>,
    /// The folder of the workspace that an edit may not leave.
    folder: Option<String>,
}

#[derive(Clone, Debug)]
struct Bounds {
    /// Where the call said that it goes.
    approved: Option<Destination>,
    hosts: AllowedHosts,
}

impl CallLimits {
    /// Whether the model had read content from outside when it made the call.
    pub fn after_foreign(&self) -> bool {
        self.after_foreign
    }

    /// Whether a call may follow a redirect to this address. The approval was for the host in the
    /// call, so only redirects to allowed hosts of the agent are followed.
    pub fn may_follow(&self, address: &str) -> bool {
        let Some(Bounds { approved, hosts }) = &self.bounds else {
            return true;
        };
        let Some(next) = Destination::parse(address) else {
            return false;
        };
        approved.as_ref().is_some_and(|here| here.leads_to(&next)) || hosts.allow(&next)
    }

    /// The folder of the workspace below which the file of an edit must be when it is opened: the
    /// approval was for this folder only. `None` if a user approved the call itself, or it needs no
    /// approval.
    pub fn folder(&self) -> Option<&str> {
        self.folder.as_deref()
    }

    pub(crate) fn in_folder(self, folder: Option<String>) -> Self {
        Self { folder, ..self }
    }

    /// For a call that is about to run. An approved call goes to the host in the approval request,
    /// and nowhere else.
    pub(crate) fn of(
        tool: &ResolvedTool,
        args: &Value,
        foreign: &ForeignContent,
        was_asked: bool,
    ) -> Self {
        let after_foreign = !foreign.is_empty();
        let is_bound = was_asked || (after_foreign && tool.may_ask());
        Self {
            after_foreign,
            folder: None,
            bounds: is_bound.then(|| Bounds {
                approved: address(tool, args).and_then(Destination::parse),
                hosts: tool.hosts.clone(),
            }),
        }
    }
}

/// Whether the call needs approval because of what the session has read.
pub(crate) fn needs_approval(tool: &ResolvedTool, args: &Value, foreign: &ForeignContent) -> bool {
    if foreign.is_empty() || !tool.may_ask() {
        return false;
    }
    match &tool.manifest().outlet {
        // A tool that says it uses the network, but not where to.
        EgressTarget::None => tool.manifest().risk == ToolRisk::Network,
        EgressTarget::Memory => true,
        EgressTarget::Programs => tool.programs_reach_network(),
        EgressTarget::Address { .. } | EgressTarget::Server { .. } => {
            let place = address(tool, args).and_then(Destination::parse);
            !place.is_some_and(|place| tool.hosts.allow(&place))
        }
    }
}

/// What the approval request of such a session shows; `None` if it has read no external content.
pub(crate) fn note(
    tool: &ResolvedTool,
    args: &Value,
    foreign: &ForeignContent,
) -> Option<ForeignNote> {
    let destination = address(tool, args).and_then(parse);
    (!foreign.is_empty()).then(|| ForeignNote {
        sources: foreign.clone(),
        // As it would be requested: a name in punycode looks like what it is.
        destination: destination.map(|url| url.to_string()),
    })
}

fn address<'a>(tool: &'a ResolvedTool, args: &'a Value) -> Option<&'a str> {
    match &tool.manifest().outlet {
        EgressTarget::Address { argument } => args.get(argument)?.as_str(),
        EgressTarget::Server { url } => url.as_deref(),
        EgressTarget::None | EgressTarget::Programs | EgressTarget::Memory => None,
    }
}
