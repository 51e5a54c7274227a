//! Tools over REST: the catalog, the global setting, and which agents use what.

use crate::http::{plain, request};
use crate::whole::{Home, Whole};
use netaclaw_testkit::fake_model::FakeModel;
use serde_json::{Value, json};
use std::net::SocketAddr;

async fn get(address: SocketAddr, path: &str) -> Value {
    request(address, "GET", path).send().await.json()
}

#[tokio::test]
async fn a_global_tool_setting_applies_to_all_agents_with_its_reason() {
    let dir = tempfile::tempdir().unwrap();
    let model = FakeModel::start().await;
    let home = Home::prepared(dir.path(), &model, None).await;
    let server = Whole::start(&home).await;
    let address = server.address;

    let tools = get(address, "/admin/netaclaw/tools").await;
    let ls = tools["items"].as_array().unwrap();
    let ls = ls.iter().find(|tool| tool["name"] == "ls").unwrap();
    assert_eq!(
        (
            &ls["source"],
            &ls["present"],
            &ls["onByDefault"],
            &ls["rev"]
        ),
        (&json!("builtin"), &json!(true), &json!(true), &json!(1))
    );
    assert!(ls["schema"]["properties"].is_object() && ls.get("status").is_none());

    const LS: &str = "/admin/netaclaw/tools/ls";
    let off = request(address, "PATCH", LS)
        .header("if-match", "\"1\"")
        .json(json!({"status": "disabled"}))
        .send()
        .await;
    assert_eq!((off.status, off.header("etag")), (200, "\"2\""));
    let stale = request(address, "PATCH", LS)
        .header("if-match", "\"1\"")
        .json(json!({"status": null}))
        .send()
        .await;
    assert_eq!(stale.status, 412);
    let nothing = request(address, "PATCH", LS).json(json!({})).send().await;
    assert_eq!(nothing.status, 400);

    let detail = get(address, LS).await;
    let user = &detail["agents"][0];
    assert_eq!(
        (
            &user["agentName"],
            &user["diagnostic"]["code"],
            &user["diagnostic"]["decidedBy"]
        ),
        (&json!("default"), &json!("off_globally"), &json!("global"))
    );
    assert!(
        user["diagnostic"]["howToChange"]
            .as_str()
            .unwrap()
            .contains("tools page")
    );
    let id = user["agentId"].as_str().unwrap();
    let shown = get(address, &format!("/admin/netaclaw/agents/{id}/tools")).await;
    let names = shown["toolNames"].as_array().unwrap();
    assert!(!names.contains(&json!("ls")) && names.contains(&json!("read")));

    // A user sees the same tools and the code of each reason, and nothing of the settings.
    let ann = request(address, "POST", "/admin/netaclaw/users")
        .json(json!({ "name": "ann", "role": "user", "password": "a good password" }))
        .send()
        .await
        .json();
    let token = request(address, "POST", "/admin/netaclaw/tokens")
        .json(json!({ "userId": ann["id"], "label": "test", "scope": "read" }))
        .send()
        .await
        .json();
    let path = format!("/admin/netaclaw/agents/{id}/tools");
    let asked = plain(address, "GET", &path).bearer(token["secret"].as_str().unwrap());
    let plain = asked.send().await.json();
    assert_eq!(plain["toolNames"], shown["toolNames"]);
    let lines = plain["runtimeDiagnostic"].as_array().unwrap();
    let ls = lines.iter().find(|line| line["toolName"] == "ls").unwrap();
    assert_eq!(ls["code"], "off_globally");
    assert_eq!(
        (&ls["policySources"], &ls["howToChange"]),
        (&json!([]), &json!(""))
    );
    assert_eq!(plain["warnings"], json!([]));

    // As a subagent of this agent would have them: a subagent cannot ask the user.
    let path = format!("/admin/netaclaw/agents/{id}/tools?asSubagent=true");
    let shown = get(address, &path).await;
    let lines = shown["runtimeDiagnostic"].as_array().unwrap();
    let line = |name: &str| lines.iter().find(|line| line["toolName"] == name).unwrap();
    assert_eq!(line("clarify")["code"], "not_for_subagents");
    assert_eq!(line("ls")["code"], "off_globally");
    assert_ne!(line("read")["route"], "main");

    let missing = request(address, "GET", "/admin/netaclaw/tools/lss")
        .send()
        .await;
    assert_eq!(missing.status, 404);
    assert!(missing.text.contains("ls"), "{}", missing.text);
    server.stop().await;
}
