//! `doctor`: one line for each thing that was looked at, and nothing made or changed.

use crate::golden::check;
use crate::support::{SAMPLE, Workspace};
use netaclaw_testkit::MariaDb;
use netaclaw_testkit::fake_model::FakeModel;
use serde_json::Value;
use std::fs::Permissions;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

/// A workspace whose server would listen on a port that is free.
fn alone() -> Workspace {
    let mut workspace = Workspace::new();
    workspace.set("OLLAMA_HOST", "127.0.0.1:1");
    workspace.set("NETACLAW_LISTEN", "127.0.0.1:0");
    workspace
}

fn found(workspace: &Workspace, arguments: &str) -> (i32, Value) {
    let ran = workspace.run(&format!("doctor --json {arguments}"));
    assert_eq!(ran.err, "");
    (ran.code, serde_json::from_str(&ran.out).unwrap())
}

/// The checks of one kind: level and words.
fn of(report: &Value, kind: &str) -> Vec<(String, String)> {
    let checks = report["checks"].as_array().unwrap().iter();
    let text = |check: &Value, name: &str| check[name].as_str().unwrap_or_default().to_owned();
    checks
        .filter(|check| check["check"] == kind)
        .map(|check| {
            let words = ["what", "message", "todo"].map(|name| text(check, name));
            (text(check, "level"), words.join("; "))
        })
        .collect()
}

#[track_caller]
fn assert_found(report: &Value, kind: &str, level: &str, part: &str) {
    let checks = of(report, kind);
    let fits = |(is, words): &(String, String)| is == level && words.contains(part);
    assert!(checks.iter().any(fits), "{kind}: {checks:?}");
}

/// What differs between machines and times, made the same.
fn same_everywhere(workspace: &Workspace, out: &str) -> String {
    let dir = workspace.path("").display().to_string();
    let out = out.replace(dir.trim_end_matches('/'), "DIR");
    let lines = out.lines().map(|line| {
        let words = line.split(' ').collect::<Vec<_>>();
        let words = words.iter().enumerate().map(|(at, word)| {
            let unit = words.get(at + 1).copied().unwrap_or_default();
            let is_amount = unit.starts_with("GB")
                || unit.starts_with("MB")
                || unit.starts_with("ms")
                || unit.starts_with("毫秒");
            match word
                .trim_start_matches(|char: char| !char.is_ascii_digit())
                .parse::<u64>()
            {
                Ok(number) if is_amount => word.replace(&number.to_string(), "N"),
                _ => (*word).to_owned(),
            }
        });
        words.collect::<Vec<_>>().join(" ")
    });
    // What the kernel offers, and who runs the test, is the machine's affair.
    let machine = [
        "Landlock",
        "namespaces:",
        "命名空间",
        "account:",
        "运行账户",
    ];
    let lines = lines.filter(|line| !machine.iter().any(|word| line.contains(word)));
    let lines = lines.map(
        |line| match line.find("warnings: ").or(line.find("警告：")) {
            Some(at) => line[..at].to_owned() + "N warnings",
            None => line,
        },
    );
    lines.collect::<Vec<_>>().join("\n").replace("GB", "MB") + "\n"
}

#[test]
fn the_forms_for_people() {
    let mut workspace = alone();
    workspace.set("NETACLAW_LISTN", "127.0.0.1:7400");
    let new = workspace.run("doctor");
    assert_eq!(new.code, 0, "{}", new.out);
    check("doctor.new.txt", &same_everywhere(&workspace, &new.out));
    assert!(!workspace.path("home").exists());

    workspace.out("channel add away --supplier ollama --model m --default");
    workspace.set("NETACLAW_LISTEN", "nowhere");
    workspace.write("home/.netaclaw/sessions/--a--/b_broken.jsonl", "{torn");
    workspace.write("home/.netaclaw/sessions/--a--/a_good.jsonl", SAMPLE);
    for (name, arguments) in [
        ("doctor.txt", "doctor --offline"),
        ("doctor.zh.txt", "doctor --offline --lang zh"),
    ] {
        let ran = workspace.run(arguments);
        assert_eq!(ran.code, 1, "{}", ran.out);
        check(name, &same_everywhere(&workspace, &ran.out));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn channels_are_asked_unless_they_must_not_be() {
    let fake = FakeModel::start().await;
    fake.script().set_models(["alpha"]);
    fake.script().set_key("right");
    let mut workspace = alone();
    workspace.set("RIGHT", "right");
    workspace.set("WRONG", "wrong");
    let add = |name: &str, key: &str, more: &str| {
        workspace.out(&format!(
            "channel add {name} --supplier openai --base-url {} --api-key-env {key} {more}",
            fake.openai_url()
        ))
    };
    add("good", "RIGHT", "--model alpha");
    add("old", "RIGHT", "--model omega");
    add("wrong", "WRONG", "--model alpha");
    let (code, report) = found(&workspace, "");
    assert_eq!(code, 0, "no agent uses the wrong one");
    assert_found(&report, "channel", "ok", "good; available");
    assert_found(
        &report,
        "channel",
        "warn",
        "the supplier does not offer: omega",
    );
    assert_found(&report, "channel", "warn", "API key");
    add("wrong", "WRONG", "--default");
    let (code, report) = found(&workspace, "");
    assert_eq!((code, &report["failures"]), (1, &1.into()));
    assert_found(&report, "channel", "fail", "netaclaw channel test wrong");

    let asked = fake.script().requests().len();
    let (code, report) = found(&workspace, "--offline");
    assert_eq!((code, fake.script().requests().len()), (0, asked));
    assert_found(&report, "channel", "info", "--offline");
}

#[test]
fn a_running_server_is_distinguished_from_another_program() {
    let mut workspace = alone();
    let mut serve = workspace.command("serve --listen 127.0.0.1:0");
    let mut server = serve.stdout(Stdio::piped()).spawn().unwrap();
    let mut ready = String::new();
    let mut out = BufReader::new(server.stdout.take().unwrap());
    out.read_line(&mut ready).unwrap();
    let address = ready.split("http://").nth(1).unwrap();
    let address = address.split_whitespace().next().unwrap().to_owned();
    workspace.set("NETACLAW_LISTEN", &address);
    let (code, report) = found(&workspace, "");
    assert_eq!(code, 0, "{report}");
    assert_found(
        &report,
        "listen",
        "ok",
        "is running here and accepts this token",
    );
    workspace.set("NETACLAW_TOKEN", "of-another-server");
    assert_found(
        &found(&workspace, "").1,
        "listen",
        "warn",
        "does not accept",
    );
    server.kill().unwrap();
    server.wait().unwrap();

    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    workspace.set("NETACLAW_LISTEN", &other.local_addr().unwrap().to_string());
    // Nothing that listens there and hangs up is a NetaClaw.
    let hangs_up = std::thread::spawn(move || drop(other.accept().map(drop)));
    let (code, report) = found(&workspace, "--offline");
    assert_eq!(code, 1);
    assert_found(
        &report,
        "listen",
        "fail",
        "another program is listening there",
    );
    hangs_up.join().unwrap();
    workspace.set("NETACLAW_LISTEN", "nowhere");
    assert_found(
        &found(&workspace, "--offline").1,
        "listen",
        "fail",
        "127.0.0.1:7300",
    );
}

#[test]
fn secrets_that_others_may_read_or_that_are_gone_are_mentioned() {
    let workspace = alone();
    workspace.out("channel list");
    let key = workspace.path("home/.netaclaw/secret.key");
    std::fs::set_permissions(&key, Permissions::from_mode(0o644)).unwrap();
    workspace.write("home/.netaclaw/access.token", "secret");
    let token = workspace.path("home/.netaclaw/access.token");
    std::fs::set_permissions(&token, Permissions::from_mode(0o640)).unwrap();
    let (code, report) = found(&workspace, "--offline");
    // The machine and the account that runs the test may have more to be warned of.
    assert!(code == 0 && report["warnings"].as_u64() >= Some(2));
    assert_found(&report, "secret_key", "warn", "chmod 600");
    assert_found(&report, "access_token", "warn", "mode 0640");

    std::fs::remove_file(&key).unwrap();
    let (code, report) = found(&workspace, "--offline");
    assert_eq!(code, 1);
    assert_found(&report, "secret_key", "fail", "is missing");
    assert!(!key.exists(), "no new one was made");
}

#[test]
fn settings_and_stores_that_cannot_be_used_are_failures() {
    let mut workspace = alone();
    workspace.write("bad.toml", "[sessions]\nprovidr = 'file'\n");
    let (code, report) = found(&workspace, "--config bad.toml");
    assert_eq!(code, 1);
    assert_found(
        &report,
        "configuration",
        "fail",
        "line 2: unknown field `providr`",
    );
    workspace.write("file", "");
    assert_found(
        &found(&workspace, "--data-dir file").1,
        "data_directory",
        "fail",
        "not a directory",
    );
    workspace.write(
        "data/netaclaw.db",
        "this is no database, and it is long enough to show it",
    );
    let (code, report) = found(&workspace, "--data-dir data --offline");
    assert_eq!(code, 1);
    assert_found(&report, "admin_store", "fail", "file is not a database");
    workspace.set("NETACLAW_SESSION_PROVIDER", "mysql");
    assert_found(
        &found(&workspace, "").1,
        "session_database",
        "fail",
        "NETACLAW_MYSQL_URL",
    );
    workspace.set("NETACLAW_MYSQL_URL", "mysql://neta:s3cret@127.0.0.1:1/neta");
    let (_, report) = found(&workspace, "");
    assert_found(&report, "session_database", "fail", "127.0.0.1:1");
    assert!(!report.to_string().contains("s3cret"), "{report}");
}

#[test]
fn a_database_is_looked_at_and_left_as_it_is() {
    let server = MariaDb::start().unwrap();
    let database = server.fresh_database().unwrap();
    let mut workspace = alone();
    workspace.set("NETACLAW_ADMIN_STORE", "mysql");
    workspace.set("NETACLAW_SESSION_PROVIDER", "mysql");
    workspace.set("NETACLAW_MYSQL_URL", &database.url());
    for _ in 0..2 {
        let (code, report) = found(&workspace, "");
        assert_eq!(code, 0, "{report}");
        assert_found(&report, "admin_store", "ok", "does not exist yet");
        assert_found(&report, "session_database", "ok", "does not exist yet");
    }
    workspace.out("channel list");
    workspace.out("session list");
    let (code, report) = found(&workspace, "");
    assert_eq!(code, 0, "{report}");
    assert_found(&report, "admin_store", "ok", "up to date");
    assert_found(&report, "session_database", "ok", "up to date");
    assert_found(&report, "channel", "ok", "demo; available");
}

#[test]
fn an_mcp_server_that_is_enabled_and_down_is_a_failure_with_its_reason() {
    let workspace = alone();
    workspace.out("mcp add down --url http://127.0.0.1:1/mcp");
    workspace.out("mcp add absent -- /no/such/program");
    let (code, report) = found(&workspace, "");
    assert_eq!((code, &report["failures"]), (1, &2.into()), "{report}");
    assert_found(&report, "mcp_server", "fail", "MCP server down");
    assert_found(&report, "mcp_server", "fail", "netaclaw mcp test absent");
    let chinese = workspace.run("doctor --lang zh").out;
    assert!(chinese.contains("MCP 服务器 down：无法连接"), "{chinese}");
    assert!(!chinese.contains("未发现问题"), "{chinese}");

    let (code, report) = found(&workspace, "--offline");
    assert_eq!(code, 0, "{report}");
    assert_found(&report, "mcp_server", "info", "--offline");
    workspace.out("mcp disable down");
    workspace.out("mcp disable absent");
    let (code, report) = found(&workspace, "");
    assert_eq!((code, &report["failures"]), (0, &0.into()), "{report}");
    assert_found(&report, "mcp_server", "info", "disabled");
}
