//! `agent`, with the real binary.

use crate::support::Workspace;
use std::os::unix::fs::PermissionsExt;

fn workspace() -> Workspace {
    let mut workspace = Workspace::new();
    workspace.set("OLLAMA_HOST", "127.0.0.1:1");
    workspace
}

/// An editor that does with the file what the script says; `$1` is the file.
fn set_editor(workspace: &mut Workspace, script: &str) {
    workspace.write("editor", format!("#!/bin/sh\n{script}\n"));
    let path = workspace.path("editor");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    workspace.set("EDITOR", path.to_str().unwrap());
    workspace.set("PATH", "/usr/bin:/bin");
    workspace.set("TMPDIR", workspace.path("").to_str().unwrap());
}

#[test]
fn agents_are_listed_and_shown() {
    let workspace = workspace();
    let table = workspace.out("agent list");
    assert_eq!(
        table,
        "name     label    default  model\ndefault  General  *        demo, demo\n"
    );
    let shown = workspace.out("agent show default");
    for part in [
        "at 70%, keeps 4 messages",
        "demo, demo, thinking off",
        "You are",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
    let json = workspace.json("agent show default --json");
    assert_eq!(json, workspace.json("agent list --json")[0]);
    assert_eq!(
        (&json["rev"], &json["isDefault"]),
        (&1.into(), &true.into())
    );
    let chinese = workspace.out("--lang zh agent show default");
    assert!(chinese.contains("达到 70% 时"), "{chinese}");
    let unknown = workspace.run("agent show defualt");
    assert_eq!(unknown.code, 1);
    assert_eq!(
        unknown.err,
        "netaclaw: agent \"defualt\": it does not exist; did you mean default?\n"
    );
}

#[test]
fn fields_are_set_by_name() {
    let workspace = workspace();
    let out = workspace.out(
        "agent edit default --set label=Allrounder --set modelConfig.temperature=0.3 \
         --set skills=[\"pdf\"] --set sessionProvider=redis",
    );
    assert_eq!(out, "agent default: changed, revision 2\n");
    let agent = workspace.json("agent show default --json");
    assert_eq!(agent["label"], "Allrounder");
    assert_eq!(agent["modelConfig"]["temperature"], 0.3);
    assert_eq!(agent["skills"][0], "pdf");
    let shown = workspace.run("agent show default");
    assert!(
        shown.err.contains("unknown session provider redis"),
        "{}",
        shown.err
    );
    let same = workspace.out("agent edit default --set label=Allrounder");
    assert_eq!(same, "agent default: no changes\n");

    for (set, part) in [
        (
            "compactionThreshold=101",
            "compactionThreshold: must be from 0 to 100",
        ),
        (
            "compactionKeepRecent=1",
            "compactionKeepRecent: must be from 2 to 20",
        ),
        (
            "labell=x",
            "labell: there is no such field; did you mean \"label\"?",
        ),
        (
            "modelConfig.channelId=nowhere",
            "there is no channel \"nowhere\"",
        ),
        ("isDefault=false", "one agent must be the default"),
        ("label", "it does not have the form field=value"),
    ] {
        let ran = workspace.run(&format!("agent edit default --set {set}"));
        assert_eq!((ran.code, ran.err.lines().count()), (1, 1));
        assert!(ran.err.contains(part), "{}", ran.err);
    }
    let chinese = workspace.run("--lang zh agent edit default --set compactionThreshold=101");
    assert!(
        chinese.err.contains("须在 0 到 100 之间"),
        "{}",
        chinese.err
    );
    assert_eq!(workspace.json("agent show default --json"), agent);
}

#[test]
fn another_channel_does_not_keep_the_model_of_the_one_before() {
    let workspace = workspace();
    workspace.out("channel add c --supplier ollama --model small --model big --default");
    workspace.out("agent edit default --set modelConfig.model=big");
    workspace.out("agent edit default --set modelConfig.channelId=demo");
    let agent = workspace.json("agent show default --json");
    assert_eq!(agent["modelConfig"]["model"], serde_json::Value::Null);
    assert!(workspace.out("agent list").contains("demo, demo"));
}

#[test]
fn an_agent_is_edited_as_text() {
    let mut workspace = workspace();
    set_editor(
        &mut workspace,
        r#"sed -i 's/General/Edited 编辑/; s/^channelId.*$/channelId = "demo"/' "$1""#,
    );
    let out = workspace.out("agent edit default");
    assert_eq!(out, "agent default: changed, revision 2\n");
    assert_eq!(
        workspace.json("agent show default --json")["label"],
        "Edited 编辑"
    );
    set_editor(&mut workspace, "true");
    let out = workspace.out("agent edit default");
    assert_eq!(out, "agent default: no changes\n");
    set_editor(&mut workspace, "exit 3");
    let failed = workspace.run("agent edit default");
    assert_eq!(failed.code, 1);
    assert!(
        failed.err.contains("it exited with an error"),
        "{}",
        failed.err
    );
}

#[test]
fn without_an_editor_or_a_terminal_it_says_so() {
    let refused = workspace().run("agent edit default");
    assert_eq!(refused.code, 1);
    assert!(
        refused.err.contains("set EDITOR, or use --set"),
        "{}",
        refused.err
    );
}

/// The text that could not be saved.
fn kept(err: &str) -> String {
    let at = err.find("is saved in ").unwrap();
    let path = err[at + "is saved in ".len()..].lines().next().unwrap();
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn no_work_is_lost() {
    let mut workspace = workspace();
    set_editor(
        &mut workspace,
        r#"sed -i 's/compactionThreshold = 70/compactionThreshold = 700/' "$1""#,
    );
    let wrong = workspace.run("agent edit default");
    assert_eq!(wrong.code, 1);
    assert!(
        wrong
            .err
            .contains("compactionThreshold: must be from 0 to 100"),
        "{}",
        wrong.err
    );
    assert!(kept(&wrong.err).contains("= 700"), "{}", wrong.err);

    // While one person edits, another one changes the agent.
    let binary = env!("CARGO_BIN_EXE_netaclaw");
    set_editor(
        &mut workspace,
        &format!(
            r#"sed -i 's/General/Mine/' "$1"; "{binary}" agent edit default --set label=Theirs >/dev/null"#
        ),
    );
    let late = workspace.run("agent edit default");
    assert_eq!(late.code, 1);
    assert!(
        late.err
            .contains("it was changed elsewhere, from revision 1 to 2"),
        "{}",
        late.err
    );
    assert!(kept(&late.err).contains("Mine"), "{}", late.err);
    assert_eq!(
        workspace.json("agent show default --json")["label"],
        "Theirs"
    );
}

#[test]
fn a_workspace_around_or_inside_the_data_directory_is_refused() {
    let workspace = workspace();
    std::fs::create_dir_all(workspace.path("home/project")).unwrap();
    std::os::unix::fs::symlink(workspace.path("home"), workspace.path("link")).unwrap();
    for (field, place) in [
        ("workspace", "home"),
        ("workspace", "home/.netaclaw"),
        ("workspace", "home/.netaclaw/sessions"),
        ("workspace", "link"),
        ("extraRoots", "home"),
    ] {
        let path = workspace.path(place).display().to_string();
        let value = match field {
            "workspace" => path,
            _ => format!("[\"{path}\"]"),
        };
        // The first command makes the data directory.
        workspace.out("agent list");
        let refused = workspace.run(&format!("agent edit default --set {field}={value}"));
        assert_eq!(refused.code, 1, "{field} {place}: {}", refused.err);
        let part = "must not contain the data directory";
        assert!(refused.err.contains(part), "{}", refused.err);
        let chinese = workspace.run(&format!(
            "--lang zh agent edit default --set {field}={value}"
        ));
        assert!(
            chinese.err.contains("不能包含服务器的数据目录"),
            "{}",
            chinese.err
        );
    }
    let apart = workspace.path("home/project").display().to_string();
    workspace.out(&format!("agent edit default --set workspace={apart}"));
}

#[test]
fn a_workspace_that_does_not_exist_is_refused_with_its_path() {
    let workspace = workspace();
    workspace.write("home/file", "text");
    let missing = workspace.path("home/no/such").display().to_string();
    let file = workspace.path("home/file").display().to_string();
    for (value, en, zh) in [
        (&missing, "does not exist on the server", "服务器上没有目录"),
        (&file, "is not a directory", "不是目录"),
    ] {
        for set in [
            format!("workspace={value}"),
            format!("extraRoots=[\"{value}\"]"),
        ] {
            let command = format!("agent edit default --set {set}");
            let refused = workspace.run(&command);
            assert_eq!(refused.code, 1, "{set}: {}", refused.err);
            assert!(refused.err.contains(en), "{}", refused.err);
            assert!(refused.err.contains(value.as_str()), "{}", refused.err);
            let chinese = workspace.run(&format!("--lang zh {command}"));
            assert!(chinese.err.contains(zh), "{}", chinese.err);
        }
    }
    std::fs::create_dir_all(&missing).unwrap();
    workspace.out(&format!("agent edit default --set workspace={missing}"));
}
