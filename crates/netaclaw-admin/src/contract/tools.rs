use super::ContractHarness;
use super::subject::{assert_conflict, assert_not_found, by, seeded};
use crate::{BUILTIN_TOOLS, Expect, KnownTool, ToolSync, global_status};
use netaclaw_protocol::{AuditAction, RecordKind, ToolCategory, ToolLabel, ToolRisk, ToolStatus};

pub(super) fn known(name: &str, risk: ToolRisk) -> KnownTool {
    KnownTool {
        name: name.to_owned(),
        label: ToolLabel {
            zh: "工具 🦀".to_owned(),
            en: format!("Tool {name}"),
        },
        category: ToolCategory::Files,
        risk,
    }
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

pub(super) async fn tools_are_known_since_they_were_first_there(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    assert!(store.tools().await.unwrap().is_empty());
    let tools = [
        known("write", ToolRisk::Write),
        known("read", ToolRisk::Read),
    ];
    let sync = store.sync_tools(by(), BUILTIN_TOOLS, &tools).await.unwrap();
    let added = names(&["write", "read"]);
    assert_eq!(
        sync,
        ToolSync {
            added,
            ..ToolSync::default()
        }
    );
    let audited = store.audit(1, 1).await.unwrap().total;
    let again = harness.open().await;
    let nothing = again.sync_tools(by(), BUILTIN_TOOLS, &tools).await.unwrap();
    assert_eq!(nothing, ToolSync::default());
    assert_eq!(again.audit(1, 1).await.unwrap().total, audited);
    let kept = again.tools().await.unwrap();
    let told: Vec<_> = kept
        .iter()
        .map(|tool| (tool.name.as_str(), tool.risk, tool.present, tool.status))
        .collect();
    assert_eq!(
        told,
        [
            ("read", ToolRisk::Read, true, None),
            ("write", ToolRisk::Write, true, None)
        ]
    );
    assert_eq!((kept[0].source.as_str(), kept[0].stamp.rev), ("builtin", 1));
    assert_eq!(kept[0].label, tools[1].label);

    // A tool may come to be called otherwise, or to be dangerous.
    let worse = [
        known("write", ToolRisk::Exec),
        known("read", ToolRisk::Read),
    ];
    again.sync_tools(by(), BUILTIN_TOOLS, &worse).await.unwrap();
    let write = store.tool("write").await.unwrap();
    assert_eq!((write.risk, write.stamp.rev), (ToolRisk::Exec, 2));
    assert_not_found(store.tool("wirte").await);
}

pub(super) async fn a_switch_outlives_its_tool(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let tools = [known("bash", ToolRisk::Exec), known("read", ToolRisk::Read)];
    store.sync_tools(by(), BUILTIN_TOOLS, &tools).await.unwrap();
    let off = Some(ToolStatus::Disabled);
    let switched = store.switch_tool(by(), "bash", Expect::Any, off);
    assert_eq!(switched.await.unwrap().status, off);
    let page = store.audit(1, 1).await.unwrap();
    let act = &page.items[0];
    assert_eq!(
        (
            act.action,
            act.kind,
            act.target_name.as_str(),
            act.fields.join(" ").as_str()
        ),
        (AuditAction::Update, RecordKind::Tool, "bash", "status")
    );

    let gone = store.sync_tools(by(), BUILTIN_TOOLS, &tools[1..]).await;
    assert_eq!(gone.unwrap().gone, names(&["bash"]));
    let bash = harness.open().await.tool("bash").await.unwrap();
    assert_eq!((bash.present, bash.status), (false, off));
    let back = store.sync_tools(by(), BUILTIN_TOOLS, &tools).await;
    assert_eq!(back.unwrap().back, names(&["bash"]));
    let all = store.tools().await.unwrap();
    assert!(all[0].present && global_status(&all).len() == 1);
    assert_eq!(global_status(&all)["bash"], ToolStatus::Disabled);

    let unset = store.switch_tool(by(), "bash", Expect::Any, None).await;
    assert_eq!(unset.unwrap().status, None);
    assert!(global_status(&store.tools().await.unwrap()).is_empty());
}

pub(super) async fn a_switch_is_set_only_at_the_expected_revision(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let tools = [known("bash", ToolRisk::Exec)];
    store.sync_tools(by(), BUILTIN_TOOLS, &tools).await.unwrap();
    let set = |rev, status| store.switch_tool(by(), "bash", Expect::Rev(rev), status);
    let off = Some(ToolStatus::Disabled);
    assert_eq!(set(1, off).await.unwrap().stamp.rev, 2);
    assert_conflict(set(1, None).await, RecordKind::Tool, 2);
    assert_eq!(store.tool("bash").await.unwrap().status, off);
    // Setting the same value is not a change.
    assert_eq!(set(2, off).await.unwrap().stamp.rev, 2);
    let unknown = store.switch_tool(by(), "bahs", Expect::Any, off);
    assert_not_found(unknown.await);
}

pub(super) async fn sources_keep_to_their_own_tools(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let builtin = [known("read", ToolRisk::Read)];
    store
        .sync_tools(by(), BUILTIN_TOOLS, &builtin)
        .await
        .unwrap();
    let server = [known("mcp__a__look", ToolRisk::Network)];
    store.sync_tools(by(), "mcp:a", &server).await.unwrap();
    let nothing = store.sync_tools(by(), BUILTIN_TOOLS, &builtin).await;
    assert_eq!(nothing.unwrap(), ToolSync::default());
    let down = store.sync_tools(by(), "mcp:a", &[]).await.unwrap();
    assert_eq!(down.gone, names(&["mcp__a__look"]));
    assert!(store.tool("read").await.unwrap().present);
}
