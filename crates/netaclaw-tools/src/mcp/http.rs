//! Requests to a server by HTTP.
//!
//! The library has a client of its own, which takes an answer whole, however long it is. This one
//! reads no more than one message may have, and otherwise behaves alike.

use super::bounded::{EventLength, MESSAGE_BYTES_MAX, TooBig};
use futures::StreamExt;
use futures::stream::BoxStream;
use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, StatusCode};
use reqwest::{RequestBuilder, Response};
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::common::http_header::{
    EVENT_STREAM_MIME_TYPE, HEADER_LAST_EVENT_ID, HEADER_SESSION_ID, JSON_MIME_TYPE,
};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, SseError, StreamableHttpClient, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

/// Of the body of a refusal. Users see far less of it.
const REFUSAL_BYTES_MAX: usize = 64 << 10;
const REFUSAL_CHARS_MAX: usize = 256;
/// What a configured header must not replace.
const RESERVED: [&str; 3] = ["accept", HEADER_SESSION_ID, HEADER_LAST_EVENT_ID];

type Fault = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

#[derive(Clone)]
pub(super) struct BoundedHttp {
    client: reqwest::Client,
    too_big: TooBig,
}

impl BoundedHttp {
    pub(super) fn new(client: reqwest::Client, too_big: TooBig) -> Self {
        Self { client, too_big }
    }

    /// The answer as a whole; no more of it is read than is taken.
    async fn whole(&self, mut response: Response) -> Result<Vec<u8>, Fault> {
        let declared = response.content_length().unwrap_or_default();
        if declared > MESSAGE_BYTES_MAX as u64 {
            return Err(self.too_long());
        }
        let mut body = Vec::with_capacity(usize::try_from(declared).unwrap_or_default());
        while let Some(piece) = response.chunk().await? {
            if body.len() + piece.len() > MESSAGE_BYTES_MAX {
                return Err(self.too_long());
            }
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }

    fn events(&self, response: Response) -> Events {
        let mut length = EventLength::default();
        let too_big = self.too_big.clone();
        let pieces = response.bytes_stream().map(move |piece| {
            let piece = piece.map_err(io::Error::other)?;
            match length.takes(&piece) {
                true => Ok(piece),
                false => {
                    too_big.set();
                    Err(io::Error::from(io::ErrorKind::FileTooLarge))
                }
            }
        });
        SseStream::from_bytes_stream(pieces).boxed()
    }

    fn too_long(&self) -> Fault {
        self.too_big.set();
        io::Error::from(io::ErrorKind::FileTooLarge).into()
    }
}

impl StreamableHttpClient for BoundedHttp {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let request = self.client.post(&*uri).json(&message);
        let has_session = session_id.is_some();
        let request = dressed(request, session_id, auth_header, custom_headers)?;
        let response = request.send().await?;
        let status = response.status();
        let waits = matches!(message, JsonRpcMessage::Request(_));
        let is_empty = status.is_success() && response.content_length() == Some(0);
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) || is_empty && !waits {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && has_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        let session = response.headers().get(HEADER_SESSION_ID);
        let session = session.and_then(|id| Some(id.to_str().ok()?.to_owned()));
        let kind = kind(&response);
        if !status.is_success() {
            let answer = refused(response).await?;
            return Ok(StreamableHttpPostResponse::Json(answer, session));
        }
        if kind.starts_with(EVENT_STREAM_MIME_TYPE) {
            let events = self.events(response);
            return Ok(StreamableHttpPostResponse::Sse(events, session));
        }
        if !kind.starts_with(JSON_MIME_TYPE) {
            return Err(StreamableHttpError::UnexpectedContentType(Some(kind)));
        }
        let body = self.whole(response).await?;
        match serde_json::from_slice(&body) {
            Ok(answer) => Ok(StreamableHttpPostResponse::Json(answer, session)),
            // Nothing waits for an answer to this, and some servers send one anyway.
            Err(_) if !waits => Ok(StreamableHttpPostResponse::Accepted),
            Err(error) => Err(unexpected(format!(
                "not a message ({error}): {}",
                beginning(&body)
            ))),
        }
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<Events, Fault> {
        let request = self.client.get(&*uri);
        let mut request = dressed(request, session_id, auth_header, custom_headers)?;
        if let Some(id) = last_event_id {
            request = request.header(HEADER_LAST_EVENT_ID, id);
        }
        let response = request.send().await?;
        let status = response.status();
        if status == StatusCode::METHOD_NOT_ALLOWED {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        if !status.is_success() {
            let answer = refused(response).await?;
            return Err(unexpected(format!("HTTP {status}: {answer:?}")));
        }
        let kind = kind(&response);
        match kind.starts_with(EVENT_STREAM_MIME_TYPE) {
            true => Ok(self.events(response)),
            false => Err(StreamableHttpError::UnexpectedContentType(Some(kind))),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), Fault> {
        let client = &self.client;
        client
            .delete_session(uri, session_id, auth_header, custom_headers)
            .await
    }
}

fn dressed(
    mut request: RequestBuilder,
    session_id: Option<Arc<str>>,
    auth_header: Option<String>,
    custom_headers: Headers,
) -> Result<RequestBuilder, Fault> {
    request = request.header(ACCEPT, [EVENT_STREAM_MIME_TYPE, JSON_MIME_TYPE].join(", "));
    for (name, value) in custom_headers {
        let is_reserved = |reserved: &&str| name.as_str().eq_ignore_ascii_case(reserved);
        if RESERVED.iter().any(is_reserved) {
            return Err(StreamableHttpError::ReservedHeaderConflict(
                name.to_string(),
            ));
        }
        request = request.header(name, value);
    }
    if let Some(token) = auth_header {
        request = request.bearer_auth(token);
    }
    if let Some(id) = session_id {
        request = request.header(HEADER_SESSION_ID, &*id);
    }
    Ok(request)
}

fn kind(response: &Response) -> String {
    let kind = response.headers().get(CONTENT_TYPE);
    let kind = kind.map(|kind| String::from_utf8_lossy(kind.as_bytes()).into_owned());
    kind.unwrap_or_default()
}

/// What a server that refuses a request says: a message of the protocol, or why there is none.
async fn refused(mut response: Response) -> Result<ServerJsonRpcMessage, Fault> {
    let status = response.status();
    let text = |name| {
        let value = response.headers().get(name)?;
        Some(value.to_str().ok()?.to_owned())
    };
    let is_closed = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    if is_closed && let Some(challenge) = text(WWW_AUTHENTICATE) {
        let asked = AuthRequiredError::new(challenge);
        return Err(StreamableHttpError::AuthRequired(asked));
    }
    let is_busy = status == StatusCode::TOO_MANY_REQUESTS;
    let retry_after = text(RETRY_AFTER);
    let mut body = Vec::new();
    while !is_busy && let Some(piece) = response.chunk().await? {
        body.extend_from_slice(&piece);
        if body.len() > REFUSAL_BYTES_MAX {
            break;
        }
    }
    match serde_json::from_slice(&body) {
        // For missing credentials the status decides, whatever the body says.
        Ok(answer @ JsonRpcMessage::Error(_)) if !is_closed => Ok(answer),
        _ if is_busy || status.is_server_error() => {
            Err(HttpStatusError::new(status.as_u16(), retry_after).into())
        }
        _ => Err(unexpected(format!("HTTP {status}: {}", beginning(&body)))),
    }
}

fn beginning(body: &[u8]) -> String {
    let some = &body[..body.len().min(4 * REFUSAL_CHARS_MAX)];
    let text = String::from_utf8_lossy(some);
    text.chars().take(REFUSAL_CHARS_MAX).collect()
}

fn unexpected(why: String) -> Fault {
    StreamableHttpError::UnexpectedServerResponse(why.into())
}
