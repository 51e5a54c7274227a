//! `tool`, with the real binary.

use crate::support::Workspace;

fn workspace() -> Workspace {
    let mut workspace = Workspace::new();
    workspace.set("OLLAMA_HOST", "127.0.0.1:1");
    workspace
}

#[test]
fn tools_are_listed_shown_and_switched() {
    let workspace = workspace();
    let table = workspace.out("tool list");
    let row = |table: &str, name: &str| {
        let mut rows = table
            .lines()
            .map(|row| row.split_whitespace().collect::<Vec<_>>());
        rows.find(|row| row.first() == Some(&name))
            .unwrap()
            .join(" ")
    };
    assert!(
        row(&table, "ls").ends_with("read enabled by default"),
        "{table}"
    );
    let json = workspace.json("tool list --json");
    let tools = json.as_array().unwrap();
    assert!(
        tools
            .iter()
            .all(|tool| tool["source"] == "builtin" && tool["present"] == true)
    );

    assert_eq!(
        workspace.out("tool disable ls"),
        "tool ls: disabled for all agents\n"
    );
    let shown = workspace.out("tool show ls");
    assert!(
        shown.contains("default  disabled  an administrator disabled it for all agents"),
        "{shown}"
    );
    let zh = workspace.out("--lang zh tool show ls");
    assert!(zh.contains("管理员已为所有智能体停用"), "{zh}");
    let detail = workspace.json("tool show ls --json");
    assert_eq!(detail["agents"][0]["diagnostic"]["code"], "off_globally");

    workspace.out("tool enable ls");
    assert_eq!(
        workspace.json("tool show ls --json")["tool"]["status"],
        "enabled"
    );
    workspace.out("tool reset ls");
    assert!(
        workspace.json("tool show ls --json")["tool"]
            .get("status")
            .is_none()
    );

    let unknown = workspace.run("tool disable laser");
    assert_eq!(unknown.code, 1);
    assert!(
        unknown
            .err
            .starts_with("netaclaw: tool \"laser\": it does not exist"),
        "{}",
        unknown.err
    );
    let near = workspace.run("tool show raed");
    assert!(near.err.contains("read"), "{}", near.err);
    let shown = workspace.out("tool show bash");
    let own = "starting programs is disabled here";
    assert!(!shown.contains(own), "what a server does counts: {shown}");
    let unknown = workspace.run("tool show laser");
    assert!(
        unknown.err.contains("`netaclaw tool list`"),
        "{}",
        unknown.err
    );
}

#[test]
fn a_tool_says_how_far_its_programs_are_confined() {
    let mut workspace = workspace();
    workspace.set("NETACLAW_USER_NAMESPACES", "off");
    let isolation = |tool: &str| {
        let detail = workspace.json(&format!("tool show {tool} --json"));
        detail["tool"]["isolation"].clone()
    };
    assert_eq!(isolation("bash"), "off");
    assert!(isolation("ls").is_null());
}
