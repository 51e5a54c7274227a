//! The HTTP side.

use super::body::{Watch, body};
use super::record::Recorded;
use super::refusal::Refusal;
use super::reply::{Fault, Reply};
use super::script::Script;
use super::{anthropic, openai};
use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::Response;
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use bytes::Bytes;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A fake on a port of its own, which ends with the value.
#[derive(Debug)]
pub struct FakeModel {
    address: SocketAddr,
    script: Arc<Script>,
    server: JoinHandle<()>,
}

impl FakeModel {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a free port on this machine");
        let address = listener.local_addr().expect("a bound listener has one");
        let script = Arc::new(Script::default());
        let server = tokio::spawn(serve(listener, script.clone()));
        Self {
            address,
            script,
            server,
        }
    }

    pub fn script(&self) -> &Script {
        &self.script
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL for chat completions.
    pub fn openai_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The base URL for messages.
    pub fn anthropic_url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// Serves a script until the future is dropped.
pub async fn serve(listener: TcpListener, script: Arc<Script>) {
    let router = Router::new()
        .route("/v1/chat/completions", post(chat))
        .route("/v1/messages", post(messages))
        .route("/v1/models", get(models))
        .layer(DefaultBodyLimit::disable())
        .with_state(script);
    // A token that waits for the acknowledgement of the one before it would be late.
    let listener = listener.tap_io(|stream| {
        stream
            .set_nodelay(true)
            .expect("a stream that was just accepted");
    });
    axum::serve(listener, router)
        .await
        .expect("axum::serve never ends with an error");
}

/// Which of the two APIs is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Api {
    Openai,
    Anthropic,
}

async fn chat(
    State(script): State<Arc<Script>>,
    uri: Uri,
    headers: HeaderMap,
    bytes: Bytes,
) -> Response {
    answer(Api::Openai, script, uri, headers, bytes).await
}

async fn messages(
    State(script): State<Arc<Script>>,
    uri: Uri,
    headers: HeaderMap,
    bytes: Bytes,
) -> Response {
    answer(Api::Anthropic, script, uri, headers, bytes).await
}

async fn answer(
    api: Api,
    script: Arc<Script>,
    uri: Uri,
    headers: HeaderMap,
    bytes: Bytes,
) -> Response {
    let request: Value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    let refusal = look_at(api, &script, &headers, &request).err();
    let refused = refusal.as_ref().map(|refusal| refusal.message.clone());
    let response = match refusal {
        Some(refusal) => Some(refuse(api, &refusal, None)),
        None => respond_to(api, &request, &script),
    };
    // Before anything of the answer leaves, and moved: a copy would be part of what is measured.
    script.record(Recorded {
        path: uri.path().to_owned(),
        headers: plain_headers(&headers),
        body: request,
        refused,
    });
    match response {
        Some(response) => response,
        None => {
            let _watch = Watch {
                script,
                over: false,
            };
            futures::future::pending().await
        }
    }
}

/// The answer that the script has for a request; `None` if it never comes.
fn respond_to(api: Api, request: &Value, script: &Arc<Script>) -> Option<Response> {
    let reply = script.answer_to(request);
    Some(match &reply.fault {
        Some(Fault::Status {
            status,
            retry_after,
        }) => refuse(api, &failure(api, *status), retry_after.as_deref()),
        Some(Fault::Body {
            status,
            content_type,
            body,
        }) => respond(*status, content_type, Body::from(body.clone())),
        Some(Fault::HangBeforeHead) => return None,
        _ => speak(api, request, &reply, Arc::clone(script)),
    })
}

/// What the real server would say no to.
fn look_at(api: Api, script: &Script, headers: &HeaderMap, request: &Value) -> Result<(), Refusal> {
    check_key(api, script, headers)?;
    let limits = script.limits();
    if !limits.strict {
        return Ok(());
    }
    match api {
        Api::Openai => openai::check(request, limits.window),
        Api::Anthropic => {
            if !headers.contains_key("anthropic-version") {
                return Err(Refusal::bad("anthropic-version: header is required"));
            }
            anthropic::check(request, limits.window)
        }
    }?;
    check_model(api, script, request)
}

fn check_key(api: Api, script: &Script, headers: &HeaderMap) -> Result<(), Refusal> {
    let Some(key) = script.key() else {
        return Ok(());
    };
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let given = text("authorization")
        .and_then(|value| value.strip_prefix("Bearer "))
        .or(text("x-api-key"))
        .or(text("api-key"));
    if given == Some(&key) {
        return Ok(());
    }
    // The real ones quote the key they were given, more or less masked; this one does not mask.
    let given = given.unwrap_or_default();
    Err(match api {
        Api::Openai => Refusal {
            status: 401,
            kind: "invalid_request_error",
            code: Some("invalid_api_key"),
            message: format!("Incorrect API key provided: {given}."),
        },
        Api::Anthropic => Refusal {
            status: 401,
            kind: "authentication_error",
            code: None,
            message: format!("invalid x-api-key: {given}"),
        },
    })
}

fn check_model(api: Api, script: &Script, request: &Value) -> Result<(), Refusal> {
    let model = request["model"].as_str().unwrap_or_default();
    let known = script.models();
    if known.is_none_or(|known| known.iter().any(|name| name == model)) {
        return Ok(());
    }
    Err(match api {
        Api::Openai => Refusal {
            status: 404,
            kind: "invalid_request_error",
            code: Some("model_not_found"),
            message: format!("The model `{model}` does not exist or you do not have access to it."),
        },
        Api::Anthropic => Refusal {
            status: 404,
            kind: "not_found_error",
            code: None,
            message: format!("model: {model}"),
        },
    })
}

fn speak(api: Api, request: &Value, reply: &Reply, script: Arc<Script>) -> Response {
    if request["stream"] != json!(true) {
        let whole = match api {
            Api::Openai => openai::whole(request, reply),
            Api::Anthropic => anthropic::whole(request, reply),
        };
        return respond(200, "application/json", Body::from(whole.to_string()));
    }
    let (frames, error) = match api {
        Api::Openai => (openai::frames(request, reply), openai::error_event()),
        Api::Anthropic => (anthropic::frames(request, reply), anthropic::error_event()),
    };
    let stream = body(frames, reply, error, script);
    respond(200, "text/event-stream", Body::from_stream(stream))
}

async fn models(State(script): State<Arc<Script>>, headers: HeaderMap, uri: Uri) -> Response {
    let api = match headers.contains_key("anthropic-version") {
        true => Api::Anthropic,
        false => Api::Openai,
    };
    script.record(Recorded {
        path: uri.path().to_owned(),
        headers: plain_headers(&headers),
        body: Value::Null,
        refused: None,
    });
    if let Err(refusal) = check_key(api, &script, &headers) {
        return refuse(api, &refusal, None);
    }
    if !script.lists_models() {
        return respond(404, "text/plain", Body::from("404 page not found"));
    }
    let names = script.models().unwrap_or_else(|| vec!["fake-model".into()]);
    let list = match api {
        Api::Openai => openai::model_list(&names),
        Api::Anthropic => anthropic::model_list(&names),
    };
    respond(200, "application/json", Body::from(list.to_string()))
}

/// The words that go with a status.
fn failure(api: Api, status: u16) -> Refusal {
    let (kind, code, message) = match (api, status) {
        (Api::Openai, 429) => (
            "requests",
            Some("rate_limit_exceeded"),
            "Rate limit reached for requests.",
        ),
        (Api::Openai, _) => (
            "server_error",
            None,
            "The server had an error while processing your request.",
        ),
        (Api::Anthropic, 429) => ("rate_limit_error", None, "Number of requests exceeded."),
        (Api::Anthropic, 529) => ("overloaded_error", None, "Overloaded"),
        (Api::Anthropic, _) => ("api_error", None, "Internal server error"),
    };
    Refusal {
        status,
        kind,
        code,
        message: message.into(),
    }
}

fn refuse(api: Api, refusal: &Refusal, retry_after: Option<&str>) -> Response {
    let body = match api {
        Api::Openai => refusal.openai(),
        Api::Anthropic => refusal.anthropic(),
    };
    let body = Body::from(body.to_string());
    let mut response = respond(refusal.status, "application/json", body);
    if let Some(value) = retry_after.and_then(|text| text.parse().ok()) {
        response.headers_mut().insert(header::RETRY_AFTER, value);
    }
    response
}

fn respond(status: u16, content_type: &str, body: Body) -> Response {
    Response::builder()
        .status(StatusCode::from_u16(status).expect("tests name real statuses"))
        .header(header::CONTENT_TYPE, content_type)
        .body(body)
        .expect("status and header are valid")
}

fn plain_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    headers
        .iter()
        .map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            (name.as_str().to_owned(), value)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    /// The bytes of an answer to a request without any client's help.
    async fn ask(server: &FakeModel, head: &str, body: &str) -> String {
        let mut socket = TcpStream::connect(server.address).await.unwrap();
        let length = body.len();
        let request = format!(
            "{head}\r\nhost: fake\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn answers_come_whole_to_those_who_do_not_stream() {
        let server = FakeModel::start().await;
        let chat = r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#;
        let answer = ask(&server, "POST /v1/chat/completions HTTP/1.1", chat).await;
        assert!(answer.contains(r#""object":"chat.completion""#), "{answer}");
        assert!(answer.contains(r#""finish_reason":"stop""#), "{answer}");

        let head = "POST /v1/messages HTTP/1.1\r\nanthropic-version: 2023-06-01";
        let message = r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}"#;
        let answer = ask(&server, head, message).await;
        assert!(answer.contains(r#""stop_reason":"end_turn""#), "{answer}");

        let answer = ask(&server, "GET /v1/models HTTP/1.1", "").await;
        assert!(answer.contains(r#""object":"list""#), "{answer}");
        assert_eq!(server.script().requests().len(), 3);
    }

    #[tokio::test]
    async fn rules_come_before_the_queue_and_the_queue_before_the_rest() {
        let server = FakeModel::start().await;
        server.script().when("weather", Reply::text("RULE"));
        server.script().push(Reply::text("QUEUE"));
        server.script().otherwise(Reply::text("REST"));
        let asking = async |text: &str| {
            let body = json!({"model": "m", "messages": [{"role": "user", "content": text}]});
            ask(
                &server,
                "POST /v1/chat/completions HTTP/1.1",
                &body.to_string(),
            )
            .await
        };
        assert!(asking("the weather?").await.contains("RULE"));
        assert!(asking("hello").await.contains("QUEUE"));
        assert!(asking("hello").await.contains("REST"));
        assert!(asking("the weather?").await.contains("RULE"));
    }
}
