//! A server's engine, as a test calls it.

use super::{Client, Script, ann};
use netaclaw_engine::{Engine, EngineError, Providers};
use netaclaw_protocol::{Ack, Chat, ChatAck, Opened, SessionId, SessionOpen};
use netaclaw_session::SessionTreeProvider;
use netaclaw_store::{FileProvider, FileSettings, Fsync};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// A server's engine over a directory, as one process after the other would open it.
pub struct Server {
    pub engine: Engine,
    pub script: Script,
}

impl Server {
    pub fn start(dir: &Path) -> Self {
        let settings = FileSettings {
            dir: dir.to_owned(),
            fsync: Fsync::Off,
        };
        Self::over(Arc::new(FileProvider::new(settings)))
    }

    pub fn over(file: Arc<dyn SessionTreeProvider>) -> Self {
        let script = Script::new();
        let engine = Engine::new(Providers { file, mysql: None }, script.source());
        Self { engine, script }
    }

    pub async fn chat(&self, session: Option<&SessionId>, text: &str) -> ChatAck {
        self.send(Chat {
            session_id: session.cloned(),
            content: text.to_owned(),
            ..Chat::default()
        })
        .await
        .unwrap()
        .answer
    }

    pub async fn send(&self, chat: Chat) -> Result<Ack<ChatAck>, EngineError> {
        self.engine.execute(&ann(), chat).await
    }

    pub async fn open(&self, session: &SessionId) -> (Client, Opened) {
        let client = Client::default();
        let subscriber = client.subscriber();
        let (opened, _) = self
            .engine
            .open(&ann(), SessionOpen::of(session), subscriber)
            .await
            .unwrap();
        (client, opened)
    }

    /// The texts on the active path, with their roles.
    pub async fn path(&self, session: &SessionId) -> Vec<String> {
        let provider = &self.engine.providers().file;
        let path = provider.get_active_path(session).await.unwrap();
        path.iter()
            .filter_map(|entry| entry.message_json())
            .map(short)
            .collect()
    }
}

/// A message as `role: text`.
pub fn short(message: &str) -> String {
    let message: Value = serde_json::from_str(message).unwrap();
    let text = match &message["content"] {
        Value::String(text) => text.clone(),
        blocks => match &blocks[0] {
            block if block["type"] == "toolCall" => {
                format!("calls {}", block["name"].as_str().unwrap())
            }
            block => block["text"].as_str().unwrap_or_default().to_owned(),
        },
    };
    let aborted = if message["stopReason"] == "aborted" {
        " (aborted)"
    } else {
        ""
    };
    format!("{}: {text}{aborted}", message["role"].as_str().unwrap())
}
