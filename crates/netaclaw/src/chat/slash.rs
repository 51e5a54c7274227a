//! What the user types: a message, or a command that begins with a slash.

use super::activity::Activity;
use super::refused;
use super::talk::Terminal;
use crate::error::{Failure, Result};
use crate::session::draw_tree;
use netaclaw_protocol::EntryId;
use netaclaw_session::SessionTree;
use std::sync::Arc;

impl Terminal<'_> {
    /// One line of the user. Returns whether there may be more.
    pub(super) async fn say(&mut self, line: &str) -> Result<bool> {
        let lang = self.app.lang;
        self.screen.line_was_typed();
        match line.split_once(char::is_whitespace).unwrap_or((line, "")) {
            ("", _) => {}
            ("/quit" | "/exit", _) => return Ok(false),
            ("/help", _) => self.screen.line(&lang.chat_help())?,
            ("/new", _) => self.leave().await?,
            ("/tree", _) => match self.tree().await? {
                Some(tree) => draw_tree(self.app, &tree)?,
                None => self.screen.line(&lang.chat_no_session())?,
            },
            ("/branch", entry) => self.branch_from(entry.trim()).await?,
            // The engine knows what it means.
            ("/skill", _) => self.send(line).await?,
            (word, _) if word.starts_with("//") => self.send(&line[1..]).await?,
            (command, _) if command.starts_with('/') => {
                self.screen.complaint(&lang.chat_unknown_command(command))?;
            }
            _ => self.send(line).await?,
        }
        self.prompt()?;
        Ok(true)
    }

    async fn leave(&mut self) -> Result<()> {
        if let Some((session, subscription)) = self.session.take() {
            self.engine.close(&session, subscription).await;
        }
        self.branch = None;
        self.question = None;
        self.calls.clear();
        self.activity = Activity::default();
        Ok(self.screen.remark(&self.app.lang.chat_new())?)
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
            return Ok(self.screen.line(&lang.chat_no_session())?);
        };
        if wanted.is_empty() {
            return Ok(self.screen.complaint(&lang.chat_branch_usage())?);
        }
        let ids = tree.entries().iter().map(|entry| entry.id());
        let found: Vec<&EntryId> = ids.filter(|id| id.as_str().starts_with(wanted)).collect();
        match found.as_slice() {
            [entry] => {
                self.branch = Some((*entry).clone());
                Ok(self.screen.remark(&lang.chat_branched(entry))?)
            }
            [] => Ok(self.screen.complaint(&lang.chat_no_entry(wanted))?),
            _ => Ok(self.screen.complaint(&lang.chat_many_entries(wanted))?),
        }
    }
}
