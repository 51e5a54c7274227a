//! A client that joins blocks no other, and one that disconnects while joining leaves nothing
//! behind.

use async_trait::async_trait;
use netaclaw_engine::{
    AgentRef, AgentSource, ChosenModel, Engine, EngineError, Measure, PrepareRun, PreparedRun,
    Providers,
};
use netaclaw_protocol::{Chat, SessionMeta, SessionOpen};
use netaclaw_session::{Entry, Role};
use netaclaw_store::{FileProvider, FileSettings, Fsync};
use netaclaw_testkit::engine::{Act, Client, Script, Server, ann, within};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use tokio::sync::Semaphore;

/// However far it came: a session with a leaked subscription is never evicted.
#[tokio::test]
async fn who_goes_while_joining_does_not_watch() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let session = server.chat(None, "one").await.session_id;
    let (engine, caller) = (&server.engine, ann());
    for polls in 1..40 {
        let client = Client::default();
        let mut opening =
            pin!(engine.open(&caller, SessionOpen::of(&session), client.subscriber()));
        let mut opened = None;
        for _ in 0..polls {
            let poll = futures::poll!(opening.as_mut());
            if let Poll::Ready(joined) = poll {
                opened = Some(joined.unwrap().1);
                break;
            }
            tokio::task::yield_now().await;
        }
        if let Some(subscription) = opened {
            engine.close(&session, subscription).await;
        }
    }
    server.script.act([Act::Say("1"), Act::End]);
    // Whether the end went unseen is shown by the list.
    let ended = async {
        loop {
            let meta = engine.session(&caller, &session).await.unwrap();
            let state = meta.metadata.get("netaclaw").cloned().unwrap_or_default();
            if state["run"].is_null() {
                break engine.list_item(meta);
            }
            tokio::task::yield_now().await;
        }
    };
    assert!(within(ended).await.unread, "no client watched");
}

/// A scripted agent whose figures take their time.
struct MeasuringSource {
    agent: Arc<dyn AgentSource>,
    asked: Semaphore,
    answered: Semaphore,
}

#[async_trait]
impl AgentSource for MeasuringSource {
    async fn find(&self, agent: Option<&str>) -> Result<AgentRef, EngineError> {
        self.agent.find(agent).await
    }

    async fn prepare(&self, run: PrepareRun<'_>) -> Result<PreparedRun, EngineError> {
        self.agent.prepare(run).await
    }

    async fn measure(
        &self,
        _session: &SessionMeta,
        _model: Option<ChosenModel>,
    ) -> Option<Measure> {
        self.asked.add_permits(1);
        self.answered.acquire().await.unwrap().forget();
        None
    }
}

#[tokio::test]
async fn a_run_goes_on_while_figures_for_who_joins_are_looked_up() {
    let dir = tempfile::tempdir().unwrap();
    let file = Arc::new(FileProvider::new(FileSettings {
        dir: dir.path().to_owned(),
        fsync: Fsync::Off,
    }));
    let script = Script::new();
    let source = Arc::new(MeasuringSource {
        agent: script.source(),
        asked: Semaphore::new(0),
        answered: Semaphore::new(0),
    });
    let providers = Providers { file, mysql: None };
    let engine = Engine::new(providers, Arc::clone(&source) as _);
    let chat = Chat {
        content: "one".to_owned(),
        ..Chat::default()
    };
    let session = engine
        .execute(&ann(), chat)
        .await
        .unwrap()
        .answer
        .session_id;
    let client = Client::default();
    let caller = ann();
    let opening = engine.open(&caller, SessionOpen::of(&session), client.subscriber());
    let writing = async {
        within(source.asked.acquire()).await.unwrap().forget();
        script.act([Act::Call("look")]);
        let written = async {
            let provider = &engine.providers().file;
            let is_result = |entry: &Entry| entry.role() == Role::ToolResult;
            while !provider
                .list_entries(&session)
                .await
                .unwrap()
                .iter()
                .any(is_result)
            {
                tokio::task::yield_now().await;
            }
        };
        within(written).await;
        source.answered.add_permits(1);
    };
    let (opened, ()) = tokio::join!(opening, writing);
    let entries = opened.unwrap().0.snapshot.unwrap().entries;
    assert!(entries.last().unwrap().get().contains("look done"));
}
