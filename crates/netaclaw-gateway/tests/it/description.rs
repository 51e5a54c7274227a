//! The description of the API compared with the API.

use crate::http::{Response, plain, request};
use crate::server::Server;
use netaclaw_protocol::TokenScope;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

struct Operation<'a> {
    method: String,
    path: &'a str,
    described: &'a Value,
}

fn operations(api: &Value) -> Vec<Operation<'_>> {
    let paths = api["paths"].as_object().unwrap();
    let operations = paths.iter().flat_map(|(path, item)| {
        let methods = item.as_object().unwrap().iter();
        methods.map(move |(method, described)| Operation {
            method: method.to_uppercase(),
            path,
            described,
        })
    });
    operations.collect()
}

async fn api(server: &Server) -> Value {
    let api = request(server.address, "GET", "/openapi.json").send().await;
    api.json()
}

/// What of an answer is not as it is described.
fn deviations(api: &Value, operation: &Operation<'_>, answer: &Response) -> Option<String> {
    let responses = &operation.described["responses"];
    let status = answer.status.to_string();
    let response = responses.get(&status).unwrap_or(&responses["default"]);
    let case = format!("{} {} {status}", operation.method, operation.path);
    let content = &response["content"];
    let kind = answer.header("content-type").split(';').next().unwrap();
    let schema = &content[kind]["schema"];
    if schema.is_null() {
        return Some(format!("{case}: {kind} is not described"));
    }
    let schema = json!({ "allOf": [schema], "components": api["components"] });
    let validator = jsonschema::validator_for(&schema).unwrap();
    let body = answer.json();
    let errors: Vec<String> = validator
        .iter_errors(&body)
        .map(|error| format!("{case}: {error} at {}", error.instance_path()))
        .collect();
    (!errors.is_empty()).then(|| errors.join("\n"))
}

#[tokio::test]
async fn answers_and_refusals_are_as_described() {
    let server = Server::start().await;
    let api = api(&server).await;
    let (_, ann) = server.user("ann", TokenScope::Full).await;
    let mut wrong = Vec::new();
    for operation in operations(&api) {
        let address = operation.path.replace(['{', '}'], "");
        let security = &operation.described["security"];
        if security.is_null() {
            let refused = plain(server.address, &operation.method, &address);
            let refused = refused.send().await;
            assert_eq!(refused.status, 401, "{}", operation.path);
            wrong.extend(deviations(&api, &operation, &refused));
        }
        let mut parameters = operation.described["parameters"].as_array().into_iter();
        let needs = parameters.any(|all| all.iter().any(|one| one["required"] == true));
        if operation.method != "GET" || needs {
            continue;
        }
        let as_admin = request(server.address, "GET", &address);
        let as_user = plain(server.address, "GET", &address).bearer(&ann);
        for asked in [as_admin, as_user] {
            let answer = asked.send().await;
            if answer
                .header("content-type")
                .starts_with("application/json")
            {
                wrong.extend(deviations(&api, &operation, &answer));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The rows of docs/protocol.md: "GET /path".
fn documented_requests() -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol.md");
    let document = std::fs::read_to_string(path).unwrap();
    let rows = document.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split('`').next())
        .filter(|request| request.contains(" /"))
        .map(str::to_owned)
        .collect()
}

#[tokio::test]
async fn every_request_is_documented_for_people_too() {
    let server = Server::start().await;
    let api = api(&server).await;
    let described: BTreeSet<String> = operations(&api)
        .iter()
        .map(|operation| format!("{} {}", operation.method, operation.path))
        .collect();
    let documented = documented_requests();
    let missing: Vec<_> = described.difference(&documented).collect();
    let gone: Vec<_> = documented.difference(&described).collect();
    assert!(
        missing.is_empty() && gone.is_empty(),
        "missing: {missing:?}, gone: {gone:?}"
    );
}

#[tokio::test]
async fn numbers_outside_of_their_range_are_refused() {
    let server = Server::start().await;
    let api = api(&server).await;
    let mut client = server.client().await;
    let session = client.call("chat", json!({"content": "hi"})).await["sessionId"].clone();
    let session = session.as_str().unwrap();
    let mut sizes = 0;
    for operation in operations(&api) {
        let address = operation.path.replace("{id}", session);
        let parameters = operation.described["parameters"].as_array();
        let queries = parameters.into_iter().flatten();
        let queries: Vec<&Value> = queries.filter(|one| one["in"] == "query").collect();
        let required = queries.iter().filter(|one| one["required"] == true);
        let required: String = required
            .map(|one| format!("{}={session}&", one["name"].as_str().unwrap()))
            .collect();
        for parameter in &queries {
            let name = parameter["name"].as_str().unwrap();
            let ask = async |number: i64| {
                let path = format!("{address}?{required}{name}={number}");
                request(server.address, &operation.method, &path)
                    .send()
                    .await
                    .status
            };
            let case = format!("{} {} {name}", operation.method, operation.path);
            if let Some(most) = parameter["schema"]["maximum"].as_i64() {
                sizes += 1;
                assert_ne!(ask(most).await, 400, "{case}");
                assert_eq!(ask(most + 1).await, 400, "{case}");
            }
            if let Some(least @ 1..) = parameter["schema"]["minimum"].as_i64() {
                assert_ne!(ask(least).await, 400, "{case}");
                assert_eq!(ask(least - 1).await, 400, "{case}");
            }
            let is_counted = ["page", "size", "limit"].contains(&name);
            assert!(!is_counted || parameter["schema"]["minimum"] == 1, "{case}");
        }
    }
    assert!(sizes > 10, "{sizes}");
}

#[tokio::test]
async fn a_list_is_not_an_object() {
    let server = Server::start().await;
    let api = api(&server).await;
    for operation in operations(&api) {
        let content = &operation.described["requestBody"]["content"];
        if content["application/json"].is_null() {
            continue;
        }
        let address = operation.path.replace(['{', '}'], "");
        let answer = request(server.address, &operation.method, &address).json(json!([]));
        let answer = answer.send().await;
        assert_eq!(answer.status, 400, "{}: {}", operation.path, answer.text);
    }
}
