use super::ContractHarness;
use super::subject::{KEY, assert_conflict, assert_invalid, assert_not_found, by, seeded};
use crate::{Expect, McpSecrets, McpSecretsChange};
use netaclaw_protocol::{
    McpServerSpec, McpTransport, MissingSandbox, RecordKind, SandboxConfig, ToolChoice, ToolStatus,
};
use secrecy::ExposeSecret;

fn spec(name: &str) -> McpServerSpec {
    McpServerSpec {
        name: name.to_owned(),
        transport: McpTransport::Stdio {
            command: "npx".to_owned(),
            args: vec!["-y".to_owned(), "some server".to_owned()],
        },
        status: ToolStatus::Disabled,
        tools: ToolChoice {
            enabled: vec!["read_*".to_owned()],
            disabled: vec!["read_all".to_owned()],
        },
        sandbox: SandboxConfig {
            missing: MissingSandbox::Warn,
            network: true,
        },
        roots: vec!["/srv/数据".to_owned()],
        timeout_ms: 5_000,
    }
}

fn secrets(value: &str) -> McpSecrets {
    [("API_KEY".to_owned(), value.into())].into()
}

pub(super) async fn an_mcp_server_comes_back_as_it_was_kept(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let made = store.create_mcp_server(by(), spec("文件"), secrets(KEY));
    let made = made.await.unwrap();
    assert_eq!((&made.spec, made.stamp.rev), (&spec("文件"), 1));
    assert_eq!(made.secret_names, ["API_KEY"]);
    assert!(!serde_json::to_string(&made).unwrap().contains(KEY));
    let other = harness.open().await;
    assert_eq!(other.mcp_server(&made.id).await.unwrap(), made);
    assert_eq!(other.mcp_server_named("文件").await.unwrap(), made);
    assert_eq!(
        other.mcp_servers().await.unwrap(),
        std::slice::from_ref(&made)
    );
    let (opened, secrets) = other.open_mcp_server(&made.id).await.unwrap();
    assert_eq!(opened, made.spec);
    assert_eq!(secrets["API_KEY"].expose_secret(), KEY);
    let taken = store.create_mcp_server(by(), spec("文件"), McpSecrets::new());
    assert!(taken.await.is_err(), "a name is taken once");
}

pub(super) async fn an_mcp_server_is_changed_and_deleted(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let made = store.create_mcp_server(by(), spec("a"), secrets(KEY));
    let made = made.await.unwrap();
    let (id, keep) = (&made.id, McpSecretsChange::Keep);
    let changed = McpServerSpec {
        timeout_ms: 9_000,
        ..spec("a")
    };
    let update =
        |rev, spec, change| store.update_mcp_server(by(), id, Expect::Rev(rev), spec, change);
    let second = update(1, changed.clone(), keep.clone()).await.unwrap();
    assert_eq!((second.stamp.rev, &second.spec), (2, &changed));
    assert_eq!(second.secret_names, ["API_KEY"]);
    assert_conflict(
        update(1, spec("a"), keep.clone()).await,
        RecordKind::McpServer,
        2,
    );
    let set = [("API_KEY".to_owned(), Some("another".into()))];
    let set = McpSecretsChange::Set(set.into());
    assert_eq!(update(2, changed.clone(), set).await.unwrap().stamp.rev, 3);
    let (_, opened) = store.open_mcp_server(id).await.unwrap();
    assert_eq!(opened["API_KEY"].expose_secret(), "another");
    let more = [
        ("API_KEY".to_owned(), None),
        ("OTHER".to_owned(), Some("more".into())),
    ];
    let more = McpSecretsChange::Set(more.into());
    let both = update(3, changed.clone(), more).await.unwrap();
    assert_eq!(both.secret_names, ["API_KEY", "OTHER"]);
    let (_, opened) = store.open_mcp_server(id).await.unwrap();
    assert_eq!(opened["API_KEY"].expose_secret(), "another");
    let missing = McpSecretsChange::Set([("NEVER_SET".to_owned(), None)].into());
    let refused = update(4, changed.clone(), missing).await;
    assert_invalid(refused, "secrets.NEVER_SET");
    let none = McpSecretsChange::Set(Default::default());
    let bare = update(4, changed, none).await.unwrap();
    assert!(bare.secret_names.is_empty());
    assert!(store.open_mcp_server(id).await.unwrap().1.is_empty());
    store
        .delete_mcp_server(by(), id, Expect::Rev(5))
        .await
        .unwrap();
    assert_not_found(store.mcp_server(id).await);
}

pub(super) async fn an_mcp_server_that_breaks_a_rule_is_not_kept(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let make = |spec| store.create_mcp_server(by(), spec, McpSecrets::new());
    assert_invalid(make(spec("")).await, "name");
    let transport = |transport| McpServerSpec {
        transport,
        ..spec("a")
    };
    let command = String::new();
    let args = Vec::new();
    let bad = transport(McpTransport::Stdio { command, args });
    assert_invalid(make(bad).await, "transport.command");
    for url in ["ftp://x", "https://me:pw@x.example/"] {
        let bad = transport(McpTransport::Http {
            url: url.to_owned(),
        });
        assert_invalid(make(bad).await, "transport.url");
    }
    let bad = McpServerSpec {
        roots: vec!["relative".to_owned()],
        ..spec("a")
    };
    assert_invalid(make(bad).await, "roots");
    let bad: McpSecrets = [("A=B".to_owned(), "x".into())].into();
    assert_invalid(
        store.create_mcp_server(by(), spec("a"), bad).await,
        "secrets",
    );
    assert!(store.mcp_servers().await.unwrap().is_empty());
}
