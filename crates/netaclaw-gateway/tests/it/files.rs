//! Files with messages: uploaded, sent, shown, and never let loose.

use crate::agent::{Act, say};
use crate::http::{Response, plain, request};
use crate::server::Server;
use netaclaw_gateway::GatewaySettings;
use netaclaw_protocol::{SessionId, TokenScope};
use serde_json::{Value, json};

const UPLOAD: &str = "/admin/netaclaw/attachments";

fn png(bytes: usize) -> Vec<u8> {
    let mut image = b"\x89PNG\r\n\x1a\n".to_vec();
    image.resize(bytes, 7);
    image
}

async fn upload(server: &Server, files: &[(&str, &[u8])]) -> Response {
    let upload = request(server.address, "POST", UPLOAD).form(files);
    upload.send().await
}

/// The first user's message of a session, as it is stored.
async fn first_message(server: &Server, session: &Value) -> Value {
    let provider = &server.engine.providers().file;
    let id = SessionId::new(session.as_str().unwrap());
    let path = provider.get_active_path(&id).await.unwrap();
    serde_json::from_str(path[0].message_json().unwrap()).unwrap()
}

#[tokio::test]
async fn files_are_uploaded_sent_and_fetched_again() {
    let server = Server::start().await;
    let image = png(20_000);
    let made = upload(&server, &[("a.png", &image), ("../notes.md", b"# Hi")]).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let items = made.json()["items"].clone();
    assert_eq!(
        (&items[0]["kind"], &items[0]["mimeType"], &items[0]["bytes"]),
        (&json!("image"), &json!("image/png"), &json!(20_000))
    );
    assert_eq!(
        (&items[1]["kind"], &items[1]["name"]),
        (&json!("text"), &json!("notes.md"))
    );
    let again = upload(&server, &[("a.png", &image)]).await.json();
    assert_eq!(again["items"][0]["id"], items[0]["id"], "kept once");

    let mut client = server.client().await;
    server.script.act([say("I see"), Act::End]);
    let chat = json!({"content": "Look", "attachments": items});
    let ack = client.call("chat", chat).await;
    assert_eq!(ack["disposition"], "started", "{ack}");
    let session = &ack["sessionId"];
    let message = first_message(&server, session).await;
    let content = message["content"].as_array().unwrap();
    assert_eq!(content[0], json!({"type": "text", "text": "Look"}));
    assert_eq!(content[1]["data"].as_str().unwrap().len(), 26_668);
    assert_eq!(
        content[2]["text"],
        "<file name=\"notes.md\">\n# Hi\n</file>"
    );
    let marks = &message["netaclaw"]["attachments"];
    assert_eq!(
        (&marks[0]["block"], &marks[1]["block"]),
        (&json!(1), &json!(2))
    );

    // A page gets the entry without the image, and requests the image to show it.
    let open = client
        .call("session_open", json!({"sessionId": session}))
        .await;
    let entry = &open["snapshot"]["entries"][0];
    let block = &entry["message"]["content"][1];
    assert_eq!((&block["data"], &block["image"]), (&json!(""), &json!(0)));
    let path = format!(
        "/admin/netaclaw/sessions/{}/entries/{}/images/0",
        session.as_str().unwrap(),
        entry["id"].as_str().unwrap()
    );
    let shown = request(server.address, "GET", &path).send().await;
    assert_eq!(
        (shown.status, shown.header("content-type")),
        (200, "image/png")
    );
    assert_eq!(shown.bytes, image);
    let none = path.replace("images/0", "images/1");
    assert_eq!(
        request(server.address, "GET", &none).send().await.status,
        404
    );
}

#[tokio::test]
async fn files_of_others_do_not_exist_and_sent_ones_stay() {
    let server = Server::start().await;
    let (_, ann) = server.user("ann", TokenScope::Full).await;
    let (_, bob) = server.user("bob", TokenScope::Full).await;
    let made = plain(server.address, "POST", UPLOAD).bearer(&ann);
    let made = made
        .form(&[("a.txt", b"hers"), ("b.txt", b"too")])
        .send()
        .await
        .json();
    let path = |at: usize| format!("{UPLOAD}/{}", made["items"][at]["id"].as_str().unwrap());
    let get = |path: String, token: String| async move {
        plain(server.address, "GET", &path)
            .bearer(&token)
            .send()
            .await
            .status
    };
    assert_eq!(get(path(0), ann.clone()).await, 200);
    assert_eq!(get(path(0), bob.clone()).await, 404);
    assert_eq!(
        get(format!("{UPLOAD}/..%2f..%2fadmin.db"), bob.clone()).await,
        404
    );

    let stolen = json!({"content": "x", "attachments": [made["items"][0]]});
    let mut client = server.client_with(json!({ "token": bob })).await;
    assert_eq!(
        client.call("chat", stolen.clone()).await["code"],
        "not_found"
    );
    let mut client = server.client_with(json!({ "token": ann })).await;
    server.script.act([Act::End]);
    assert_eq!(client.call("chat", stolen).await["disposition"], "started");
    let delete = |path: String, token: String| async move {
        plain(server.address, "DELETE", &path)
            .bearer(&token)
            .send()
            .await
            .status
    };
    assert_eq!(delete(path(0), ann.clone()).await, 409);
    assert_eq!(delete(path(1), ann.clone()).await, 204);
    let gone = json!({"content": "x", "attachments": [made["items"][1]]});
    let refused = client.call("chat", gone).await;
    assert_eq!(refused["code"], "bad_request");
    let gone = json!({"code": "file_gone", "name": "b.txt"});
    assert_eq!(refused["reason"], gone);
}

#[tokio::test]
async fn what_a_file_holds_never_acts_in_our_name() {
    let server = Server::start().await;
    let made = upload(&server, &[("页面.html", b"<script>alert(1)</script>")]).await;
    let id = made.json()["items"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("{UPLOAD}/{id}");
    let got = request(server.address, "GET", &path).send().await;
    assert_eq!(got.header("content-type"), "application/octet-stream");
    assert!(got.header("content-disposition").starts_with("attachment;"));
    assert!(got.header("content-disposition").contains("%E9%A1%B5"));
    assert_eq!(got.header("x-content-type-options"), "nosniff");
    assert_eq!(
        got.header("content-security-policy"),
        "default-src 'none'; sandbox"
    );
}

#[tokio::test]
async fn what_is_too_large_or_no_file_is_refused() {
    let settings = GatewaySettings {
        file_bytes_max: 6 << 20,
        ..GatewaySettings::default()
    };
    let server = Server::start_with(settings).await;
    for (content, limit) in [
        (vec![b'x'; (6 << 20) + 1], 6 << 20),
        (png((5 << 20) + 1), 5 << 20),
    ] {
        let refused = upload(&server, &[("big", &content)]).await;
        assert_eq!(refused.status, 413, "{}", refused.text);
        assert_eq!(refused.json()["details"]["bytesMax"], limit);
    }
    assert_eq!(upload(&server, &[]).await.status, 400);
    let (_, reader) = server.user("ann", TokenScope::Read).await;
    let read_only = plain(server.address, "POST", UPLOAD).bearer(&reader);
    let read_only = read_only.form(&[("a", b"b")]).send().await;
    assert_eq!(read_only.status, 403);
}
