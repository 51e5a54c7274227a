//! A store that fails at the test's choice.

use super::intercepted::{Intercept, Intercepted, WriteKind};
use netaclaw_session::{SessionError, SessionId, SessionTreeProvider};
use netaclaw_store::{FileProvider, FileSettings, Fsync};
use std::path::Path;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;

type Result<T> = std::result::Result<T, SessionError>;

/// A write that is about to happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// A message of this role.
    Message(String),
    OtherEntry,
    /// The data next to the entries.
    State,
    Sync,
}

/// The outcome of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Happens,
    Fails,
    /// It happens, and its answer is lost.
    HappensUnseen,
    /// It neither happens nor ends.
    Hangs,
}

type Rule = Box<dyn FnMut(&SessionId, &Write) -> Fate + Send>;

/// Files, and a rule that says which writes fail.
pub type Faulty = Intercepted<Faults>;

/// The rule that says which writes fail, and whether the node is suspended.
#[derive(Default)]
pub struct Faults {
    rule: Mutex<Option<Rule>>,
    suspended: watch::Sender<bool>,
    /// How often something began to wait for the end of a suspension.
    waits: watch::Sender<usize>,
}

impl Faulty {
    pub fn new(dir: &Path) -> Arc<Self> {
        let files = FileProvider::new(FileSettings {
            dir: dir.to_owned(),
            fsync: Fsync::Off,
        });
        Arc::new(Self {
            inner: Arc::new(files),
            by: Faults::default(),
        })
    }

    /// As a node that lost its database and may be taken over.
    pub fn suspend(&self) {
        self.by.suspended.send_replace(true);
    }

    pub fn resume(&self) {
        self.by.suspended.send_replace(false);
    }

    /// Ready when something has begun to wait for the end of a suspension so many times.
    pub async fn waits(&self, times: usize) {
        let mut waits = self.by.waits.subscribe();
        waits.wait_for(|&count| count >= times).await.unwrap();
    }

    /// From now on every write is decided by this.
    pub fn set(&self, rule: impl FnMut(&SessionId, &Write) -> Fate + Send + 'static) {
        *self.by.rule.lock().unwrap() = Some(Box::new(rule));
    }

    /// The writes of this kind fail, from the one of this number on, counted from 1.
    pub fn fail(&self, what: Write, from: usize) {
        let mut seen = 0;
        self.set(move |_, write| {
            seen += usize::from(*write == what);
            match *write == what && seen >= from {
                true => Fate::Fails,
                false => Fate::Happens,
            }
        });
    }

    /// The one write of this kind and number fails.
    pub fn fail_once(&self, what: Write, number: usize) {
        let mut seen = 0;
        self.set(move |_, write| {
            seen += usize::from(*write == what);
            match *write == what && seen == number {
                true => Fate::Fails,
                false => Fate::Happens,
            }
        });
    }

    /// Everything works again.
    pub fn mend(&self) {
        *self.by.rule.lock().unwrap() = None;
    }
}

impl Intercept for Faults {
    async fn write<T: Send>(
        &self,
        session: Option<&SessionId>,
        write: WriteKind,
        work: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        let write = match write {
            WriteKind::Message(role) => Write::Message(role),
            WriteKind::Custom(_) | WriteKind::ThinkingLevel | WriteKind::OtherEntry => {
                Write::OtherEntry
            }
            WriteKind::State | WriteKind::Title => Write::State,
            WriteKind::Sync => Write::Sync,
            _ => return work.await,
        };
        let Some(session) = session else {
            return work.await;
        };
        let fate = match &mut *self.rule.lock().unwrap() {
            Some(rule) => rule(session, &write),
            None => Fate::Happens,
        };
        match fate {
            Fate::Happens => work.await,
            Fate::Hangs => std::future::pending().await,
            Fate::Fails => Err(as_told()),
            Fate::HappensUnseen => work.await.and(Err(as_told())),
        }
    }

    fn is_suspended(&self, _: &dyn SessionTreeProvider) -> bool {
        *self.suspended.borrow()
    }

    async fn resumed(&self, _: &dyn SessionTreeProvider) {
        let mut suspended = self.suspended.subscribe();
        if *self.suspended.borrow() {
            self.waits.send_modify(|count| *count += 1);
        }
        suspended.wait_for(|&suspended| !suspended).await.unwrap();
    }
}

fn as_told() -> SessionError {
    SessionError::store("cannot write", "as told")
}
