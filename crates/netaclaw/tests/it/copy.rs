//! `copy` between files and a real MySQL or MariaDB, and looking at sessions that are kept there.

use crate::support::{SAMPLE_ID, Workspace, message, session};
use netaclaw_testkit::{Database, MariaDb};

fn workspace_with(database: &Database) -> Workspace {
    let mut workspace = Workspace::with_sample();
    workspace.set("NETACLAW_MYSQL_URL", &database.url());
    workspace
}

#[test]
fn a_session_goes_to_mysql_and_back_unchanged() {
    let server = MariaDb::start().unwrap();
    let database = server.fresh_database().unwrap();
    let workspace = workspace_with(&database);
    workspace.out("session import sample.jsonl");
    let before = workspace.out("session show sample.jsonl --json");

    let copied = workspace.out(&format!("session copy {SAMPLE_ID} --to mysql"));
    assert!(
        copied.contains("are identical") && copied.contains("25 entries"),
        "{copied}"
    );
    let again = workspace.run(&format!("session copy {SAMPLE_ID} --to mysql"));
    assert_eq!(again.code, 1);
    assert!(again.err.contains("already exists"), "{}", again.err);

    for form in [
        "show --json",
        "context --json",
        "tree --json",
        "export --format jsonl",
    ] {
        let there = workspace.out(&format!("session {form} {SAMPLE_ID} --provider mysql"));
        assert_eq!(
            there,
            workspace.out(&format!("session {form} sample.jsonl")),
            "{form}"
        );
    }
    assert_eq!(
        workspace.json("session list --json --provider mysql")["items"][0]["provider"],
        "mysql"
    );
    assert_eq!(
        workspace.run("session verify --all --provider mysql").code,
        0
    );

    let copied = workspace.out("session copy 0195f2d1 --to file --data-dir elsewhere");
    assert!(copied.contains("from mysql to file"), "{copied}");
    assert_eq!(
        workspace.out(&format!(
            "session show {SAMPLE_ID} --json --data-dir elsewhere"
        )),
        before
    );
}

#[test]
fn an_id_is_looked_for_in_both_places() {
    let server = MariaDb::start().unwrap();
    let database = server.fresh_database().unwrap();
    let workspace = workspace_with(&database);
    workspace.write(
        "there.jsonl",
        session("only-there", &[message("a", None, "in the database")]),
    );
    workspace.out("session import there.jsonl --provider mysql");
    workspace.out("session import sample.jsonl");

    let shown = workspace.out("session show only-there");
    assert!(
        shown.contains("in the database") && shown.contains("mysql"),
        "{shown}"
    );
    assert!(workspace.out("session show only").contains("only-there"));
    assert!(
        workspace
            .out("session show 0195f2d1 --provider mysql")
            .contains(SAMPLE_ID)
    );
    let missing = workspace.run("session copy only-there --to mysql");
    assert!(missing.err.contains("it does not exist"), "{}", missing.err);
}
