//! `import`, and where sessions and settings are looked for.

use crate::support::{SAMPLE, SAMPLE_ID, Workspace, message, session};

#[test]
fn an_imported_session_is_the_same_session() {
    let workspace = Workspace::with_sample();
    assert_eq!(
        workspace.out("session import sample.jsonl"),
        format!("{SAMPLE_ID}\n")
    );
    let of = |argument: &str| workspace.out(&format!("session show {argument} --json"));
    assert_eq!(of(SAMPLE_ID), of("sample.jsonl"));
    let context = |argument: &str| workspace.out(&format!("session context {argument} --json"));
    assert_eq!(context(SAMPLE_ID), context("sample.jsonl"));
    assert_eq!(workspace.read("sample.jsonl"), SAMPLE);

    let again = workspace.run("session import sample.jsonl");
    assert_eq!(again.code, 1);
    assert!(
        again.err.contains("already exists") && again.err.contains("--new-id"),
        "{}",
        again.err
    );
    assert_eq!(
        workspace.out("session import sample.jsonl --id mine"),
        "mine\n"
    );
    let new = workspace.out("session import sample.jsonl --new-id");
    assert_ne!(new.trim(), SAMPLE_ID);
    assert_eq!(workspace.json("session list --json")["total"], 3);
    assert_eq!(
        workspace.run("session import sample.jsonl --id ../up").code,
        1
    );
}

#[test]
fn old_versions_are_imported_as_the_current_one() {
    let workspace = Workspace::new();
    let old = concat!(
        r#"{"type":"session","id":"old","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/srv/app"}"#,
        "\n",
        r#"{"type":"message","timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"one"}}"#,
        "\n",
        r#"{"type":"message","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"hookMessage","content":"two"}}"#,
        "\n",
    );
    workspace.write("old.jsonl", old);
    assert_eq!(workspace.out("session import old.jsonl"), "old\n");
    let shown = workspace.json("session show old --json");
    assert_eq!(shown["header"]["version"], 3);
    assert_eq!(shown["entries"][1]["message"]["role"], "custom");
    assert_eq!(shown["entries"][1]["parentId"], shown["entries"][0]["id"]);
    assert_eq!(workspace.read("old.jsonl"), old);
}

#[test]
fn a_session_without_a_header_can_be_rescued() {
    let workspace = Workspace::new();
    let entries = format!(
        "{}\n{}\n",
        message("a", None, "one"),
        message("b", Some("a"), "two")
    );
    workspace.write("headless.jsonl", &entries);
    let refused = workspace.run("session import headless.jsonl");
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("--rescue"), "{}", refused.err);

    let id = workspace.out("session import headless.jsonl --rescue");
    let shown = workspace.json(&format!("session show {} --json", id.trim()));
    assert_eq!(shown["entries"].as_array().unwrap().len(), 2);
    assert_eq!(shown["header"]["timestamp"], "2026-01-01T00:00:01.000Z");

    // A header from further down is better than a new one.
    workspace.write("late.jsonl", entries + &session("late-header", &[]));
    assert_eq!(
        workspace.out("session import late.jsonl --rescue"),
        "late-header\n"
    );

    workspace.write("prose.jsonl", "once upon a time\n");
    let refused = workspace.run("session import prose.jsonl --rescue");
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("no readable entry"), "{}", refused.err);
}

#[test]
fn settings_come_from_flag_environment_and_file_in_this_order() {
    let mut workspace = Workspace::with_sample();
    workspace.write("from-file/config.toml", "data_dir = 'data'\n");
    workspace.set("NETACLAW_CONFIG", "from-file/config.toml");
    workspace.out("session import sample.jsonl");
    assert!(workspace.path("from-file/data/sessions").is_dir());

    workspace.set(
        "NETACLAW_DATA_DIR",
        workspace.path("from-env").to_str().unwrap(),
    );
    workspace.out("session import sample.jsonl");
    assert!(workspace.path("from-env/sessions").is_dir());

    workspace.out("session import sample.jsonl --data-dir from-flag");
    assert!(workspace.path("from-flag/sessions").is_dir());
    assert!(!workspace.path("home/.netaclaw").exists());
}

#[test]
fn the_usual_data_directory_lies_in_the_home_directory() {
    let workspace = Workspace::with_sample();
    assert_eq!(workspace.out("session list"), "no sessions\n");
    assert!(!workspace.path("home").exists(), "a list makes nothing");
    workspace.out("session import sample.jsonl");
    assert!(workspace.path("home/.netaclaw/sessions").is_dir());
}

#[test]
fn an_unknown_provider_means_files_and_is_mentioned() {
    let mut workspace = Workspace::new();
    workspace.set("NETACLAW_SESSION_PROVIDER", "postgres");
    let listed = workspace.run("session list --json");
    assert_eq!(listed.code, 0);
    assert!(listed.err.contains("postgres"), "{}", listed.err);
    assert!(listed.out.starts_with('{'), "{}", listed.out);
}
