//! The data of a session besides its entries.

use super::ContractHarness;
use super::subject::{Subject, import, parse, refused, session_text, user_body};
use crate::{
    EntryId, Flush, ImportSession, InFlightEntry, MetadataChange, NewEntry, NewSession,
    PageRequest, RequestKey, SessionError, SessionFilter, SessionId, SessionMeta, SessionPatch,
    SessionStatus,
};
use serde_json::{Map, Value, json};

fn object(value: Value) -> Map<String, Value> {
    serde_json::from_value(value).unwrap()
}

pub(super) async fn sessions_are_known_by_what_they_were_made_with(harness: &dyn ContractHarness) {
    let port = harness.open().await;
    let new = NewSession {
        id: Some("given".into()),
        cwd: "/srv/深い 😀".to_owned(),
        agent_id: Some("agent é".to_owned()),
        user_id: Some("user 😀".to_owned()),
        title: Some("  a title\nof two lines 😀 ".to_owned()),
        parent_session_id: Some("parent".into()),
        metadata: object(json!({"k 😀": {"z": 1, "a": [null, 1.5, "é"]}})),
        flush: Flush::Now,
    };
    let made = port.create_session(new).await.unwrap();
    let expected = SessionMeta {
        session_id: "given".into(),
        provider: port.kind(),
        // A title is a name, and a name is an entry.
        root_entry_id: made.root_entry_id.clone(),
        leaf_entry_id: None,
        cwd: "/srv/深い 😀".to_owned(),
        session_file: made.session_file.clone(),
        parent_session_id: Some("parent".into()),
        agent_id: Some("agent é".to_owned()),
        user_id: Some("user 😀".to_owned()),
        title: Some("a title of two lines 😀".to_owned()),
        status: SessionStatus::Active,
        metadata: object(json!({"k 😀": {"z": 1, "a": [null, 1.5, "é"]}})).into(),
        message_count: 0,
        first_message: None,
        created_at: made.created_at.clone(),
        updated_at: made.updated_at.clone(),
    };
    assert_eq!(made, expected);
    assert_eq!(port.get_session(&made.session_id).await.unwrap(), expected);
    let names = port.list_entries(&made.session_id).await.unwrap();
    assert_eq!(names.len(), 1);
    assert_eq!(made.root_entry_id.as_ref(), Some(names[0].id()));
    port.release(&made.session_id).await.unwrap();
    drop(port);
    let port = harness.open().await;
    assert_eq!(port.get_session(&made.session_id).await.unwrap(), expected);
}

pub(super) async fn an_imported_session_keeps_its_data(harness: &dyn ContractHarness) {
    let header = r#"{"type":"session","version":3,"id":"old","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/srv","agentId":"a","userId":"u","parentSessionId":"p","metadata":{"k":1},"unknown":1.0}"#;
    let text = [
        header,
        r#"{"type":"message","id":"q","parentId":null,"timestamp":"2026-01-02T00:00:00.000Z","message":{"role":"user","content":[{"type":"text","text":"hello"},{"type":"text","text":"there"}]}}"#,
        r#"{"type":"message","id":"r","parentId":"q","timestamp":"2026-01-03T00:00:00.000Z","message":{"role":"assistant","content":[]}}"#,
        r#"{"type":"session_info","id":"n","parentId":"r","timestamp":"2026-01-04T00:00:00.000Z","name":"named"}"#,
    ]
    .join("\n");
    let port = harness.open().await;
    let made = import(&port, &text).await;
    let expected = SessionMeta {
        session_id: "old".into(),
        provider: port.kind(),
        root_entry_id: Some("q".into()),
        leaf_entry_id: Some("r".into()),
        cwd: "/srv".to_owned(),
        session_file: made.session_file.clone(),
        parent_session_id: Some("p".into()),
        agent_id: Some("a".to_owned()),
        user_id: Some("u".to_owned()),
        title: Some("named".to_owned()),
        status: SessionStatus::Active,
        metadata: object(json!({"k": 1})).into(),
        message_count: 2,
        first_message: Some("hello there".to_owned()),
        created_at: "2026-01-01T00:00:00.000Z".to_owned(),
        updated_at: "2026-01-04T00:00:00.000Z".to_owned(),
    };
    assert_eq!(made, expected);
    assert_eq!(port.get_session(&made.session_id).await.unwrap(), expected);
    let tree = port.load_tree(&made.session_id).await.unwrap();
    assert_eq!(tree.header().json(), header);
}

pub(super) async fn a_request_makes_one_session(harness: &dyn ContractHarness) {
    let port = harness.open().await;
    let (request, other) = (RequestKey::new(7), RequestKey::new(8));
    let at = |ms: i64| request.session_id(1_795_032_000_000 + ms);
    let make = async |id: SessionId| {
        let new = NewSession {
            id: Some(id),
            ..NewSession::default()
        };
        port.create_session(new).await
    };
    assert_eq!(port.session_of_request(&request).await.unwrap(), None);
    let first = make(at(0)).await.unwrap().session_id;
    assert_eq!(first, at(0));
    let taken = SessionError::AlreadyExists(first.clone());
    refused(make(at(1)).await, &taken);
    refused(make(at(0)).await, &taken);
    make(other.session_id(1_795_032_000_000)).await.unwrap();
    let found = port.session_of_request(&request).await.unwrap();
    assert_eq!(found.as_ref(), Some(&first));
    // The next process, and a copy of a session.
    let port = harness.open().await;
    refused(make(at(2)).await, &taken);
    let entry = port
        .append_entry(&first, NewEntry::at_leaf(user_body("question")))
        .await;
    let leaf = entry.unwrap().id().clone();
    refused(
        port.create_branched_session(&first, &leaf, at(3)).await,
        &taken,
    );
    assert_eq!(port.get_session(&first).await.unwrap().session_id, first);
}

pub(super) async fn an_id_is_taken_once(harness: &dyn ContractHarness) {
    let text = session_text("taken", &[]);
    let subject = Subject::import(harness, &text).await;
    let port = &subject.provider;
    let taken = SessionError::AlreadyExists("taken".into());
    let again = |id| ImportSession {
        log: parse(&text),
        id,
    };
    refused(port.import_session(again(None)).await, &taken);
    let new = NewSession {
        id: Some("taken".into()),
        ..NewSession::default()
    };
    refused(port.create_session(new).await, &taken);
    // Under another id it is another session, and its header says so.
    let other = port
        .import_session(again(Some("free".into())))
        .await
        .unwrap();
    assert_eq!(other.session_id, "free".into());
    let tree = port.load_tree(&other.session_id).await.unwrap();
    assert_eq!(
        tree.header().json(),
        text.trim_end().replace("taken", "free")
    );
}

pub(super) async fn ids_that_could_name_a_path_are_refused(harness: &dyn ContractHarness) {
    let port = harness.open().await;
    for id in ["../evil", "a/b", "", "a ", "a\0"] {
        let id = SessionId::new(id);
        let new = NewSession {
            id: Some(id.clone()),
            ..NewSession::default()
        };
        let made = port.create_session(new).await;
        assert!(matches!(made, Err(SessionError::InvalidId(_))), "{made:?}");
        let text = session_text(&id.as_str().replace('\0', r"\u0000"), &[]);
        let log = parse(&text);
        let made = port.import_session(ImportSession { log, id: None }).await;
        assert!(matches!(made, Err(SessionError::InvalidId(_))), "{made:?}");
        refused(
            port.get_session(&id).await,
            &SessionError::NotFound(id.clone()),
        );
    }
}

pub(super) async fn a_patch_changes_what_it_names(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    let question = subject.user("question").await;
    let update = async |patch: SessionPatch| {
        let before = subject.meta().await;
        let after = subject
            .provider
            .update_session(&subject.id, patch)
            .await
            .unwrap();
        assert_eq!(subject.meta().await, after);
        // The time of the change is the provider's; everything else is compared.
        let updated_at = after.updated_at.clone();
        assert!(updated_at >= before.updated_at);
        (
            SessionMeta {
                updated_at,
                ..before
            },
            after,
        )
    };

    let title = Some(" new\nname ".to_owned());
    let (before, after) = update(SessionPatch {
        title,
        ..SessionPatch::default()
    })
    .await;
    let title = Some("new name".to_owned());
    assert_eq!(after, SessionMeta { title, ..before });
    assert_eq!(subject.entries().await.len(), 2);

    let title = Some(String::new());
    let (before, after) = update(SessionPatch {
        title,
        ..SessionPatch::default()
    })
    .await;
    assert_eq!(
        after,
        SessionMeta {
            title: None,
            ..before
        }
    );
    assert_eq!(subject.entries().await.len(), 3);

    let patch = SessionPatch {
        status: Some(SessionStatus::Archived),
        agent_id: Some("agent 😀".to_owned()),
        metadata: Some(object(json!({"a": {"b": 1}}))),
        ..SessionPatch::default()
    };
    let (before, after) = update(patch).await;
    let expected = SessionMeta {
        status: SessionStatus::Archived,
        agent_id: Some("agent 😀".to_owned()),
        metadata: object(json!({"a": {"b": 1}})).into(),
        ..before
    };
    assert_eq!(after, expected);
    let (before, after) = update(SessionPatch::default()).await;
    assert_eq!(after, before);
    assert_eq!(subject.entries().await.len(), 3);
    assert_eq!(subject.leaf().await, Some(question));
}

pub(super) async fn a_patched_session_is_the_same_after_a_restart(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    let question = subject.user("question").await;
    subject.answer("answer").await;
    subject.switch(&question).await;
    let patch = SessionPatch {
        title: Some("name".to_owned()),
        status: Some(SessionStatus::Archived),
        agent_id: Some("agent".to_owned()),
        metadata: Some(object(json!({"a": 1}))),
        metadata_changes: Vec::new(),
        flush: Flush::Now,
    };
    subject
        .provider
        .update_session(&subject.id, patch)
        .await
        .unwrap();
    let before = subject.snapshot().await;
    let subject = subject.crash().await;
    assert_eq!(subject.snapshot().await, before);
    assert_eq!(subject.leaf().await, Some(question));
}

pub(super) async fn a_deleted_session_takes_no_entries_until_it_is_restored(
    harness: &dyn ContractHarness,
) {
    let subject = Subject::create(harness).await;
    let question = subject.user("question").await;
    let (port, id) = (&subject.provider, &subject.id);
    let listed = async |status| {
        let filter = SessionFilter {
            status,
            ..SessionFilter::default()
        };
        let page = port
            .list_sessions(&filter, PageRequest::default())
            .await
            .unwrap();
        page.items
            .into_iter()
            .map(|meta| meta.session_id)
            .collect::<Vec<_>>()
    };
    port.delete_session(id).await.unwrap();
    assert_eq!(subject.meta().await.status, SessionStatus::Deleted);
    assert_eq!(listed(None).await, []);
    let only = std::slice::from_ref(id);
    assert_eq!(listed(Some(SessionStatus::Deleted)).await, only);

    let gone = SessionError::NotFound(id.clone());
    refused(
        subject.append(NewEntry::at_leaf(user_body("late"))).await,
        &gone,
    );
    refused(port.reset_leaf(id).await, &gone);
    let streamed = InFlightEntry {
        id: "cafe0001".into(),
        parent_id: Some(question.clone()),
        message: super::subject::answer_message("late"),
    };
    refused(port.update_in_flight_entry(id, streamed).await, &gone);
    assert_eq!(subject.entries().await.len(), 1);

    let active = SessionPatch {
        status: Some(SessionStatus::Active),
        ..SessionPatch::default()
    };
    port.update_session(id, active).await.unwrap();
    assert_eq!(listed(None).await, only);
    let answer = subject.answer("back again").await;
    assert_eq!(subject.path().await, [question, answer]);
}

pub(super) async fn only_a_deleted_session_is_purged(harness: &dyn ContractHarness) {
    const LONG_AGO: Option<&str> = Some("2020-01-01T00:00:00.000Z");
    let subject = Subject::create(harness).await;
    subject.user("question").await;
    let (port, id) = (&subject.provider, &subject.id);
    let purged = port.purge_session(id, None).await.unwrap();
    assert!(!purged, "it is not deleted");
    port.delete_session(id).await.unwrap();
    let purged = port.purge_session(id, LONG_AGO).await.unwrap();
    assert!(!purged, "it was deleted later than that");
    let active = SessionPatch {
        status: Some(SessionStatus::Active),
        ..SessionPatch::default()
    };
    port.update_session(id, active).await.unwrap();
    let purged = port.purge_session(id, None).await.unwrap();
    assert!(!purged, "it was restored");
    subject.user("still here").await;
    assert_eq!(subject.entries().await.len(), 2);
    let unknown = SessionId::new("unknown");
    let error = SessionError::NotFound(unknown.clone());
    refused(port.purge_session(&unknown, None).await, &error);
}

pub(super) async fn a_purged_session_leaves_nothing_for_its_id(harness: &dyn ContractHarness) {
    let reader = harness.open().await;
    let subject = Subject::create(harness).await;
    let question = subject.user("question").await;
    let (port, id) = (&subject.provider, &subject.id);
    let streamed = InFlightEntry {
        id: "cafe0001".into(),
        parent_id: Some(question),
        message: super::subject::answer_message("half an answer"),
    };
    port.update_in_flight_entry(id, streamed).await.unwrap();
    // Another process has cached what it has read.
    assert_eq!(reader.load_tree(id).await.unwrap().entries().len(), 1);

    port.delete_session(id).await.unwrap();
    assert!(port.purge_session(id, None).await.unwrap());
    let gone = SessionError::NotFound(id.clone());
    refused(port.get_session(id).await, &gone);
    refused(port.load_tree(id).await, &gone);
    refused(port.purge_session(id, None).await, &gone);
    let deleted = SessionFilter {
        status: Some(SessionStatus::Deleted),
        ..SessionFilter::default()
    };
    let listed = port.list_sessions(&deleted, PageRequest::default()).await;
    assert_eq!(listed.unwrap().total, 0);

    let again = NewSession {
        id: Some(id.clone()),
        ..NewSession::default()
    };
    port.create_session(again).await.unwrap();
    for text in ["new", "newer", "newest"] {
        subject.user(text).await;
    }
    for port in [port, &reader, &harness.open().await] {
        let tree = port.load_tree(id).await.unwrap();
        let text: Vec<&str> = tree.entries().iter().map(|entry| entry.json()).collect();
        assert_eq!(text.len(), 3, "{text:?}");
        assert!(text.iter().all(|text| text.contains("new")), "{text:?}");
        assert!(port.in_flight_entry(id).await.unwrap().is_none());
    }
}

pub(super) async fn an_unknown_session_is_not_found(harness: &dyn ContractHarness) {
    let port = harness.open().await;
    let id = SessionId::new("missing");
    let entry = EntryId::new("cafe0001");
    let gone = SessionError::NotFound(id.clone());
    let streamed = InFlightEntry {
        id: entry.clone(),
        parent_id: None,
        message: super::subject::answer_message("lost"),
    };
    refused(port.get_session(&id).await, &gone);
    refused(port.load_tree(&id).await, &gone);
    refused(port.list_entries(&id).await, &gone);
    refused(port.get_snapshot(&id).await, &gone);
    refused(port.in_flight_entry(&id).await, &gone);
    refused(
        port.update_session(&id, SessionPatch::default()).await,
        &gone,
    );
    refused(port.delete_session(&id).await, &gone);
    refused(
        port.append_entry(&id, NewEntry::at_leaf(user_body("lost")))
            .await,
        &gone,
    );
    refused(port.update_in_flight_entry(&id, streamed).await, &gone);
    refused(port.switch_leaf(&id, &entry).await, &gone);
    refused(port.reset_leaf(&id).await, &gone);
    refused(
        port.create_branched_session(&id, &entry, SessionId::new("branch"))
            .await,
        &gone,
    );
}

pub(super) async fn metadata_changes_member_by_member(harness: &dyn ContractHarness) {
    let text = session_text("s", &[]).replace(
        r#""cwd":"/srv/app""#,
        r#""cwd":"/srv/app","metadata":{"state":{"odd":[null,{"x":1}],"gone":1},"other":"é"}"#,
    );
    let subject = Subject::import(harness, &text).await;
    let change = |metadata_changes| SessionPatch {
        metadata_changes,
        ..SessionPatch::default()
    };
    let before = subject.meta().await;
    let first = change(vec![
        MetadataChange::set(
            ["state", "queue", "a"],
            json!({"text": "one 😀", "null": null}),
        ),
        MetadataChange::remove(["state", "gone"]),
    ]);
    let updated = subject
        .provider
        .update_session(&subject.id, first)
        .await
        .unwrap();
    assert_eq!(
        updated.updated_at, before.updated_at,
        "bookkeeping is no news"
    );
    let subject = subject.crash().await;
    let second = change(vec![
        MetadataChange::set(["state", "queue", "b"], json!(2)),
        MetadataChange::set(["state", "queue", "a", "held"], json!(true)),
    ]);
    let updated = subject
        .provider
        .update_session(&subject.id, second)
        .await
        .unwrap();
    let expected = json!({"other": "é", "state": {"odd": [null, {"x": 1}], "queue": {
        "a": {"text": "one 😀", "null": null, "held": true}, "b": 2}}});
    assert_eq!(*updated.metadata, object(expected.clone()));
    let subject = subject.restart().await;
    assert_eq!(*subject.meta().await.metadata, object(expected));
    let tree = subject.tree().await;
    assert_eq!((tree.entries().len(), tree.leaf()), (0, None));
}

pub(super) async fn a_newer_format_is_not_taken_in(harness: &dyn ContractHarness) {
    let port = harness.open().await;
    let text = session_text("newer", &[]).replace(r#""version":3"#, r#""version":9"#);
    let import = ImportSession {
        log: parse(&text),
        id: None,
    };
    let newer = SessionError::NewerFormat {
        session: "newer".into(),
        found: 9,
        supported: 3,
    };
    refused(port.import_session(import).await, &newer);
    let missing = SessionError::NotFound("newer".into());
    refused(port.get_session(&"newer".into()).await, &missing);
}
