//! Handles notifications of MCP servers.

use crate::context::Updates;
use crate::update::{ProcessUpdate, ToolUpdate};
use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

const MESSAGE_CHARS_MAX: usize = 1000;

/// Passes progress on to the calls that wait, and receives changes of the tools.
#[derive(Clone, Default)]
pub(super) struct Handler {
    progress: Arc<Mutex<HashMap<ProgressToken, Updates>>>,
    /// The list of tools is another one now.
    pub(super) tools_changed: Arc<Notify>,
}

/// Ends with the call it is for.
pub(super) struct ProgressWatch<'a> {
    handler: &'a Handler,
    token: ProgressToken,
}

impl Handler {
    pub(super) fn watch(&self, token: ProgressToken, updates: Updates) -> ProgressWatch<'_> {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.insert(token.clone(), updates);
        ProgressWatch {
            handler: self,
            token,
        }
    }
}

impl Drop for ProgressWatch<'_> {
    fn drop(&mut self) {
        let progress = self.handler.progress.lock();
        let mut progress = progress.unwrap_or_else(PoisonError::into_inner);
        progress.remove(&self.token);
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("netaclaw", env!("CARGO_PKG_VERSION")),
        )
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let updates = {
            let progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
            progress.get(&params.progress_token).cloned()
        };
        if let Some(updates) = updates {
            updates.send(ToolUpdate::Process(step(&params)));
        }
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
    }
}

fn step(params: &ProgressNotificationParam) -> ProcessUpdate {
    let whole = |number: f64| (number >= 0.0 && number.fract() == 0.0).then_some(number as u64);
    let total = params.total.filter(|total| *total > 0.0);
    let message = params.message.as_deref().unwrap_or_default();
    ProcessUpdate {
        message: message.chars().take(MESSAGE_CHARS_MAX).collect(),
        current: whole(params.progress),
        total: params.total.and_then(whole),
        percent: total.map(|total| (100.0 * params.progress / total).clamp(0.0, 100.0)),
        ..ProcessUpdate::default()
    }
}
