use crate::{call, call_in};
use netaclaw_tools::ToolOutput;
use netaclaw_tools::contract::context;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use tempfile::TempDir;

/// A small project.
fn project() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in [
        (".gitignore", "target/\n*.log\n!keep.log\n/only-here\n"),
        (".git/config", "needle"),
        (".git/info/exclude", "private.txt\n"),
        (".github/ci.yml", "needle: 1\n"),
        ("README.md", "The needle.\nNothing.\n针在这里\n"),
        ("src/main.rs", "fn main() {\n    needle();\n}\n"),
        ("src/deep/Needle.rs", "struct Needle;\n"),
        ("src/deep/only-here", "needle\n"),
        ("target/debug/main.rs", "needle\n"),
        ("only-here", "needle\n"),
        ("private.txt", "needle\n"),
        ("a.log", "needle\n"),
        ("keep.log", "needle\n"),
    ] {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

async fn output(root: &Path, tool: &str, args: Value) -> ToolOutput {
    call(root, tool, args).await.output
}

async fn text(root: &Path, tool: &str, args: Value) -> String {
    let output = output(root, tool, args).await;
    assert!(!output.is_error, "{output:?}");
    output.joined_text()
}

#[tokio::test]
async fn find_honours_ignore_files_and_sorts() {
    let dir = project();
    assert_eq!(
        text(dir.path(), "find", json!({"pattern": "*"})).await,
        ".github/\n.github/ci.yml\n.gitignore\nREADME.md\nkeep.log\nsrc/\nsrc/deep/\nsrc/deep/\
         Needle.rs\nsrc/deep/only-here\nsrc/main.rs\n"
    );
    assert_eq!(
        text(
            dir.path(),
            "find",
            json!({"pattern": "*.rs", "path": "src"})
        )
        .await,
        "src/deep/Needle.rs\nsrc/main.rs\n"
    );
    assert_eq!(
        text(
            dir.path(),
            "find",
            json!({"pattern": "src/*", "kind": "directory"})
        )
        .await,
        "src/deep/\n"
    );
    assert_eq!(
        text(
            dir.path(),
            "find",
            json!({"pattern": "main.rs", "include_ignored": true})
        )
        .await,
        "src/main.rs\ntarget/debug/main.rs\n"
    );
    assert_eq!(
        text(dir.path(), "find", json!({"pattern": "no-such-*"})).await,
        "No matches.\n"
    );
    // What is named itself is looked into, also if it is ignored.
    assert_eq!(
        text(
            dir.path(),
            "find",
            json!({"pattern": "*.rs", "path": "target"})
        )
        .await,
        "target/debug/main.rs\n"
    );
}

#[tokio::test]
async fn rules_of_directories_above_and_of_inner_repositories_count() {
    let dir = project();
    fs::write(dir.path().join("src/b.log"), "x").unwrap();
    assert_eq!(
        text(
            dir.path(),
            "find",
            json!({"pattern": "*.log", "path": "src"})
        )
        .await,
        "No matches.\n"
    );
    // Another repository inside follows its own rules only.
    fs::create_dir_all(dir.path().join("vendor/.git")).unwrap();
    fs::write(dir.path().join("vendor/c.log"), "x").unwrap();
    assert_eq!(
        text(dir.path(), "find", json!({"pattern": "*.log"})).await,
        "keep.log\nvendor/c.log\n"
    );
    // `.ignore` counts before `.gitignore`.
    fs::write(dir.path().join(".ignore"), "keep.log\n!a.log\n").unwrap();
    assert_eq!(
        text(dir.path(), "find", json!({"pattern": "*.log"})).await,
        "a.log\nvendor/c.log\n"
    );
}

#[tokio::test]
async fn find_comes_in_parts_that_meet() {
    let dir = tempfile::tempdir().unwrap();
    // More names than are held at a time.
    for n in 0..9_000 {
        fs::write(dir.path().join(format!("f{n:04}")), "").unwrap();
    }
    fs::write(dir.path().join(".gitignore"), "f1*\n").unwrap();
    let (mut seen, mut offset) = (Vec::new(), 0);
    loop {
        let args = json!({"pattern": "f*", "offset": offset, "limit": 3000});
        let output = output(dir.path(), "find", args).await;
        let text = output.joined_text();
        let lines = text.lines().filter(|line| !line.starts_with('['));
        seen.extend(lines.map(str::to_owned));
        let details = output.details.unwrap();
        assert_eq!(details["total"], 8_000);
        offset += details["shown"].as_u64().unwrap();
        if offset == 8_000 {
            break;
        }
        assert!(
            text.ends_with(&format!("Continue with offset={offset}.]\n")),
            "{text}"
        );
    }
    let all = (0..9_000).map(|n| format!("f{n:04}"));
    assert_eq!(
        seen,
        all.filter(|name| !name.starts_with("f1"))
            .collect::<Vec<_>>()
    );
    let beyond = json!({"pattern": "*", "offset": 1_000_000});
    assert!(output(dir.path(), "find", beyond).await.is_error);
}

#[tokio::test]
async fn grep_shows_lines_below_their_files() {
    let dir = project();
    assert_eq!(
        text(dir.path(), "grep", json!({"pattern": "needle"})).await,
        ".github/ci.yml\n1:needle: 1\n\nREADME.md\n1:The needle.\n\nkeep.log\n1:needle\n\nsrc/\
         deep/only-here\n1:needle\n\nsrc/main.rs\n2:    needle();\n"
    );
    let args =
        json!({"pattern": "NEEDLE", "ignore_case": true, "glob": "*.rs", "files_only": true});
    assert_eq!(
        text(dir.path(), "grep", args).await,
        "src/deep/Needle.rs\nsrc/main.rs\n"
    );
    let args = json!({"pattern": "needle()", "literal": true, "context": 1, "path": "src"});
    assert_eq!(
        text(dir.path(), "grep", args).await,
        "src/main.rs\n1-fn main() {\n2:    needle();\n3-}\n"
    );
    // A file that is named is searched, also if it is ignored.
    let args = json!({"pattern": "^need", "path": "a.log"});
    assert_eq!(text(dir.path(), "grep", args).await, "a.log\n1:needle\n");
    let args = json!({"pattern": "针在", "path": "README.md"});
    assert_eq!(
        text(dir.path(), "grep", args).await,
        "README.md\n3:针在这里\n"
    );
    let args = json!({"pattern": "nowhere"});
    assert_eq!(text(dir.path(), "grep", args).await, "No matches.\n");
}

#[tokio::test]
async fn grep_says_what_is_wrong_with_a_pattern() {
    let dir = project();
    for pattern in ["(", "a\nb", "(?=x)"] {
        let output = output(dir.path(), "grep", json!({"pattern": pattern})).await;
        assert!(output.is_error, "{pattern}");
        assert!(
            output.joined_text().contains("`pattern` is not valid"),
            "{output:?}"
        );
    }
    for path in ["missing", "../x"] {
        let args = json!({"pattern": "x", "path": path});
        assert!(output(dir.path(), "grep", args).await.is_error);
    }
}

#[tokio::test]
async fn grep_comes_in_parts_that_meet() {
    let dir = tempfile::tempdir().unwrap();
    let mut expected = Vec::new();
    for file in 0..40 {
        let name = format!("d{}/f{file:02}", file % 4);
        fs::create_dir_all(dir.path().join(&name).parent().unwrap()).unwrap();
        fs::write(dir.path().join(&name), "x\ny\nx\n").unwrap();
        expected.extend([format!("{name} 1"), format!("{name} 3")]);
    }
    expected.sort();
    for limit in [1, 7, 79, 80] {
        let (mut seen, mut offset) = (Vec::new(), 0);
        loop {
            let args = json!({"pattern": "x", "offset": offset, "limit": limit});
            let output = output(dir.path(), "grep", args).await;
            let text = output.joined_text();
            let mut file = "";
            for line in text.lines().filter(|line| !line.is_empty()) {
                match line.split_once(':') {
                    Some((number, "x")) => seen.push(format!("{file} {number}")),
                    _ => file = line,
                }
            }
            let details = output.details.unwrap();
            offset += details["shown"].as_u64().unwrap();
            if details["more"] == false {
                break;
            }
        }
        assert_eq!(seen, expected, "limit {limit}");
    }
}

#[tokio::test]
async fn context_keeps_stretches_apart() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a"), "1\nx\n3\n4\n5\n6\nx\n8\n").unwrap();
    let args = json!({"pattern": "x", "context": 1});
    assert_eq!(
        text(dir.path(), "grep", args).await,
        "a\n1-1\n2:x\n3-3\n--\n6-6\n7:x\n8-8\n"
    );
    let args = json!({"pattern": "x", "context": 1, "offset": 1});
    assert_eq!(
        text(dir.path(), "grep", args).await,
        "a\n3-3\n--\n6-6\n7:x\n8-8\n"
    );
}

#[tokio::test]
async fn odd_files_and_names_do_no_harm() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("binary"), b"needle\0needle").unwrap();
    fs::write(at("wide"), b"\xff\xfen\0e\0e\0d\0l\0e\0\n\0").unwrap();
    fs::write(at("latin"), b"caf\xe9 needle\n").unwrap();
    fs::write(dir.path().join(OsStr::from_bytes(b"caf\xe9\n")), "needle").unwrap();
    symlink("latin", at("link")).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), mode).unwrap();
    // Ignore files that never end, or that lead out, count as not there.
    fs::create_dir(at("sub")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, at("sub/.gitignore"), mode).unwrap();
    symlink("/dev/zero", at("sub/.ignore")).unwrap();
    fs::write(at("sub/x"), "needle").unwrap();
    assert_eq!(
        text(dir.path(), "grep", json!({"pattern": "needle"})).await,
        "caf\\xe9\\n\n1:needle\n\nlatin\n1:caf\u{fffd} needle\n\nsub/x\n1:needle\n\nwide\n1:needle\n"
    );
    assert_eq!(
        text(dir.path(), "find", json!({"pattern": "*"})).await,
        "binary\ncaf\\xe9\\n\nlatin\nlink\npipe\nsub/\nsub/.gitignore\nsub/.ignore\nsub/x\nwide\n"
    );
    let output = output(
        dir.path(),
        "grep",
        json!({"pattern": "needle", "path": "binary"}),
    )
    .await;
    assert!(output.is_error && output.joined_text().contains("binary file"));
}

#[tokio::test]
async fn what_cannot_be_read_is_counted() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a"), "needle\n").unwrap();
    fs::create_dir(dir.path().join("locked")).unwrap();
    fs::write(dir.path().join("secret"), "needle\n").unwrap();
    for name in ["locked", "secret"] {
        let none = fs::Permissions::from_mode(0o000);
        fs::set_permissions(dir.path().join(name), none).unwrap();
    }
    let text = text(dir.path(), "grep", json!({"pattern": "needle"})).await;
    match fs::read(dir.path().join("secret")) {
        // An account that may read everything is not affected by permissions.
        Ok(_) => assert_eq!(text, "a\n1:needle\n\nsecret\n1:needle\n"),
        Err(_) => assert_eq!(
            text,
            "a\n1:needle\n[2 files or directories could not be read.]\n"
        ),
    }
    let open = fs::Permissions::from_mode(0o700);
    fs::set_permissions(dir.path().join("locked"), open).unwrap();
}

/// 500 MB of zeros, of text, and on a single line.
#[tokio::test]
async fn half_a_gigabyte_is_searched_without_holding_it() {
    let dir = tempfile::tempdir().unwrap();
    for (name, head) in [("zeros", "needle\n"), ("line", "x")] {
        fs::write(dir.path().join(name), head).unwrap();
        let file = fs::OpenOptions::new()
            .write(true)
            .open(dir.path().join(name))
            .unwrap();
        file.set_len(500 << 20).unwrap();
    }
    fs::write(dir.path().join("long"), "y".repeat(20 << 20)).unwrap();
    let before = peak_memory_kb();
    let output = output(dir.path(), "grep", json!({"pattern": "needle|y$"})).await;
    assert!(!output.is_error);
    assert_eq!(
        output.joined_text(),
        "No matches.\n[1 files have lines that are too long for this pattern.]\n"
    );
    assert!(
        peak_memory_kb() - before < 60_000,
        "{} kB more",
        peak_memory_kb() - before
    );
}

/// The same for one directory with very many files, of which one page is wanted.
#[tokio::test]
async fn a_huge_directory_is_gone_through_without_holding_it() {
    const FILES: usize = 30_000;
    let dir = tempfile::tempdir().unwrap();
    for n in 0..FILES {
        fs::File::create(dir.path().join(format!("{n:05}.txt"))).unwrap();
    }
    fs::write(dir.path().join("29999.txt"), "needle\n").unwrap();
    let before = peak_memory_kb();
    for (tool, args) in [
        ("ls", json!({"limit": 10})),
        ("find", json!({"pattern": "*.txt", "limit": 10})),
    ] {
        let output = output(dir.path(), tool, args).await;
        let text = output.joined_text();
        assert!(
            text.contains("1 to 10 of 30000. Continue with offset=10."),
            "{text}"
        );
        assert_eq!(output.details.unwrap()["total"], FILES);
    }
    let found = text(dir.path(), "grep", json!({"pattern": "needle"})).await;
    assert_eq!(found, "29999.txt\n1:needle\n");
    let grown = peak_memory_kb() - before;
    assert!(grown < 20_000, "{grown} kB more");
}

#[tokio::test]
async fn stopping_keeps_what_was_found() {
    let dir = project();
    let context = context(dir.path());
    context.cancel.cancel();
    let executed = call_in(context, "grep", json!({"pattern": "needle"})).await;
    assert_eq!(executed.ending, netaclaw_tools::Ending::Cancelled);
    assert!(executed.output.joined_text().contains("cancelled"));
}

/// A short pattern that compiles to a large automaton.
#[tokio::test]
async fn a_pattern_that_costs_too_much_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a"), "a".repeat(60_000)).unwrap();
    let before = peak_memory_kb();
    for pattern in ["((a{1,100}){1,100}){1,100}x", r"(\w{1,200}){1,200}x"] {
        let output = output(dir.path(), "grep", json!({"pattern": pattern})).await;
        assert!(output.is_error);
        let text = output.joined_text();
        assert!(text.contains("too expensive"), "{text}");
        assert!(text.contains("Use smaller counts"), "{text}");
    }
    let grown = peak_memory_kb() - before;
    assert!(grown < 50_000, "{grown} kB more");
    for (tool, key) in [("find", "pattern"), ("grep", "glob")] {
        let nested = format!("{}a{}", "{".repeat(400), "}".repeat(400));
        let mut args = json!({ "pattern": "a" });
        args[key] = nested.into();
        let executed = call(dir.path(), tool, args).await;
        assert_eq!(executed.ending, netaclaw_tools::Ending::Finished);
        assert!(executed.output.joined_text().contains("braces"));
    }
}

/// The most that a pattern may cost, on a large file: a stop ends the thread, not just the call.
#[tokio::test]
async fn a_stop_ends_a_search_in_the_middle_of_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let large = dir.path().join("large");
    let line = "a".repeat(99) + "\n";
    fs::write(&large, line.repeat(1_000_000)).unwrap();
    let (ends, ended) = tokio::sync::oneshot::channel::<()>();
    let mut context = context(dir.path());
    // Dropped with what the thread holds.
    context.updates = netaclaw_tools::Updates::new(move |_| assert!(!ends.is_closed()));
    let stop = context.cancel.clone();
    let args = json!({"pattern": "(?:a{0,110}){0,110}b"});
    let called = tokio::spawn(call_in(context, "grep", args));
    while !has_open(&large) {
        assert!(!called.is_finished(), "{:?}", called.await);
        tokio::task::yield_now().await;
    }
    stop.cancel();
    let executed = called.await.unwrap();
    assert_eq!(executed.ending, netaclaw_tools::Ending::Cancelled);
    // The sender was dropped without a word: the thread has ended.
    assert!(ended.await.is_err());
    assert!(!has_open(&large));
}

fn has_open(path: &Path) -> bool {
    let open = fs::read_dir("/proc/self/fd").unwrap();
    open.filter_map(|fd| fs::read_link(fd.unwrap().path()).ok())
        .any(|target| target == path)
}

/// The most memory this process ever had.
fn peak_memory_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    number.unwrap_or(0)
}
