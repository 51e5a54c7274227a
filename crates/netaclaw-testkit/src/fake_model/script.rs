//! What the fake will answer, and what it has seen.

use super::record::{Recorded, last_user_text};
use super::reply::Reply;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Shared by the server and the test.
#[derive(Debug)]
pub struct Script {
    state: Mutex<State>,
    requests: watch::Sender<usize>,
    aborts: watch::Sender<usize>,
}

#[derive(Debug)]
struct State {
    queue: VecDeque<Reply>,
    rules: Vec<(String, Answer)>,
    otherwise: Answer,
    limits: Limits,
    /// `None` accepts every name.
    models: Option<Vec<String>>,
    key: Option<String>,
    lists_models: bool,
    requests: Vec<Recorded>,
}

/// What makes an answer of a request.
#[derive(Clone)]
struct Answer(Arc<dyn Fn(&Value) -> Reply + Send + Sync>);

impl Answer {
    fn always(reply: Reply) -> Self {
        Self(Arc::new(move |_| reply.clone()))
    }
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Answer")
    }
}

/// How strict the fake is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Whether requests are looked at as the real servers do.
    pub strict: bool,
    /// The context window in tokens of four characters.
    pub window: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            strict: true,
            window: None,
        }
    }
}

impl Default for Script {
    fn default() -> Self {
        Self {
            state: Mutex::new(State {
                queue: VecDeque::new(),
                rules: Vec::new(),
                otherwise: Answer::always(Reply::text("Hello from the fake model.")),
                limits: Limits::default(),
                models: None,
                key: None,
                lists_models: true,
                requests: Vec::new(),
            }),
            requests: watch::Sender::new(0),
            aborts: watch::Sender::new(0),
        }
    }
}

impl Script {
    /// The answer to the next request that no rule fits.
    pub fn push(&self, reply: Reply) {
        self.lock().queue.push_back(reply);
    }

    /// Removes the answers that were not requested.
    pub fn clear(&self) {
        self.lock().queue.clear();
    }

    /// The answer whenever the user's last words contain a text.
    pub fn when(&self, contains: impl Into<String>, reply: Reply) {
        let answer = Answer::always(reply);
        self.lock().rules.push((contains.into(), answer));
    }

    /// The same, with an answer that is made of the request.
    pub fn when_asked(
        &self,
        contains: impl Into<String>,
        answer: impl Fn(&Value) -> Reply + Send + Sync + 'static,
    ) {
        let answer = Answer(Arc::new(answer));
        self.lock().rules.push((contains.into(), answer));
    }

    /// Removes the rule for a text.
    pub fn forget(&self, contains: &str) {
        self.lock().rules.retain(|(text, _)| text != contains);
    }

    /// The default answer.
    pub fn otherwise(&self, reply: Reply) {
        self.lock().otherwise = Answer::always(reply);
    }

    /// The same, with an answer that is made of the request.
    pub fn otherwise_asked(&self, answer: impl Fn(&Value) -> Reply + Send + Sync + 'static) {
        self.lock().otherwise = Answer(Arc::new(answer));
    }

    pub fn set_limits(&self, limits: Limits) {
        self.lock().limits = limits;
    }

    /// The models the server has. Others are refused once this was called.
    pub fn set_models(&self, models: impl IntoIterator<Item = impl Into<String>>) {
        self.lock().models = Some(models.into_iter().map(Into::into).collect());
    }

    /// Takes the list of models away, as some suppliers have none.
    pub fn hide_models(&self) {
        self.lock().lists_models = false;
    }

    /// The only key that is accepted.
    pub fn set_key(&self, key: impl Into<String>) {
        self.lock().key = Some(key.into());
    }

    /// Every request so far, refused ones included.
    pub fn requests(&self) -> Vec<Recorded> {
        self.lock().requests.clone()
    }

    pub fn last_request(&self) -> Recorded {
        self.lock()
            .requests
            .last()
            .cloned()
            .expect("the fake was asked at least once")
    }

    /// Waits until the fake has received this many requests.
    pub async fn asked(&self, times: usize) {
        wait_for(&self.requests, times).await;
    }

    /// Waits until this many clients have disconnected before the end of their answer.
    pub async fn aborted(&self, times: usize) {
        wait_for(&self.aborts, times).await;
    }

    pub fn aborts(&self) -> usize {
        *self.aborts.borrow()
    }

    pub(crate) fn limits(&self) -> Limits {
        self.lock().limits
    }

    pub(crate) fn models(&self) -> Option<Vec<String>> {
        self.lock().models.clone()
    }

    pub(crate) fn lists_models(&self) -> bool {
        self.lock().lists_models
    }

    pub(crate) fn key(&self) -> Option<String> {
        self.lock().key.clone()
    }

    /// Titles are asked for behind the back of a test: they count only for one with a rule for them.
    pub(crate) fn record(&self, recorded: Recorded) {
        let mut state = self.lock();
        let words = recorded.last_user_text();
        let has_rule = || state.rules.iter().any(|(text, _)| words.contains(text));
        if is_title_request(&recorded.body) && !has_rule() {
            return;
        }
        state.requests.push(recorded);
        drop(state);
        self.requests.send_modify(|count| *count += 1);
    }

    pub(crate) fn note_abort(&self) {
        self.aborts.send_modify(|count| *count += 1);
    }

    pub(crate) fn answer_to(&self, body: &Value) -> Reply {
        let mut state = self.lock();
        let words = match state.rules.is_empty() {
            true => String::new(),
            false => last_user_text(body),
        };
        let rule = state.rules.iter().find(|(text, _)| words.contains(text));
        if let Some((_, answer)) = rule {
            return (answer.0)(body);
        }
        if is_title_request(body) {
            return Reply::text(first_words(&last_user_text(body)));
        }
        let queued = state.queue.pop_front();
        queued.unwrap_or_else(|| (state.otherwise.0)(body))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether it is the engine that asks, for the title of a session.
fn is_title_request(body: &Value) -> bool {
    const WORDS: &str = "You write titles for conversations.";
    let system = match body.get("system") {
        Some(system) => system.to_string(),
        None => body["messages"][0]["content"].to_string(),
    };
    system.contains(WORDS)
}

/// What the session is called already.
fn first_words(quoted: &str) -> String {
    let line = quoted.lines().find(|line| *line != "<user>");
    line.unwrap_or("A title").to_owned()
}

async fn wait_for(count: &watch::Sender<usize>, times: usize) {
    count
        .subscribe()
        .wait_for(|count| *count >= times)
        .await
        .expect("the script holds the sender");
}
