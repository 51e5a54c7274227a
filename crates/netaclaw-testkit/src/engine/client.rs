//! A client in this process.

use netaclaw_engine::{EventGroup, EventKind, ServerEvent, Subscriber};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// A client that keeps every event and can wait for one.
#[derive(Clone, Default)]
pub struct Client {
    inner: Arc<ClientInner>,
}

#[derive(Default)]
pub struct ClientInner {
    events: Mutex<VecDeque<Value>>,
    news: Notify,
}

impl Subscriber for ClientInner {
    fn deliver(&self, event: &ServerEvent) {
        let value: Value = serde_json::from_str(event.json.get()).unwrap();
        assert_eq!(value["type"], event.name);
        let numbered = matches!(event.kind, EventKind::Reliable { .. });
        assert_eq!(value["seq"].is_u64(), numbered);
        self.events.lock().unwrap().push_back(value);
        self.news.notify_one();
    }

    fn wants(&self, group: EventGroup) -> bool {
        group == EventGroup::Current
    }
}

impl Client {
    pub fn subscriber(&self) -> Arc<dyn Subscriber> {
        Arc::clone(&self.inner) as _
    }

    /// Everything that has arrived so far.
    pub fn events(&self) -> Vec<Value> {
        self.inner.events.lock().unwrap().iter().cloned().collect()
    }

    /// Forgets what has arrived so far.
    pub fn clear(&self) {
        self.inner.events.lock().unwrap().clear();
    }

    /// Waits until an event of this type has arrived that satisfies the test, and returns it.
    pub async fn wait(&self, name: &str, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let news = self.inner.news.notified();
            let found = self
                .events()
                .into_iter()
                .find(|e| e["type"] == name && fits(&e["data"]));
            if let Some(event) = found {
                return event;
            }
            news.await;
        }
    }

    pub async fn done(&self, count: usize) -> Vec<Value> {
        loop {
            let news = self.inner.news.notified();
            let done: Vec<Value> = self
                .events()
                .into_iter()
                .filter(|event| event["type"] == "done")
                .collect();
            if done.len() >= count {
                return done;
            }
            news.await;
        }
    }
}
