//! Listing sessions.

use super::ContractHarness;
use super::subject::import;
use crate::{
    NewSession, PageRequest, SessionFilter, SessionPage, SessionPatch, SessionStatus,
    SessionTreeProvider,
};
use serde_json::json;
use std::sync::Arc;

/// A session whose last entry is of that day of January.
async fn import_of_day(port: &Arc<dyn SessionTreeProvider>, id: &str, day: u32, text: &str) {
    let header = json!({
        "type": "session", "version": 3, "id": id, "timestamp": "2026-01-01T00:00:00.000Z",
        "cwd": "/srv/Äpp",
    });
    let message = json!({
        "type": "message", "id": "m", "parentId": null, "timestamp": format!("2026-01-{day:02}T00:00:00.000Z"),
        "message": {"role": "user", "content": text},
    });
    import(port, &format!("{header}\n{message}\n")).await;
}

async fn list(
    port: &Arc<dyn SessionTreeProvider>,
    filter: SessionFilter,
    page: PageRequest,
) -> (Vec<String>, u64) {
    let SessionPage {
        items,
        page: number,
        size,
        total,
    } = port.list_sessions(&filter, page).await.unwrap();
    assert_eq!((number, size), (page.page, page.size));
    for item in &items {
        assert_eq!(&port.get_session(&item.session_id).await.unwrap(), item);
    }
    let ids = items.iter().map(|item| item.session_id.as_str().to_owned());
    (ids.collect(), total)
}

pub(super) async fn lists_are_paged_and_newest_first(harness: &dyn ContractHarness) {
    let port = harness.open().await;
    for (id, day) in [("c", 3), ("a", 1), ("e", 5), ("b", 2), ("d", 4)] {
        import_of_day(&port, id, day, "hello").await;
    }
    let page = async |page, size| {
        let request = PageRequest { page, size };
        let (ids, total) = list(&port, SessionFilter::default(), request).await;
        assert_eq!(total, 5);
        ids.join("")
    };
    assert_eq!(page(1, 50).await, "edcba");
    assert_eq!(page(1, 2).await, "ed");
    assert_eq!(page(2, 2).await, "cb");
    assert_eq!(page(3, 2).await, "a");
    assert_eq!(page(4, 2).await, "");
    // An append makes a session the newest.
    let message = super::subject::user_message("news");
    port.append_message(&"b".into(), message).await.unwrap();
    assert_eq!(page(1, 50).await, "bedca");
}

pub(super) async fn lists_are_filtered_by_owner_and_status(harness: &dyn ContractHarness) {
    let port = harness.open().await;
    for (id, user, agent) in [
        ("a", "ann", "x"),
        ("b", "bob", "x"),
        ("c", "ann", "y"),
        ("d", "Ann", "X"),
    ] {
        let new = NewSession {
            id: Some(id.into()),
            user_id: Some(user.to_owned()),
            agent_id: Some(agent.to_owned()),
            ..NewSession::default()
        };
        port.create_session(new).await.unwrap();
    }
    let archived = SessionPatch {
        status: Some(SessionStatus::Archived),
        ..SessionPatch::default()
    };
    port.update_session(&"c".into(), archived).await.unwrap();
    port.delete_session(&"b".into()).await.unwrap();

    let listed = async |user: Option<&str>, agent: Option<&str>, status| {
        let filter = SessionFilter {
            user_id: user.map(str::to_owned),
            agent_id: agent.map(str::to_owned),
            status,
            ..SessionFilter::default()
        };
        let (mut ids, total) = list(&port, filter, PageRequest::default()).await;
        assert_eq!(total, ids.len() as u64);
        // All were created in the same millisecond, so their order is undefined.
        ids.sort();
        ids.join("")
    };
    assert_eq!(listed(None, None, None).await, "acd");
    assert_eq!(listed(Some("ann"), None, None).await, "ac");
    assert_eq!(listed(Some("ann "), None, None).await, "");
    assert_eq!(listed(None, Some("x"), None).await, "a");
    assert_eq!(listed(Some("ann"), Some("y"), None).await, "c");
    assert_eq!(listed(None, None, Some(SessionStatus::Active)).await, "ad");
    assert_eq!(listed(None, None, Some(SessionStatus::Archived)).await, "c");
    assert_eq!(listed(None, None, Some(SessionStatus::Deleted)).await, "b");
    assert_eq!(
        listed(Some("ann"), None, Some(SessionStatus::Deleted)).await,
        ""
    );

    let nobodys = NewSession {
        id: Some("e".into()),
        ..NewSession::default()
    };
    port.create_session(nobodys).await.unwrap();
    assert_eq!(listed(Some("ann"), None, None).await, "ac");
    let filter = SessionFilter {
        user_id: Some("ann".to_owned()),
        unowned: true,
        ..SessionFilter::default()
    };
    let (mut ids, _) = list(&port, filter, PageRequest::default()).await;
    ids.sort();
    assert_eq!(ids.join(""), "ace");
}

pub(super) async fn bookkeeping_is_no_news(harness: &dyn ContractHarness) {
    let port = harness.open().await;
    import_of_day(&port, "old", 1, "first").await;
    import_of_day(&port, "new", 2, "second").await;
    let metadata = SessionPatch {
        metadata: Some(serde_json::Map::new()),
        ..SessionPatch::default()
    };
    port.update_session(&"old".into(), metadata).await.unwrap();
    let (ids, _) = list(&port, SessionFilter::default(), PageRequest::default()).await;
    assert_eq!(ids.join(" "), "new old");
}

pub(super) async fn lists_are_filtered_by_a_member_of_the_metadata(harness: &dyn ContractHarness) {
    let port = harness.open().await;
    let key = "it's \"quoted\"";
    for (id, metadata) in [
        ("a", serde_json::json!({})),
        ("b", serde_json::json!({key: {"deep": 1}})),
        ("c", serde_json::json!({"other": key})),
        ("d", serde_json::json!({"other": {key: 1}})),
        ("e", serde_json::json!({key: null})),
    ] {
        let new = NewSession {
            id: Some(id.into()),
            metadata: metadata.as_object().cloned().unwrap_or_default(),
            ..NewSession::default()
        };
        port.create_session(new).await.unwrap();
    }
    let listed = async || {
        let filter = SessionFilter {
            metadata_key: Some(key.to_owned()),
            ..SessionFilter::default()
        };
        let (mut ids, total) = list(&port, filter, PageRequest::default()).await;
        assert_eq!(total, ids.len() as u64);
        ids.sort();
        ids.join("")
    };
    assert_eq!(listed().await, "be");
    let cleared = SessionPatch {
        metadata: Some(serde_json::Map::new()),
        ..SessionPatch::default()
    };
    port.update_session(&"b".into(), cleared).await.unwrap();
    assert_eq!(listed().await, "e");
}

pub(super) async fn lists_are_searched_whatever_the_case(harness: &dyn ContractHarness) {
    let port = harness.open().await;
    import_of_day(&port, "one", 1, "Über 100% of it").await;
    import_of_day(&port, "two", 2, r"a_b c:\d 'quoted'").await;
    import_of_day(&port, "Three", 3, "nothing").await;
    port.append_session_info(&"Three".into(), "ÉTÉ")
        .await
        .unwrap();

    let found = async |text: &str| {
        let filter = SessionFilter {
            text: Some(text.to_owned()),
            ..SessionFilter::default()
        };
        let (ids, total) = list(&port, filter, PageRequest::default()).await;
        assert_eq!(total, ids.len() as u64);
        ids.join(" ")
    };
    assert_eq!(found("über").await, "one");
    assert_eq!(found("THREE").await, "Three");
    assert_eq!(found("été").await, "Three");
    assert_eq!(found("/SRV/ä").await, "Three two one");
    // What means something to a database is text here.
    assert_eq!(found("0%").await, "one");
    assert_eq!(found("a_b").await, "two");
    assert_eq!(found("a%b").await, "");
    assert_eq!(found(r":\d '").await, "two");
    assert_eq!(found("absent").await, "");
}
