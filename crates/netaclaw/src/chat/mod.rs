//! `netaclaw chat`: a conversation in the terminal, on the same engine as the server.
//!
//! In a terminal that can move its cursor it is a console: an editor and a status line below a
//! transcript. In any other it is a conversation line by line; without a terminal it
//! is a filter: each line of the input is sent
//! when the answer before it is complete, the output holds the answers and nothing else, and the
//! first failure ends it. There is no user to ask, so a call that needs approval is refused unless
//! `--yes` approves all of them.

mod activity;
mod approval;
mod command_actions;
mod commands;
mod console;
mod event_text;
mod keyboard;
mod line_output;
mod terminal_chat;
mod text;
mod view;

use crate::admin::{explain_choice, failure};
use crate::app::{App, Outcome};
use crate::assemble::assemble;
use crate::error::{Failure, Result, in_language};
use crate::serve::announce_chat;
use crate::session::find_meta;
use crate::text::Lang;
use clap::Args;
use netaclaw_admin::{AdminError, AdminStore, FIRST_USER, resolve_model};
use netaclaw_agents::AgentPreviews;
use netaclaw_engine::{Caller, EngineError};
use netaclaw_protocol::{Agent, AgentId};
use std::sync::Arc;
use std::time::Duration;
use terminal_chat::{ApprovalMode, ChatAgent, ChatServices, TerminalChat};

/// How long a run may take to end when the chat is left.
const LEAVE_GRACE: Duration = Duration::from_secs(2);

#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// Continue this session; takes an id or the start of one
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Name of the agent to chat with
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Approve every call that needs approval
    #[arg(long)]
    yes: bool,
}

pub(crate) async fn run(args: ChatArgs, app: &mut App) -> Result<Outcome> {
    let session = match &args.session {
        Some(id) => Some(find_meta(app, id).await?),
        None => None,
    };
    let approval_mode = match args.yes {
        true => ApprovalMode::ApproveAll,
        false => ApprovalMode::Ask,
    };
    let mut assembled = assemble(app).await?;
    announce_chat(&mut assembled.instance);
    let agent_id = session.as_ref().and_then(|meta| meta.agent_id.as_deref());
    let chat_agent = find_chat_agent(app.lang, &*assembled.admin, args.agent, agent_id).await;
    let caller = caller(app.lang, &*assembled.admin).await;
    let outcome = match chat_agent.and_then(|chat_agent| Ok((chat_agent, caller?))) {
        Ok((chat_agent, caller)) => {
            let services = ChatServices {
                engine: assembled.engine.clone(),
                admin: Arc::clone(&assembled.admin) as Arc<dyn AdminStore>,
                previews: Arc::clone(&assembled.agents) as Arc<dyn AgentPreviews>,
                caller,
            };
            let history = app.load_config()?.chat_history_file();
            let mut terminal = TerminalChat::new(app, services, chat_agent, approval_mode, history);
            terminal.run(session.map(|meta| meta.session_id)).await
        }
        Err(failure) => Err(failure),
    };
    assembled.engine.shut_down(LEAVE_GRACE).await;
    assembled.admin.close().await;
    outcome
}

/// The sessions of the terminal are those that the web app shows to the user of the initial access
/// token.
pub(crate) async fn caller(lang: Lang, store: &dyn AdminStore) -> Result<Caller> {
    let owner = store.user_named(FIRST_USER).await;
    let owner = owner.map_err(|error| failure(lang, error))?;
    Ok(Caller {
        user_id: owner.id.as_str().to_owned(),
        is_admin: true,
    })
}

/// The agent of the chat. A wrong name is reported before anything else.
async fn find_chat_agent(
    lang: Lang,
    store: &dyn AdminStore,
    named: Option<String>,
    of_session: Option<&str>,
) -> Result<ChatAgent> {
    let agent = agent(store, named.as_deref(), of_session).await;
    let agent = agent.map_err(|error| failure(lang, error))?;
    let channels = store.channels().await;
    let channels = channels.map_err(|error| failure(lang, error))?;
    let model = match resolve_model(&agent.spec, &channels) {
        Ok(plan) => Ok(format!("{}, {}", plan.main.channel_name, plan.main.model)),
        Err(error) => Err(explain_choice(lang, &error)),
    };
    Ok(ChatAgent {
        agent_id: agent.id.as_str().to_owned(),
        name: agent.spec.name,
        named,
        model,
    })
}

/// The agent that was named, else that of the session, else the default one.
async fn agent(
    store: &dyn AdminStore,
    named: Option<&str>,
    of_session: Option<&str>,
) -> std::result::Result<Agent, AdminError> {
    if let Some(name) = named {
        return store.agent_named(name).await;
    }
    if let Some(id) = of_session {
        match store.agent(&AgentId::new(id)).await {
            // It has been deleted; the session continues with the default one.
            Err(AdminError::NotFound { .. }) => {}
            found => return found,
        }
    }
    store.default_agent().await
}

/// What the engine refused, in the words of the person in front of the terminal.
fn refused(lang: Lang, error: &EngineError) -> Failure {
    let what = lang.chat_word();
    match error {
        EngineError::NoSession => Failure::new(what, lang.session_not_found(), lang.see_list()),
        EngineError::Busy(_) => Failure::new(what, lang.chat_elsewhere(), lang.try_later()),
        EngineError::StaleParent(entry) => Failure::plain(what, lang.chat_no_entry(entry)),
        // The log of a server has the cause; here the terminal is the only place to report it.
        EngineError::Internal(cause) => Failure::plain(what, cause.to_string()),
        other => Failure::plain(what, in_language(lang, other.words())),
    }
}
