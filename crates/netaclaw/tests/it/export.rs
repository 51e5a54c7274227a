//! `export`: files that Pi and NetaClaw open on the same path, and documents for people.

use crate::support::{SAMPLE, Workspace, message, session};

/// An exported session reads as the original did, and exports to the same bytes again.
fn round_trip(text: &str) -> String {
    let workspace = Workspace::new();
    workspace.write("a.jsonl", text);
    workspace.out("session export a.jsonl --format jsonl --output b.jsonl");
    for form in ["show --json", "context --json", "tree --json"] {
        let of = |file: &str| workspace.out(&format!("session {form} {file}"));
        assert_eq!(of("a.jsonl"), of("b.jsonl"), "{form}");
    }
    let exported = workspace.read("b.jsonl");
    assert_eq!(
        workspace.out("session export b.jsonl --format jsonl"),
        exported
    );
    exported
}

#[test]
fn the_leaf_survives_an_export() {
    let moved = round_trip(SAMPLE);
    let last = moved.lines().last().unwrap();
    assert!(
        last.contains("netaclaw.leaf") && last.contains(r#""parentId":"a0000017""#),
        "{last}"
    );

    let plain = session(
        "s",
        &[message("a", None, "x"), message("b", Some("a"), "y")],
    );
    assert_eq!(round_trip(&plain), plain);
    let label = r#"{"type":"label","id":"c","parentId":"b","targetId":"a","label":"l"}"#;
    assert_eq!(
        round_trip(&format!("{plain}{label}\n")),
        format!("{plain}{label}\n")
    );
    let reset = r#"{"type":"custom","customType":"netaclaw.leaf","id":"c","parentId":null,"timestamp":"t"}"#;
    assert!(
        round_trip(&format!("{plain}{reset}\n"))
            .lines()
            .last()
            .unwrap()
            .contains(r#""parentId":null"#)
    );
}

#[test]
fn what_changed_after_the_header_survives_an_export() {
    let record = r#"{"type":"custom","customType":"netaclaw.meta","data":{"status":"archived","metadata":{"k":1}},"id":"c","parentId":"a","timestamp":"t"}"#;
    let exported = round_trip(&session("s", &[message("a", None, "x"), record.to_owned()]));
    assert!(exported.contains(r#""status":"archived""#), "{exported}");
    let workspace = Workspace::new();
    workspace.write("s.jsonl", exported);
    workspace.out("session import s.jsonl");
    assert_eq!(
        workspace.json("session list --json --status archived")["total"],
        1
    );
}

#[test]
fn the_page_holds_the_whole_tree_and_needs_nothing_else() {
    let workspace = Workspace::with_sample();
    let page = workspace.out("session export sample.jsonl --format html");
    for text in [
        "About 12 MB.",
        "overloaded: try again later",
        "订单列表提速",
        "找到原因",
        "current leaf",
        "Branch 1",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(
        page.contains(r#"content="default-src 'none'; style-src 'unsafe-inline'; img-src data:""#)
    );
    assert!(page.contains("data:image/png;base64,"));
    for external in ["<script", "<link", "@import", "url(", "src=\"http"] {
        assert!(!page.contains(external), "{external}");
    }
    // Every link within the page leads somewhere.
    for target in page
        .split("href=\"#")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
    {
        assert!(page.contains(&format!("id=\"{target}\"")), "{target}");
    }
}

#[test]
fn an_empty_session_can_be_shown_and_exported() {
    let workspace = Workspace::new();
    workspace.write("new.jsonl", session("new", &[]));
    for form in [
        "show",
        "tree",
        "context",
        "verify",
        "export --format md",
        "export --format html",
        "export --format jsonl",
    ] {
        assert!(
            !workspace
                .out(&format!("session {form} new.jsonl"))
                .is_empty(),
            "{form}"
        );
    }
}
