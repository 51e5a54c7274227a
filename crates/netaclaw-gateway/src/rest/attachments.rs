//! Files for messages: uploaded before they are sent, and looked at again later.

use super::body::ApiPath;
use super::sessions::find;
use crate::auth::{Identity, SignedIn, Writer};
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::routes::{Routes, handlers};
use axum::Json;
use axum::extract::multipart::{Field, Multipart, MultipartError, MultipartRejection};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::{Bytes, BytesMut};
use netaclaw_engine::{
    AttachmentError, AttachmentStore, EngineError, IMAGE_BYTES_MAX, entry_image, inspect, owner_of,
};
use netaclaw_protocol::{
    AttachmentKind, BadRequest, EntryId, Listing, NotFound, SessionId, TooLarge, Unavailable,
    UploadedFile,
};
use std::sync::Arc;
use utoipa::ToSchema;

/// All that comes in one request.
const UPLOAD_BYTES_MAX: usize = 64 << 20;
const FILES_MAX: usize = 20;

/// A file may hold anything. Whatever a browser makes of it, it must not act in our name.
const CONFINED: HeaderValue = HeaderValue::from_static("default-src 'none'; sandbox");
const MINE_FOR_LONG: HeaderValue = HeaderValue::from_static("private, max-age=31536000, immutable");

pub(super) fn routes() -> Routes {
    Routes::new()
        .with(handlers!(upload))
        .within(|routes| routes.layer(DefaultBodyLimit::max(UPLOAD_BYTES_MAX)))
        .with(handlers!(get, delete))
        .with(handlers!(image))
}

/// How an upload is described.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its description is used")]
struct Upload {
    #[schema(value_type = Vec<String>, format = Binary)]
    file: Vec<u8>,
}

/// Upload files, to be attached to a message by their ids.
#[utoipa::path(post, path = "/admin/netaclaw/attachments", tag = "attachments",
    request_body(content = Upload, content_type = "multipart/form-data"),
    responses((status = 201, body = Listing<UploadedFile>), (status = 413)))]
async fn upload(
    State(shared): State<Arc<Shared>>,
    Writer(who): Writer,
    form: Result<Multipart, MultipartRejection>,
) -> Result<(StatusCode, Json<Listing<UploadedFile>>), ApiError> {
    let store = store(&shared)?;
    let mut form = form.map_err(|_| BadRequest::NotMultipart)?;
    let mut items = Vec::new();
    while let Some(field) = form.next_field().await.map_err(unreadable)? {
        // Anything but a file is not ours to understand.
        let Some(name) = field.file_name().map(str::to_owned) else {
            continue;
        };
        if items.len() == FILES_MAX {
            return Err(TooLarge::FilesAtOnce { max: FILES_MAX }.into());
        }
        let content = read(field, &name, shared.settings.file_bytes_max).await?;
        items.push(store.put(&who.user_id, &name, content).await?);
    }
    match items.is_empty() {
        true => Err(BadRequest::FormWithoutFile.into()),
        false => Ok((StatusCode::CREATED, Json(Listing::new(items)))),
    }
}

async fn read(mut field: Field<'_>, name: &str, bytes_max: usize) -> Result<Bytes, ApiError> {
    let mut content = BytesMut::new();
    while let Some(more) = field.chunk().await.map_err(unreadable)? {
        content.extend_from_slice(&more);
        if content.len() > bytes_max {
            return Err(too_large(name, bytes_max));
        }
    }
    let (_, kind) = inspect(&content);
    match kind == AttachmentKind::Image && content.len() > IMAGE_BYTES_MAX {
        true => Err(too_large(name, IMAGE_BYTES_MAX)),
        false => Ok(content.freeze()),
    }
}

fn too_large(name: &str, bytes_max: usize) -> ApiError {
    let file = TooLarge::FileTooLarge {
        name: name.to_owned(),
        max_mb: bytes_max >> 20,
    };
    ApiError::new(file).with_details(serde_json::json!({ "name": name, "bytesMax": bytes_max }))
}

fn unreadable(error: MultipartError) -> ApiError {
    match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            let max_mb = UPLOAD_BYTES_MAX >> 20;
            TooLarge::UploadTooLarge { max_mb }.into()
        }
        _ => BadRequest::FormNotReadable.into(),
    }
}

#[utoipa::path(get, path = "/admin/netaclaw/attachments/{id}", tag = "attachments", params(("id" = String, Path)),
    responses((status = 200, content(([u8] = "application/octet-stream"), ([u8] = "image/png"),
        ([u8] = "image/jpeg"), ([u8] = "image/gif"), ([u8] = "image/webp")))))]
async fn get(
    State(shared): State<Arc<Shared>>,
    SignedIn(who): SignedIn,
    ApiPath(id): ApiPath<String>,
) -> Result<Response, ApiError> {
    let stored = own(&shared, &who, &id)?.open(&id).await?;
    let file = stored.file;
    Ok(match file.kind {
        AttachmentKind::Image => shown(&file.mime_type, stored.content),
        _ => downloaded(&file.name, stored.content),
    })
}

/// Delete a file that has not been sent.
#[utoipa::path(delete, path = "/admin/netaclaw/attachments/{id}", tag = "attachments", params(("id" = String, Path)),
    responses((status = 204), (status = 404), (status = 409)))]
async fn delete(
    State(shared): State<Arc<Shared>>,
    Writer(who): Writer,
    ApiPath(id): ApiPath<String>,
) -> Result<StatusCode, ApiError> {
    own(&shared, &who, &id)?.delete(&id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Get an image of an entry, by its number among the images of the entry.
#[utoipa::path(get, path = "/admin/netaclaw/sessions/{id}/entries/{entry}/images/{number}", tag = "sessions",
    params(("id" = String, Path), ("entry" = String, Path), ("number" = usize, Path)),
    responses((status = 200, content(([u8] = "image/png"), ([u8] = "image/jpeg"),
        ([u8] = "image/gif"), ([u8] = "image/webp")))))]
async fn image(
    State(shared): State<Arc<Shared>>,
    SignedIn(who): SignedIn,
    ApiPath((id, entry, number)): ApiPath<(String, String, usize)>,
) -> Result<Response, ApiError> {
    let id = SessionId::new(id);
    let (provider, _) = find(&shared, &who.caller(), &id).await?;
    let tree = provider.load_tree(&id).await?;
    let found = tree.get(&EntryId::new(entry));
    let found = found.and_then(|entry| entry_image(entry, number));
    let content = found.and_then(|(_, data)| BASE64_STANDARD.decode(data).ok());
    // Data that is not an image, whatever the entry says, is not shown as one.
    let content = content.filter(|content| inspect(content).1 == AttachmentKind::Image);
    let content = content.ok_or(NotFound::NoImage)?;
    Ok(shown(inspect(&content).0, content.into()))
}

/// An image in place. Its type was detected in its content, and never taken from a client.
fn shown(mime_type: &str, content: Bytes) -> Response {
    answer(mime_type, HeaderValue::from_static("inline"), content)
}

/// Anything else is only offered as a download: text could be HTML.
fn downloaded(name: &str, content: Bytes) -> Response {
    let name = encoded(name);
    let disposition = format!("attachment; filename=\"file\"; filename*=UTF-8''{name}");
    let disposition =
        HeaderValue::from_str(&disposition).unwrap_or(HeaderValue::from_static("attachment"));
    answer("application/octet-stream", disposition, content)
}

fn answer(mime_type: &str, disposition: HeaderValue, content: Bytes) -> Response {
    let mut response = content.into_response();
    let headers = response.headers_mut();
    if let Ok(mime_type) = HeaderValue::from_str(mime_type) {
        headers.insert(header::CONTENT_TYPE, mime_type);
    }
    headers.insert(header::CONTENT_DISPOSITION, disposition);
    headers.insert(header::CONTENT_SECURITY_POLICY, CONFINED);
    headers.insert(header::CACHE_CONTROL, MINE_FOR_LONG);
    response
}

/// Percent-encoded as RFC 5987 wants it.
fn encoded(name: &str) -> String {
    let mut text = String::new();
    for byte in name.bytes() {
        match byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_') {
            true => text.push(char::from(byte)),
            false => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

fn store(shared: &Shared) -> Result<&dyn AttachmentStore, ApiError> {
    let files = shared.engine.attachments();
    Ok(files.ok_or(Unavailable::NoAttachments)?)
}

/// The store, for a file that is the caller's. Those of others do not exist.
fn own<'s>(
    shared: &'s Shared,
    who: &Identity,
    id: &str,
) -> Result<&'s dyn AttachmentStore, ApiError> {
    let caller = who.caller();
    match caller.is_admin || owner_of(id) == Some(&caller.user_id) {
        true => store(shared),
        false => Err(AttachmentError::NotFound.into()),
    }
}

impl From<AttachmentError> for ApiError {
    fn from(error: AttachmentError) -> Self {
        EngineError::from(error).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_in_headers() {
        assert_eq!(encoded("报告 1.pdf"), "%E6%8A%A5%E5%91%8A%201.pdf");
        assert_eq!(encoded("a\"\r\n;.txt"), "a%22%0D%0A%3B.txt");
    }
}
