//! What the user types: a message, or a command that begins with a slash.

use super::activity::Activity;
use super::commands::{COMMANDS, Verb, find_command, nearest_command};
use super::terminal_chat::TerminalChat;
use super::{find_chat_agent, refused};
use crate::admin::failure;
use crate::approval::{accepts_edits, covers};
use crate::error::{Failure, Result};
use crate::session::{draw_tree, find_meta};
use crate::terminal::{Paint, clock, one_line, pad};
use netaclaw_admin::{model_channel, nearest};
use netaclaw_engine::EngineError;
use netaclaw_protocol::{
    AcceptEdits, ChannelStatus, ChatModel, Compact, CompactStatus, EntryId, QueueChange, QueueEdit,
    RevokeApproval, SessionListItem, SetModel, SetThinkingLevel, ThinkingLevel,
};
use netaclaw_session::{SessionFilter, SessionTree};
use std::sync::Arc;

/// Sessions that `/sessions` lists.
const SESSIONS_SHOWN: u32 = 10;
/// Columns of the names in the help.
const HELP_WIDTH: usize = 24;

/// A model that can be chosen.
pub(super) struct Model {
    /// `channel/model`.
    pub(super) name: String,
    choice: ChatModel,
}

impl TerminalChat<'_> {
    /// One line of the user. Returns whether there may be more.
    pub(super) async fn handle_line(&mut self, line: &str) -> Result<bool> {
        self.view.line_was_typed();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let more = match word {
            "" => true,
            _ if word.starts_with("//") => {
                self.send(&line[1..], line).await?;
                true
            }
            _ if word.starts_with('/') => self.command(line, word, rest.trim()).await?,
            _ => {
                self.send(line, line).await?;
                true
            }
        };
        if more {
            self.prompt()?;
        }
        Ok(more)
    }

    async fn command(&mut self, line: &str, word: &str, rest: &str) -> Result<bool> {
        let lang = self.app.lang;
        let Some(command) = find_command(word) else {
            let words = match nearest_command(word) {
                Some(meant) => lang.chat_unknown_near(word, meant),
                None => lang.chat_unknown_command(word),
            };
            self.view.complaint(&words)?;
            self.view.restore_line(line);
            return Ok(true);
        };
        match command.verb {
            // The engine knows what it means, and repeats it.
            Verb::Skill | Verb::Exit => {}
            _ => self.view.said(line),
        }
        match command.verb {
            Verb::Help => self.help()?,
            Verb::New => self.leave().await?,
            Verb::Tree => self.show_tree().await?,
            Verb::Branch => self.branch_from(rest).await?,
            Verb::Model => self.model(rest).await?,
            Verb::Thinking => self.thinking(rest).await?,
            Verb::Agent => self.agent(rest).await?,
            Verb::Sessions => self.sessions(rest).await?,
            Verb::Compact => self.compact(rest).await?,
            Verb::Queue => self.queue(rest).await?,
            Verb::Stop => self.stop_run().await?,
            Verb::Edits => self.accept_edits().await?,
            Verb::Approvals => self.standing_approvals(rest).await?,
            Verb::Skill => {
                // Whatever the case of its letters.
                self.send(&format!("{} {rest}", command.name), line).await?;
            }
            Verb::Exit => return Ok(false),
        }
        Ok(true)
    }

    fn help(&mut self) -> Result<()> {
        let lang = self.app.lang;
        let commands = COMMANDS
            .iter()
            .map(|command| (command.usage(lang), command.hint(lang)));
        let keys = [
            (lang.chat_help_slashes(), lang.chat_help_slashes_means()),
            ("Ctrl-C".to_owned(), lang.chat_help_interrupt()),
        ];
        let editing = [
            ("Alt-Enter, Ctrl-J", lang.chat_help_line_break()),
            ("Tab", lang.chat_help_complete()),
            ("Ctrl-R", lang.chat_help_search()),
        ];
        let editing = editing.map(|(key, means)| (key.to_owned(), means));
        let editing = editing
            .into_iter()
            .filter(|_| self.view.console().is_some());
        let editing: Vec<_> = editing.collect();
        let lines: Vec<String> = commands
            .chain(keys)
            .chain(editing)
            .map(|(name, means)| format!("{} {means}", pad(&name, HELP_WIDTH)))
            .collect();
        Ok(self.view.line(&lines.join("\n"))?)
    }

    async fn leave(&mut self) -> Result<()> {
        self.close_session().await;
        Ok(self.view.progress_line(&self.app.lang.chat_new())?)
    }

    /// The session goes on without this chat; the next message begins another.
    async fn close_session(&mut self) {
        if let Some((session, subscription)) = self.session.take() {
            self.engine.close(&session, subscription).await;
        }
        self.branch = None;
        self.question = None;
        self.calls.clear();
        self.queue.clear();
        self.standing.clear();
        self.activity = Activity::default();
        self.view.leave_session();
    }

    async fn show_tree(&mut self) -> Result<()> {
        let lang = self.app.lang;
        let Some(tree) = self.tree().await? else {
            return Ok(self.view.line(&lang.chat_no_session())?);
        };
        // The console paints for itself.
        let paint = match self.view.console() {
            Some(_) => Paint::none(),
            None => self.app.paint,
        };
        let drawn = draw_tree(lang, paint, &tree)?;
        Ok(self.view.drawing(&drawn)?)
    }

    /// The session so far; `None` if nothing has been said.
    async fn tree(&mut self) -> Result<Option<Arc<SessionTree>>> {
        let lang = self.app.lang;
        let Some((session, _)) = &self.session else {
            return Ok(None);
        };
        let meta = self.engine.session(&self.caller, session).await;
        let meta = meta.map_err(|error| refused(lang, &error))?;
        let providers = self.engine.providers();
        let provider = match (meta.provider, &providers.mysql) {
            (netaclaw_protocol::ProviderKind::Mysql, Some(mysql)) => mysql,
            _ => &providers.file,
        };
        let tree = provider.load_tree(session).await;
        Ok(Some(tree.map_err(|error| Failure::session(lang, error))?))
    }

    /// An entry, by its id or its beginning, from which the next message continues.
    async fn branch_from(&mut self, wanted: &str) -> Result<()> {
        let lang = self.app.lang;
        let Some(tree) = self.tree().await? else {
            return Ok(self.view.line(&lang.chat_no_session())?);
        };
        if wanted.is_empty() {
            return Ok(self.view.complaint(&lang.chat_branch_usage())?);
        }
        let ids = tree.entries().iter().map(|entry| entry.id());
        let found: Vec<&EntryId> = ids.filter(|id| id.as_str().starts_with(wanted)).collect();
        match found.as_slice() {
            [entry] => {
                self.branch = Some((*entry).clone());
                Ok(self.view.progress_line(&lang.chat_branched(entry))?)
            }
            [] => Ok(self.view.complaint(&lang.chat_no_entry(wanted))?),
            _ => Ok(self.view.complaint(&lang.chat_many_entries(wanted))?),
        }
    }

    /// The models that answers may come from.
    pub(super) async fn models(&self) -> Result<Vec<Model>> {
        let channels = self.admin.channels().await;
        let channels = channels.map_err(|error| failure(self.app.lang, error))?;
        let usable = channels.into_iter().filter(|channel| {
            channel.spec.status == ChannelStatus::Enabled && !channel.spec.is_auxiliary
        });
        let models = usable.flat_map(|channel| {
            let known = model_channel(&channel.spec, None);
            let of_channel = channel.spec.models.into_iter();
            let chats = of_channel.filter(move |model| known.model_info(&model.name).chat);
            chats.map(move |model| Model {
                name: format!("{}/{}", channel.spec.name, model.name),
                choice: ChatModel {
                    channel_id: channel.id.as_str().to_owned(),
                    model_id: model.name,
                },
            })
        });
        Ok(models.collect())
    }

    async fn model(&mut self, wanted: &str) -> Result<()> {
        let lang = self.app.lang;
        let models = self.models().await?;
        if wanted.is_empty() {
            let current = self.model_name();
            let names = models.iter().map(|model| model.name.as_str());
            return self.list(names, &current, lang.chat_no_models());
        }
        let same = |name: &str| name.eq_ignore_ascii_case(wanted);
        let by_name = models.iter().filter(|model| same(&model.name));
        let by_model = models.iter().filter(|model| same(&model.choice.model_id));
        let found: Vec<&Model> = by_name.collect();
        let found = match found.is_empty() {
            true => by_model.collect(),
            false => found,
        };
        let model = match found.as_slice() {
            [model] => *model,
            [] => {
                let names = models
                    .iter()
                    .flat_map(|model| [model.name.as_str(), model.choice.model_id.as_str()]);
                let words = match nearest(wanted, names) {
                    Some(meant) => lang.chat_no_model_near(wanted, meant),
                    None => lang.chat_no_model(wanted),
                };
                return Ok(self.view.complaint(&words)?);
            }
            _ => return Ok(self.view.complaint(&lang.chat_many_models(wanted))?),
        };
        let (name, choice) = (model.name.clone(), model.choice.clone());
        let done = match &self.session {
            Some((session, _)) => {
                let set = SetModel {
                    session_id: session.clone(),
                    channel_id: choice.channel_id.clone(),
                    model_id: choice.model_id.clone(),
                    request_id: None,
                };
                self.engine.execute(&self.caller, set).await.map(drop)
            }
            None => Ok(()),
        };
        if let Err(error) = done {
            return self.report_refusal(&error);
        }
        self.chosen.model = Some(choice);
        self.chat_agent.model = Ok(name.replacen('/', ", ", 1));
        self.show_chat_agent();
        Ok(self.view.progress_line(&lang.chat_model_set(name))?)
    }

    fn model_name(&self) -> String {
        let model = self.chat_agent.model.as_deref().unwrap_or_default();
        model.replacen(", ", "/", 1)
    }

    async fn thinking(&mut self, wanted: &str) -> Result<()> {
        let lang = self.app.lang;
        if wanted.is_empty() {
            let current = self.chosen.level.map_or("", ThinkingLevel::as_str);
            let names = ThinkingLevel::ALL.map(ThinkingLevel::as_str);
            return self.list(names.into_iter(), current, String::new());
        }
        let level = ThinkingLevel::ALL
            .into_iter()
            .find(|level| level.as_str().eq_ignore_ascii_case(wanted));
        let Some(level) = level else {
            let names = ThinkingLevel::ALL.map(ThinkingLevel::as_str).join(", ");
            return Ok(self.view.complaint(&lang.chat_no_level(wanted, names))?);
        };
        let done = match &self.session {
            Some((session, _)) => {
                let set = SetThinkingLevel {
                    session_id: session.clone(),
                    level,
                    request_id: None,
                };
                self.engine.execute(&self.caller, set).await.map(drop)
            }
            None => Ok(()),
        };
        if let Err(error) = done {
            return self.report_refusal(&error);
        }
        self.chosen.level = Some(level);
        Ok(self
            .view
            .progress_line(&lang.chat_level_set(level.as_str()))?)
    }

    /// Names, with a mark at the current one.
    fn list<'n>(
        &mut self,
        names: impl Iterator<Item = &'n str>,
        current: &str,
        nothing: String,
    ) -> Result<()> {
        let lines: Vec<String> = names
            .map(|name| match name == current {
                true => format!("* {name}"),
                false => format!("  {name}"),
            })
            .collect();
        match lines.is_empty() {
            true => Ok(self.view.line(&nothing)?),
            false => Ok(self.view.line(&lines.join("\n"))?),
        }
    }

    /// The agent of the next message. Like every client, the chat names it in that message, and the
    /// engine switches the session.
    async fn agent(&mut self, wanted: &str) -> Result<()> {
        let lang = self.app.lang;
        if wanted.is_empty() {
            let agents = self.admin.agents().await;
            let agents = agents.map_err(|error| failure(lang, error))?;
            let current = self.chat_agent.name.clone();
            let names = agents.iter().map(|agent| agent.spec.name.as_str());
            return self.list(names, &current, String::new());
        }
        let named = Some(wanted.to_owned());
        match find_chat_agent(lang, &*self.admin, named, None).await {
            Ok(chat_agent) => {
                let before = std::mem::replace(&mut self.chat_agent, chat_agent);
                if self.chosen.model.is_some() {
                    // What was chosen for the session stays.
                    self.chat_agent.model = before.model;
                }
                self.show_chat_agent();
                self.refresh_choices().await;
                let name = &self.chat_agent.name;
                let words = match self.session.is_some() {
                    true => lang.chat_agent_switched(name),
                    false => lang.chat_agent_set(name),
                };
                Ok(self.view.progress_line(&words)?)
            }
            Err(failure) if self.interactive => Ok(self.view.complaint(&failure.to_string())?),
            Err(failure) => Err(failure),
        }
    }

    /// The latest sessions of this user.
    pub(super) async fn latest_sessions(&self) -> Result<Vec<SessionListItem>> {
        let filter = SessionFilter {
            user_id: Some(self.caller.user_id.clone()),
            unowned: true,
            ..SessionFilter::default()
        };
        let list = self.engine.list_sessions(&filter, 1, SESSIONS_SHOWN).await;
        let list = list.map_err(|error| refused(self.app.lang, &error))?;
        Ok(list.items)
    }

    async fn sessions(&mut self, wanted: &str) -> Result<()> {
        let lang = self.app.lang;
        if wanted.is_empty() {
            let sessions = self.latest_sessions().await?;
            if sessions.is_empty() {
                return Ok(self.view.line(&lang.no_sessions())?);
            }
            let current = self.session.as_ref().map(|(session, _)| session.clone());
            let lines = sessions.iter().map(|item| {
                let id = &item.session.session_id;
                let mark = if Some(id) == current.as_ref() {
                    "*"
                } else {
                    " "
                };
                let updated = clock(&item.session.updated_at);
                let updated = updated.get(..16).unwrap_or(&updated);
                let title = session_title(item);
                format!("{mark} {}  {updated}  {title}", one_line(id.as_str(), 64))
            });
            let lines: Vec<String> = lines.collect();
            return Ok(self.view.drawing(&lines.join("\n"))?);
        }
        match self.open_session(wanted).await {
            Err(failure) if self.interactive => Ok(self.view.complaint(&failure.to_string())?),
            opened => opened,
        }
    }

    async fn open_session(&mut self, wanted: &str) -> Result<()> {
        let lang = self.app.lang;
        let meta = find_meta(self.app, wanted).await?;
        let agent = meta.agent_id.as_deref();
        let chat_agent = find_chat_agent(lang, &*self.admin, None, agent).await?;
        self.close_session().await;
        self.chosen = Default::default();
        self.chat_agent = chat_agent;
        self.show_chat_agent();
        self.view
            .progress_line(&lang.session_named(&meta.session_id))?;
        self.resume_session(meta.session_id).await?;
        self.refresh_choices().await;
        Ok(())
    }

    async fn compact(&mut self, focus: &str) -> Result<()> {
        let lang = self.app.lang;
        let Some((session, _)) = &self.session else {
            return Ok(self.view.line(&lang.chat_no_session())?);
        };
        let compact = Compact {
            session_id: session.clone(),
            instructions: (!focus.is_empty()).then(|| focus.to_owned()),
            request_id: None,
        };
        match self.engine.execute(&self.caller, compact).await {
            Ok(ack) => Ok(self.view.progress_line(&match ack.answer.status {
                CompactStatus::Started => lang.chat_compacting(),
                CompactStatus::Queued => lang.chat_compact_queued(),
                CompactStatus::AlreadyRunning | CompactStatus::AlreadyQueued => {
                    lang.chat_compact_already()
                }
            })?),
            Err(error) => self.report_refusal(&error),
        }
    }

    async fn queue(&mut self, rest: &str) -> Result<()> {
        let lang = self.app.lang;
        let (word, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let change = match word.to_lowercase().as_str() {
            "" => return self.show_queue(),
            "resume" => QueueChange::Resume,
            "drop" => {
                let number = argument.trim().parse::<usize>().ok();
                let item = number.and_then(|number| self.queue.get(number.checked_sub(1)?));
                let Some(id) = item.and_then(|item| item["itemId"].as_str()) else {
                    return Ok(self.view.complaint(&lang.chat_queue_usage())?);
                };
                QueueChange::Remove {
                    item_id: id.to_owned(),
                }
            }
            _ => return Ok(self.view.complaint(&lang.chat_queue_usage())?),
        };
        let Some((session, _)) = &self.session else {
            return Ok(self.view.line(&lang.chat_no_session())?);
        };
        let edit = QueueEdit {
            session_id: session.clone(),
            change,
            request_id: None,
        };
        match self.engine.execute(&self.caller, edit).await {
            Ok(_) => Ok(self.view.progress_line(&lang.chat_queue_changed())?),
            Err(error) => self.report_refusal(&error),
        }
    }

    fn show_queue(&mut self) -> Result<()> {
        let lang = self.app.lang;
        if self.queue.is_empty() {
            return Ok(self.view.line(&lang.chat_queue_empty())?);
        }
        let lines = self.queue.iter().enumerate().map(|(at, item)| {
            let text = item["preview"].as_str().or(item["content"].as_str());
            let text = one_line(text.unwrap_or_default(), 70);
            match item["held"] == true {
                true => format!("{}. {text} ({})", at + 1, lang.chat_queue_held()),
                false => format!("{}. {text}", at + 1),
            }
        });
        let lines: Vec<String> = lines.collect();
        Ok(self.view.line(&lines.join("\n"))?)
    }

    /// Turns the mode on or off in which edits in the workspace need no approval.
    async fn accept_edits(&mut self) -> Result<()> {
        let lang = self.app.lang;
        let Some((session, _)) = &self.session else {
            return Ok(self.view.line(&lang.chat_no_session())?);
        };
        let enabled = !self.standing.iter().any(accepts_edits);
        let accept = AcceptEdits {
            session_id: session.clone(),
            enabled,
            request_id: None,
        };
        match self.engine.execute(&self.caller, accept).await {
            Ok(_) if enabled => Ok(self.view.progress_line(&lang.chat_edits_on())?),
            Ok(_) => Ok(self.view.progress_line(&lang.chat_edits_off())?),
            Err(error) => self.report_refusal(&error),
        }
    }

    async fn standing_approvals(&mut self, rest: &str) -> Result<()> {
        let lang = self.app.lang;
        let Some((session, _)) = &self.session else {
            return Ok(self.view.line(&lang.chat_no_session())?);
        };
        let (word, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        if word.is_empty() {
            return self.show_standing_approvals();
        }
        let number = argument.trim().parse::<usize>().ok();
        let approval = number
            .filter(|_| word.eq_ignore_ascii_case("revoke"))
            .and_then(|number| self.standing.get(number.checked_sub(1)?));
        let Some(approval) = approval else {
            return Ok(self.view.complaint(&lang.chat_standing_usage())?);
        };
        let revoke = RevokeApproval {
            session_id: session.clone(),
            approval_id: approval.id.clone(),
            request_id: None,
        };
        match self.engine.execute(&self.caller, revoke).await {
            Ok(_) => Ok(self.view.progress_line(&lang.chat_standing_revoked())?),
            Err(error) => self.report_refusal(&error),
        }
    }

    fn show_standing_approvals(&mut self) -> Result<()> {
        let lang = self.app.lang;
        if self.standing.is_empty() {
            return Ok(self.view.line(&lang.chat_no_standing())?);
        }
        let lines = self.standing.iter().enumerate().map(|(at, approval)| {
            format!("{}. {}", at + 1, one_line(&covers(lang, approval), 100))
        });
        let lines: Vec<String> = lines.collect();
        Ok(self.view.line(&lines.join("\n"))?)
    }

    async fn stop_run(&mut self) -> Result<()> {
        let running = self.activity.is_running();
        match self.session.as_ref().filter(|_| running) {
            Some((session, _)) => {
                let session = session.clone();
                self.stop(&session).await
            }
            None => Ok(self
                .view
                .progress_line(&self.app.lang.chat_nothing_runs())?),
        }
    }

    /// Said in a terminal, where something else can be tried; otherwise the end.
    pub(super) fn report_refusal(&mut self, error: &EngineError) -> Result<()> {
        let failure = refused(self.app.lang, error);
        match self.interactive {
            true => Ok(self.view.complaint(&failure.to_string())?),
            false => Err(failure),
        }
    }
}

/// What a session is called in lists.
pub(super) fn session_title(item: &SessionListItem) -> String {
    let session = &item.session;
    let title = session
        .title
        .as_deref()
        .or(session.first_message.as_deref());
    one_line(title.unwrap_or("–"), 60)
}
