//! Several processes that create sessions in one directory.

use super::Files;
use netaclaw_session::{
    NewSession, PageRequest, SessionError, SessionFilter, SessionId, SessionTreeProvider,
};
use netaclaw_store::FileProvider;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::Barrier;

const PROCESSES: usize = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_id_that_several_processes_create_at_once_is_created_once() {
    let files = Files::new();
    let providers: Vec<_> = (0..PROCESSES).map(|_| Arc::new(files.open())).collect();
    for round in 0..100 {
        let id = SessionId::new(format!("session-{round}"));
        let start = Arc::new(Barrier::new(PROCESSES));
        let jobs = providers.iter().map(|provider| {
            let (provider, start, id) = (Arc::clone(provider), Arc::clone(&start), id.clone());
            tokio::spawn(async move {
                start.wait().await;
                let new = NewSession {
                    id: Some(id),
                    cwd: "/srv/app".to_owned(),
                    ..NewSession::default()
                };
                provider.create_session(new).await
            })
        });
        let mut made = 0;
        for job in jobs.collect::<Vec<_>>() {
            match job.await.unwrap() {
                Ok(_) => made += 1,
                Err(SessionError::AlreadyExists(_)) => {}
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(made, 1, "round {round}");
    }
    assert_eq!(count(&files.open()).await, 100);
}

/// Everything is for the owner alone, whatever the directory above allows.
#[tokio::test]
async fn what_is_written_is_for_its_owner_alone() {
    let files = Files::new();
    std::fs::set_permissions(files.dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let provider = files.open();
    let session = super::new_session(&provider).await;
    provider
        .append_entry(&session, super::user("one"))
        .await
        .unwrap();
    assert_eq!(count(&provider).await, 1);
    let mut waiting = vec![files.dir.path().to_owned()];
    while let Some(dir) = waiting.pop() {
        for item in std::fs::read_dir(dir).unwrap() {
            let path = item.unwrap().path();
            assert_eq!(others(&path), 0, "{}", path.display());
            if path.is_dir() {
                waiting.push(path);
            }
        }
    }
}

async fn count(provider: &FileProvider) -> u64 {
    let all = SessionFilter::default();
    let listed = provider.list_sessions(&all, PageRequest::default());
    listed.await.unwrap().total
}

fn others(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o077
}
