//! Whatever is asked wrongly: one clear line, a non-zero exit, and nothing changed.

use crate::support::{Workspace, message, session};
use std::net::TcpListener;

/// One line that names the program and holds these words; nothing on the output, nothing changed.
fn check(workspace: &Workspace, arguments: &str, code: i32, words: &[&str]) {
    let before = workspace.state();
    let ran = workspace.run(arguments);
    assert_eq!(ran.code, code, "{arguments}: {}", ran.err);
    assert_eq!(ran.out, "", "{arguments}");
    assert_eq!(ran.err.lines().count(), 1, "{arguments}: {}", ran.err);
    assert!(
        ran.err.starts_with("netaclaw: "),
        "{arguments}: {}",
        ran.err
    );
    for word in words {
        assert!(
            ran.err.contains(word),
            "{arguments}: {word} is not in {}",
            ran.err
        );
    }
    assert!(workspace.state() == before, "{arguments}");
}

#[test]
fn what_cannot_be_found_or_read() {
    let workspace = Workspace::with_sample();
    workspace.write("prose.jsonl", "once upon a time\n\u{0}\u{1}\n");
    workspace.write("other.jsonl", "{\"type\":\"message\",\"id\":\"a\"}\n");
    workspace.write("binary.jsonl", [0xff, 0xfe, 0x00, 0x0a, 0x80]);
    workspace.write("empty.jsonl", "");
    workspace.write("directory/x", "");
    let forms = [
        "show",
        "show --json",
        "tree",
        "tree --json",
        "context",
        "context --json",
        "export --format md",
        "export --format html",
        "export --format jsonl",
        "import",
    ];
    for form in forms {
        for (argument, words) in [
            ("gone.jsonl", &["gone.jsonl", "does not exist"][..]),
            ("./directory", &["directory", "is a directory"]),
            ("sample.jsonl/below", &["below", "not a directory"]),
            ("prose.jsonl", &["prose.jsonl", "not a session"]),
            ("other.jsonl", &["other.jsonl", "not a session", "header"]),
            ("binary.jsonl", &["binary.jsonl", "not a session"]),
            ("empty.jsonl", &["empty.jsonl", "empty"]),
        ] {
            check(&workspace, &format!("session {form} {argument}"), 1, words);
        }
        if form != "import" {
            let words = ["session 0195f2d1", "it does not exist", "session list"];
            check(&workspace, &format!("session {form} 0195f2d1"), 1, &words);
        }
    }
}

/// The superuser may read everything, so that this can be tried only as another account.
#[cfg(unix)]
#[test]
fn permission_denied() {
    use std::os::unix::fs::PermissionsExt;
    let workspace = Workspace::with_sample();
    let path = workspace.path("sample.jsonl");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&path).is_ok() {
        return;
    }
    let ran = workspace.run("session show sample.jsonl");
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(
        ran.err.contains("sample.jsonl: permission denied"),
        "{}",
        ran.err
    );
}

#[test]
fn an_unknown_leaf_is_named_before_anything_is_written() {
    let workspace = Workspace::with_sample();
    check(
        &workspace,
        "session context sample.jsonl --json --leaf a0000003 --leaf nowhere",
        1,
        &["--leaf nowhere", "no such entry"],
    );
}

#[test]
fn a_database_that_is_not_there() {
    let mut workspace = Workspace::with_sample();
    check(
        &workspace,
        "session list --provider mysql",
        1,
        &["no database is configured", "NETACLAW_MYSQL_URL"],
    );
    check(
        &workspace,
        "session copy abcd --to mysql",
        1,
        &["no database is configured"],
    );

    // A port that was free a moment ago, and that nothing listens on now.
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    workspace.set(
        "NETACLAW_MYSQL_URL",
        &format!("mysql://neta:s3cret@127.0.0.1:{port}/neta"),
    );
    let address = format!("127.0.0.1:{port}/neta");
    for arguments in [
        "session list --provider mysql",
        "session import sample.jsonl --provider mysql",
        "session show 0195f2d1",
        "session copy 0195f2d1 --to file",
    ] {
        check(
            &workspace,
            arguments,
            1,
            &[&address, "cannot be used", "NETACLAW_MYSQL_URL"],
        );
        assert!(!workspace.run(arguments).err.contains("s3cret"));
    }
    // What lies in a file needs no database.
    workspace.out("session show sample.jsonl");
    workspace.set("NETACLAW_MYSQL_URL", "nonsense");
    check(
        &workspace,
        "session list --provider mysql",
        1,
        &["mysql", "NETACLAW_MYSQL_URL"],
    );
}

#[test]
fn mistakes_in_the_configuration() {
    let workspace = Workspace::new();
    workspace.write("unknown.toml", "[sessions]\nprovidr = 'file'\n");
    workspace.write("broken.toml", "[sessions\n");
    workspace.write("fsync.toml", "[sessions]\nfsync = 'often'\n");
    check(
        &workspace,
        "session list --config unknown.toml",
        1,
        &["unknown.toml", "line 2", "providr"],
    );
    check(
        &workspace,
        "session list --config broken.toml",
        1,
        &["broken.toml", "line 1"],
    );
    check(
        &workspace,
        "session list --config fsync.toml",
        1,
        &["often", "always, turn or off"],
    );
    check(
        &workspace,
        "session list --config gone.toml",
        1,
        &["gone.toml", "does not exist"],
    );
}

#[test]
fn help_is_in_the_language_of_the_option_or_else_of_the_locale() {
    let mut workspace = Workspace::new();
    assert!(workspace.out("chat --help").contains("Global options:"));
    let chinese = workspace.out("chat --help --lang zh");
    assert!(chinese.contains("用法：netaclaw chat [选项]"), "{chinese}");
    workspace.set("LANG", "zh_CN.UTF-8");
    assert_eq!(workspace.out("chat --help"), chinese);
    assert!(workspace.out("chat --help --lang en").contains("Usage: "));
}

#[test]
fn mistakes_in_the_arguments() {
    let workspace = Workspace::with_sample();
    for (arguments, words) in [
        (
            "session shwo",
            &["unknown command shwo", "did you mean show?"][..],
        ),
        ("session show", &["FILE|ID", "netaclaw session show --help"]),
        ("session show a b", &["unexpected argument b"]),
        ("session list --page 0", &["--page"]),
        ("session list --status odd", &["odd"]),
        ("session export sample.jsonl", &["--format"]),
        ("session export sample.jsonl --format pdf", &["pdf", "html"]),
        ("session copy abcd --to nowhere", &["nowhere", "mysql"]),
        ("session import sample.jsonl --id a --new-id", &["--new-id"]),
        ("session verify", &["FILE|ID"]),
        ("--lang tlh session list", &["tlh"]),
        (
            "session shwo --lang zh",
            &["未知的命令 shwo；您要找的是 show 吗？"],
        ),
        (
            "--lang=zh session list --status odd",
            &["--status 不接受“odd”"],
        ),
    ] {
        check(&workspace, arguments, 2, words);
    }
    check(
        &workspace,
        "session copy abcd --from file --to file",
        1,
        &["--to"],
    );
}

#[test]
fn an_export_replaces_files_only_on_request() {
    let workspace = Workspace::with_sample();
    workspace.write("taken.md", "mine");
    check(
        &workspace,
        "session export sample.jsonl --format md --output taken.md",
        1,
        &["taken.md", "already exists", "--force"],
    );
    check(
        &workspace,
        "session export sample.jsonl --format md --output no/such/dir.md",
        1,
        &["dir.md", "does not exist"],
    );
    check(
        &workspace,
        "session export sample.jsonl --format md --output . --force",
        1,
        &["directory"],
    );
    assert_eq!(
        workspace.out("session export sample.jsonl --format md --output taken.md --force"),
        ""
    );
    assert_eq!(
        workspace.read("taken.md"),
        workspace.out("session export sample.jsonl --format md")
    );
    assert_eq!(
        workspace.out("session export sample.jsonl --format html -o new.html"),
        ""
    );
    assert!(workspace.read("new.html").ends_with("</html>\n"));
    workspace.out("session export sample.jsonl --format md --output /dev/null --force");
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
    assert_eq!(
        std::fs::read_dir(workspace.path(".")).unwrap().count(),
        3,
        "nothing temporary stays"
    );
}

#[test]
fn the_terminal_is_not_given_orders_by_a_session() {
    let workspace = Workspace::new();
    let text = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\r\u{8}";
    let label = serde_json::json!({ "type": "label", "id": "b", "parentId": "a", "targetId": "a", "label": text });
    let name =
        serde_json::json!({ "type": "session_info", "id": "c", "parentId": "a", "name": text });
    let lines = [
        message("a", None, text),
        label.to_string(),
        name.to_string(),
    ];
    workspace.write("hostile.jsonl", session("hostile", &lines));
    workspace.out("session import hostile.jsonl");
    for form in [
        "show hostile.jsonl",
        "tree --full hostile.jsonl",
        "context hostile.jsonl",
        "export --format md hostile.jsonl",
        "export --format html hostile.jsonl",
        "list",
    ] {
        let out = workspace.out(&format!("session {form}"));
        let controls = out
            .chars()
            .filter(|char| char.is_control() && !matches!(char, '\n' | '\t'));
        assert_eq!(controls.count(), 0, "{form}: {out:?}");
    }
}
