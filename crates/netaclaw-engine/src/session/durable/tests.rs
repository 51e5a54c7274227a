use super::*;
use netaclaw_protocol::{ChatMode, QueueItem, StandingApproval};
use netaclaw_session::MetadataChange;
use serde_json::{Map, Value, json};

fn session(id: &str, metadata: Map<String, Value>) -> SessionMeta {
    let meta = json!({"sessionId": id, "provider": "file", "rootEntryId": null,
        "leafEntryId": null, "cwd": "", "parentSessionId": null, "agentId": null,
        "userId": null, "title": null, "status": "active", "metadata": metadata,
        "createdAt": "T", "updatedAt": "T", "messageCount": 0, "firstMessage": null});
    serde_json::from_value(meta).unwrap()
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn holding(state: Value) -> SessionMeta {
    session("s", object(json!({ "netaclaw": state })))
}

/// The metadata after `state` was stored, and the changes that this took.
fn stored(state: &PersistedState, before: &SessionMeta) -> (SessionMeta, Vec<MetadataChange>) {
    let (_, known) = StoredState::read(before);
    let update = known.update(state, &before.session_id, "p");
    let mut metadata = (*before.metadata).clone();
    for change in update.changes.clone() {
        change.apply(&mut metadata);
    }
    let after = session(before.session_id.as_str(), metadata);
    let again = update.after.update(state, &before.session_id, "p").changes;
    assert_eq!(again, [], "what is stored is not stored again");
    assert_eq!(PersistedState::read(&after), *state);
    (after, update.changes)
}

fn running() -> PersistedState {
    PersistedState {
        run: Some(RunMark {
            run_id: RunId::new("r"),
            started_at: 5,
        }),
        model: Some(ModelChoice {
            channel_id: "c".to_owned(),
            model_id: "m".to_owned(),
        }),
        ..PersistedState::default()
    }
}

fn message(id: &str, content: &str) -> Queued {
    Queued {
        item: QueueItem {
            item_id: id.to_owned(),
            content: content.to_owned(),
            attachments: Vec::new(),
            mode: ChatMode::Auto,
            queued_at: 7,
            held: false,
            unsupported: false,
        },
        leaf_entry_id: None,
        agent_id: None,
        request_id: Some(format!("request of {id}")),
        fingerprint: None,
        place: 0,
    }
}

fn order(queue: &Queue) -> Vec<&str> {
    let items = queue.iter();
    items.map(|queued| queued.item.item_id.as_str()).collect()
}

#[test]
fn the_state_round_trips_beside_other_metadata() {
    let other = session("s", object(json!({"colour": "blue"})));
    let (untouched, changes) = stored(&PersistedState::default(), &other);
    assert_eq!(
        (&untouched, changes.len()),
        (&other, 0),
        "an empty state leaves no trace"
    );
    let (holding, _) = stored(&running(), &other);
    assert_eq!(holding.metadata["colour"], "blue");
    assert_eq!(stored(&PersistedState::default(), &holding).0, other);
}

#[test]
fn a_copy_takes_model_and_tools_along_and_nothing_that_is_under_way() {
    let told_tools = Some(vec!["read".to_owned()]);
    let state = PersistedState {
        told_tools: told_tools.clone(),
        ..running()
    };
    let (original, _) = stored(&state, &session("s", Map::new()));
    let copy = session("copy", (*original.metadata).clone());
    let model = running().model;
    let expected = PersistedState {
        model,
        told_tools,
        ..PersistedState::default()
    };
    assert_eq!(PersistedState::read(&copy), expected);
    let (own, _) = stored(&expected, &copy);
    assert_eq!(own.metadata[KEY]["session"], "copy");
    assert!(own.metadata[KEY].get("run").is_none());
    let (_, known) = StoredState::read(&copy);
    let emptied = known.update(&PersistedState::default(), &copy.session_id, "p");
    assert_eq!(emptied.changes, [MetadataChange::remove([KEY])]);
}

#[test]
fn announced_tools_do_not_make_a_session_unfinished() {
    let state = PersistedState {
        told_tools: Some(vec!["read".to_owned()]),
        ..PersistedState::default()
    };
    let (after, changes) = stored(&state, &session("s", Map::new()));
    assert!(!after.metadata.contains_key(KEY));
    assert_eq!(changes.len(), 1);
}

#[test]
fn a_queue_change_stores_only_what_changed() {
    let mut state = running();
    state.queue.push(message("a", "long")).unwrap();
    state.queue.push(message("b", "longer")).unwrap();
    let (before, _) = stored(&state, &session("s", Map::new()));
    let paths = |changes: Vec<MetadataChange>| -> Vec<String> {
        changes.iter().map(|change| change.path.join("/")).collect()
    };
    state.queue.push(message("c", "x")).unwrap();
    let (with_c, changes) = stored(&state, &before);
    assert_eq!(paths(changes), ["netaclaw/queue/c"]);
    state.queue.hold();
    let (held, changes) = stored(&state, &with_c);
    let expected = ["a", "b", "c"].map(|id| format!("netaclaw/queue/{id}/held"));
    assert_eq!(paths(changes), expected);
    state.queue.move_to("c", 0).unwrap();
    assert_eq!(order(&state.queue), ["c", "a", "b"]);
    let (moved, changes) = stored(&state, &held);
    assert!(
        changes.iter().all(|change| change.path[3] == "place"),
        "{changes:?}"
    );
    state.queue.edit("a", "other".to_owned()).unwrap();
    let (edited, changes) = stored(&state, &moved);
    assert_eq!(paths(changes), ["netaclaw/queue/a/content"]);
    state.queue.remove("b").unwrap();
    state.queue.push(message("d", "new")).unwrap();
    let (_, changes) = stored(&state, &edited);
    assert_eq!(paths(changes), ["netaclaw/queue/b", "netaclaw/queue/d"]);
}

#[test]
fn the_queue_is_limited_in_bytes() {
    let mut queue = Queue::default();
    let half = "é".repeat(300 << 10);
    queue.push(message("a", &half)).unwrap();
    let refused = queue.push(message("b", &half)).unwrap_err();
    assert_eq!(refused.code(), netaclaw_protocol::ErrorCode::TooLarge);
    let words = refused.words();
    assert!(
        words.en.contains("holds 600 kB") && words.en.contains("1024 kB"),
        "{words:?}"
    );
    assert!(words.zh.contains("600 kB"), "{words:?}");
    queue.push(message("c", "short")).unwrap();
    assert!(queue.edit("c", half.clone()).is_err());
    queue.edit("a", "shorter".to_owned()).unwrap();
    queue.edit("c", half).unwrap();
    assert_eq!(order(&queue), ["a", "c"]);
}

#[test]
fn an_event_has_the_texts_of_new_and_changed_messages_only() {
    let mut queue = Queue::default();
    queue.push(message("a", &"a".repeat(1000))).unwrap();
    let known = queue.clone();
    queue.push(message("b", "b")).unwrap();
    queue.hold();
    let contents = |known: &Queue, queue: &Queue| -> Vec<Option<String>> {
        let items = queue.update_since(known).items.into_iter();
        items.map(|item| item.content).collect()
    };
    assert_eq!(contents(&known, &queue), [None, Some("b".to_owned())]);
    let update = queue.update_since(&known);
    assert_eq!((update.items[0].preview.len(), update.held), (80, true));
    let known = queue.clone();
    queue.edit("a", "short".to_owned()).unwrap();
    assert_eq!(contents(&known, &queue), [Some("short".to_owned()), None]);
}

/// A standing approval of every call of a tool.
fn tool_of(name: &str) -> Value {
    json!({"id": name, "toolName": name, "toolLabel": {"zh": name, "en": name},
        "scope": {"kind": "tool"}, "within": "session", "sample": "", "userId": "u",
        "agentId": "a", "sessionId": "s", "grantedBy": "ann", "grantedAt": 1,
        "tools": {"bash": "hash"}})
}

/// A state with an unknown member at every level.
fn foreign() -> Value {
    json!({"version": 2, "session": "s", "by": "p", "future": {"deep": [1, null]},
        "run": {"runId": "r", "startedAt": 5, "why": "x"},
        "questions": [
            {"kind": "of tomorrow"},
            {"requestId": "q", "runId": "r", "toolCallId": "t", "question": "?", "options": [],
                "multi": false, "readOnly": false, "colour": "red"}],
        "warnings": [{"kind": "of tomorrow"}],
        "standing": [tool_of("one"), {"id": "x", "scope": {"kind": "of tomorrow"}}],
        "queue": {
            "a": {"itemId": "a", "content": "one", "mode": "auto", "queuedAt": 1, "place": 1,
                "priority": {"high": true}},
            "b": {"itemId": "b", "content": "two", "mode": "whisper", "queuedAt": 2, "place": 2,
                "requestId": "rb", "fingerprint": "fb"}}})
}

#[test]
fn what_is_not_understood_is_kept_at_every_level() {
    let before = holding(foreign());
    let (mut state, _) = StoredState::read(&before);
    assert!(state.run.is_some() && state.warnings.is_empty());
    assert_eq!((state.questions.len(), state.standing.len()), (1, 1));
    assert_eq!(order(&state.queue), ["a", "b"]);
    let odd = &state.queue[1];
    assert!(odd.item.unsupported && odd.item.held);
    assert_eq!(
        (odd.item.content.as_str(), odd.request_id.as_deref()),
        ("two", Some("rb"))
    );

    state.run.as_mut().unwrap().started_at = 6;
    state.questions[0].answer = Some(vec!["yes".to_owned()]);
    let another: StandingApproval = serde_json::from_value(tool_of("another")).unwrap();
    state.grant(another);
    state.queue.hold();
    state.queue.resume();
    state.queue.push(message("c", "three")).unwrap();
    let (after, _) = stored(&state, &before);
    let mut expected = foreign();
    expected["run"]["startedAt"] = json!(6);
    expected["questions"][1]["answer"] = json!(["yes"]);
    let of_tomorrow = json!({"id": "x", "scope": {"kind": "of tomorrow"}});
    expected["standing"] = json!([of_tomorrow, tool_of("one"), tool_of("another")]);
    expected["queue"]["c"] = after.metadata[KEY]["queue"]["c"].clone();
    assert_eq!(after.metadata[KEY], expected);

    // The run and its questions end, and all known messages are gone.
    let emptied = PersistedState {
        queue: {
            let mut queue = state.queue.clone();
            queue.retain(|queued| queued.item.unsupported);
            queue
        },
        standing: state.standing.clone(),
        ..PersistedState::default()
    };
    let (after, _) = stored(&emptied, &after);
    let kept = &after.metadata[KEY];
    assert_eq!(kept["future"], foreign()["future"]);
    assert_eq!(kept["questions"], json!([{"kind": "of tomorrow"}]));
    assert_eq!(kept["queue"], json!({"b": foreign()["queue"]["b"]}));
    assert!(kept.get("run").is_none());
}

#[test]
fn a_message_that_is_not_understood_is_moved_and_removed_but_not_changed() {
    let (mut state, _) = StoredState::read(&holding(foreign()));
    let refused = state.queue.edit("b", "else".to_owned()).unwrap_err();
    assert!(refused.words().en.contains("another version"), "{refused}");
    assert!(!state.queue.state().held, "a person has nothing to resume");
    state.queue.move_to("b", 0).unwrap();
    assert_eq!(order(&state.queue), ["b", "a"]);
    let (after, _) = stored(&state, &holding(foreign()));
    assert_eq!(after.metadata[KEY]["queue"]["b"]["mode"], "whisper");
    state.queue.remove("b").unwrap();
    assert_eq!(order(&state.queue), ["a"]);
}

#[test]
fn the_queue_of_version_1_is_taken_over() {
    let list = json!([
        {"itemId": "z", "content": "first", "mode": "queue", "queuedAt": 1, "odd": 1},
        {"itemId": "b", "content": "second", "mode": "whisper", "queuedAt": 2},
        "not even an object"]);
    let before = holding(json!({"session": "s", "by": "old", "queue": list}));
    let (mut state, _) = StoredState::read(&before);
    assert_eq!(order(&state.queue), ["item-3", "z", "b"]);
    let (after, _) = stored(&state, &before);
    let queue = &after.metadata[KEY]["queue"];
    assert_eq!(after.metadata[KEY]["version"], 2);
    assert_eq!(queue["z"]["odd"], 1);
    assert_eq!(queue["b"]["mode"], "whisper");
    assert_eq!(queue["item-3"], "not even an object");
    state.queue.push(message("c", "third")).unwrap();
    assert_eq!(order(&state.queue), ["item-3", "z", "b", "c"]);
}

#[test]
fn a_newer_state_is_known_by_its_number_alone() {
    for newer in [
        json!({"version": 3, "shape": "unknown"}),
        json!({"version": "x"}),
    ] {
        let newer = session("s", object(json!({ "netaclaw": newer })));
        assert!(NewerState::of(&newer).is_some());
        assert_eq!(PersistedState::read(&newer), PersistedState::default());
    }
    assert_eq!(NewerState::of(&holding(foreign())), None);
    assert_eq!(
        NewerState::of(&holding(json!({"session": "s", "by": "p"}))),
        None
    );
}

#[test]
fn damage_counts_as_nothing() {
    let stored = holding(json!({"session": "s", "by": "p", "queue": 7, "run": []}));
    assert_eq!(PersistedState::read(&stored), PersistedState::default());
}

#[test]
fn few_requests_are_kept_and_not_for_long() {
    let mut state = PersistedState::default();
    for at in 0..100 {
        state.remember(AnsweredRequest::done(format!("q{at}"), at), at);
    }
    assert_eq!(state.requests.len(), REQUESTS_MAX);
    assert_eq!(state.requests[REQUESTS_MAX - 1].id, "q99");
    let later = 99 + KEPT_FOR_MS;
    state.remember(AnsweredRequest::done("new".to_owned(), later), later);
    assert_eq!(state.requests.len(), 1);
}
