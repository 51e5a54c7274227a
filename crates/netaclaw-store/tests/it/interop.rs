//! With the real Pi: each opens and continues what the other wrote, and both see the same.

use crate::file::{Files, answer, file_of, new_session, user};
use netaclaw_session::{
    EntryId, SessionId, SessionTree, SessionTreeProvider, build_session_context,
    estimate_context_tokens,
};
use netaclaw_store::{FileProvider, read_session_file};
use netaclaw_testkit::Pi;
use serde_json::{Value, json};
use std::path::Path;

/// Compares the contexts of both programs at every entry of a file, and where Pi would continue.
fn compare(pi: &mut Pi, path: &Path) {
    let tree = SessionTree::new(read_session_file(path).unwrap());
    let mut leaves: Vec<Value> = tree.entries().iter().map(|e| json!(e.id())).collect();
    leaves.push(Value::Null);
    let theirs = pi
        .ask("contexts", json!({"file": path, "leaves": leaves}))
        .unwrap();
    for (leaf, theirs) in leaves.iter().zip(theirs.as_array().unwrap()) {
        let leaf: Option<EntryId> = leaf.as_str().map(EntryId::from);
        let context = build_session_context(&tree, leaf.as_ref()).unwrap();
        let ours = json!({
            "messages": context.messages,
            "thinkingLevel": context.thinking_level,
            "model": context.model(),
            "tokens": estimate_context_tokens(&context).total(),
        });
        for part in ["messages", "thinkingLevel", "model", "tokens"] {
            assert_eq!(ours[part], theirs[part], "{part} at {leaf:?}");
        }
    }
    let opened = pi.ask("open", json!({"file": path})).unwrap();
    let ours = serde_json::to_value(&tree.context().unwrap().messages).unwrap();
    assert_eq!(
        opened["context"]["messages"], ours,
        "Pi lands on our active path"
    );
    let labels: Value = tree
        .labels()
        .iter()
        .map(|(id, label)| (id.to_string(), json!(label.text)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    assert_eq!(opened["labels"], labels);
    assert_eq!(opened["name"].as_str(), tree.name());
}

async fn conversation(provider: &FileProvider) -> (SessionId, Vec<EntryId>) {
    let session = new_session(provider).await;
    let mut ids = Vec::new();
    for new in [user("one"), answer("two"), user("three"), answer("four")] {
        ids.push(
            provider
                .append_entry(&session, new)
                .await
                .unwrap()
                .id()
                .clone(),
        );
    }
    (session, ids)
}

#[tokio::test]
async fn pi_opens_what_we_write_whatever_came_last() {
    let mut pi = Pi::start().unwrap();
    let files = Files::new();
    let provider = files.open();
    let (session, ids) = conversation(&provider).await;
    let path = file_of(&provider, &session).await;
    compare(&mut pi, &path);
    provider.switch_leaf(&session, &ids[1]).await.unwrap();
    compare(&mut pi, &path);
    provider
        .append_label_change(&session, &ids[3], Some("elsewhere"))
        .await
        .unwrap();
    compare(&mut pi, &path);
    provider
        .append_session_info(&session, "A name")
        .await
        .unwrap();
    compare(&mut pi, &path);
    provider
        .append_entry(&session, user("branch"))
        .await
        .unwrap();
    compare(&mut pi, &path);
    provider
        .append_branch_summary(&session, Some(&ids[0]), "what was tried", None)
        .await
        .unwrap();
    compare(&mut pi, &path);
    provider
        .append_compaction(&session, "all of it", Some(ids[0].clone()), 100, None)
        .await
        .unwrap();
    compare(&mut pi, &path);
    provider.reset_leaf(&session).await.unwrap();
    compare(&mut pi, &path);
    provider
        .append_label_change(&session, &ids[0], Some("at the root"))
        .await
        .unwrap();
    compare(&mut pi, &path);
    let status = Some(netaclaw_session::SessionStatus::Archived);
    let patch = netaclaw_session::SessionPatch {
        status,
        ..Default::default()
    };
    provider.update_session(&session, patch).await.unwrap();
    compare(&mut pi, &path);
}

#[tokio::test]
async fn pi_continues_what_we_wrote_and_we_continue_that() {
    let mut pi = Pi::start().unwrap();
    let files = Files::new();
    let provider = files.open();
    let (session, ids) = conversation(&provider).await;
    let path = file_of(&provider, &session).await;
    provider.switch_leaf(&session, &ids[1]).await.unwrap();
    provider.release(&session).await.unwrap();

    let message = |role: &str, text: &str| {
        json!({"op": "message", "message": {"role": role, "timestamp": 5,
        "content": [{"type": "text", "text": text}], "provider": "demo", "model": "demo-1"}})
    };
    let ops = json!([
        message("user", "from Pi"), message("assistant", "Pi answers"),
        {"op": "label", "targetId": "$0", "label": "Pi was here"},
        message("user", "below a label"),
        {"op": "branch", "id": ids[3]}, message("user", "a branch by Pi"),
    ]);
    let done = pi
        .ask("continue", json!({"file": path, "ops": ops}))
        .unwrap();
    compare(&mut pi, &path);

    let tree = provider.load_tree(&session).await.unwrap();
    let from_pi = EntryId::from(done["ids"][0].as_str().unwrap());
    assert_eq!(
        tree.get(&from_pi).unwrap().parent_id(),
        Some(&ids[1]),
        "the marker is looked through"
    );
    assert_eq!(
        tree.leaf().unwrap().as_str(),
        done["leafId"].as_str().unwrap()
    );
    drop(tree);
    provider
        .append_entry(&session, answer("we go on"))
        .await
        .unwrap();
    compare(&mut pi, &path);
    assert_eq!(provider.get_active_path(&session).await.unwrap().len(), 6);
}

#[tokio::test]
async fn we_open_and_continue_what_pi_writes() {
    let mut pi = Pi::start().unwrap();
    let files = Files::new();
    let question = json!({"role": "user", "content": "hello 你好 😀", "timestamp": 1});
    let reply = json!({"role": "assistant", "content": [{"type": "text", "text": "hi"}],
        "provider": "demo", "model": "demo-1", "stopReason": "stop", "timestamp": 2});
    let ops = json!([
        {"op": "model", "provider": "demo", "modelId": "demo-1"},
        {"op": "thinking", "thinkingLevel": "high"},
        {"op": "message", "message": question}, {"op": "message", "message": reply},
        {"op": "custom", "customType": "x", "data": {"a": [1, 2.5]}},
        {"op": "customMessage", "customType": "y", "content": "seen", "display": false, "details": {"d": 1}},
        {"op": "compaction", "summary": "sum", "firstKeptEntryId": "$2", "tokensBefore": 42},
        {"op": "branchSummary", "id": "$3", "summary": "tried"},
        {"op": "name", "name": "Pi's session"},
        {"op": "label", "targetId": "$2", "label": "start"},
    ]);
    let made = pi
        .ask(
            "create",
            json!({"dir": files.dir.path(), "cwd": "/srv/app", "ops": ops}),
        )
        .unwrap();
    let path = Path::new(made["file"].as_str().unwrap()).to_owned();
    compare(&mut pi, &path);
    let provider = files.open();
    let session = SessionId::new(made["sessionId"].as_str().unwrap());
    let meta = provider.get_session(&session).await.unwrap();
    assert_eq!(meta.title.as_deref(), Some("Pi's session"));
    assert_eq!(
        meta.leaf_entry_id.as_ref().map(EntryId::as_str),
        made["ids"][7].as_str(),
        "labels do not move it"
    );
    let next = provider
        .append_entry(&session, user("and on"))
        .await
        .unwrap();
    assert_eq!(
        next.parent_id().map(EntryId::as_str),
        made["ids"][7].as_str()
    );
    compare(&mut pi, &path);
    pi.ask("continue", json!({"file": path, "ops": [{"op": "message", "message": {"role": "user", "content": "Pi again", "timestamp": 3}}]})).unwrap();
    compare(&mut pi, &path);
}

#[tokio::test]
async fn pi_opens_our_forks() {
    let mut pi = Pi::start().unwrap();
    let files = Files::new();
    let provider = files.open();
    let (session, ids) = conversation(&provider).await;
    provider
        .append_label_change(&session, &ids[1], Some("kept"))
        .await
        .unwrap();
    provider
        .append_label_change(&session, &ids[3], Some("left behind"))
        .await
        .unwrap();
    let fork = provider
        .create_branched_session(&session, &ids[2], SessionId::new("fork"))
        .await
        .unwrap()
        .session_id;
    let path = file_of(&provider, &fork).await;
    compare(&mut pi, &path);
    let opened = pi.ask("open", json!({"file": path})).unwrap();
    assert_eq!(opened["labels"], json!({ids[1].as_str(): "kept"}));
    let source = file_of(&provider, &session).await;
    assert_eq!(opened["header"]["parentSession"], json!(source));
}
