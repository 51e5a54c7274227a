//! Files that go with messages: where they are kept until they are sent, and what a model gets of
//! them. Once sent, all that a model needs is in the session itself.

use crate::error::EngineError;
use async_trait::async_trait;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use netaclaw_protocol::{
    Attachment, AttachmentKind, BadRequest, Conflict, NotFound, SentAttachment, TooLarge, TooMany,
    UploadedFile,
};
use netaclaw_tools::image_type;
use serde_json::{Value, json};
use thiserror::Error;

/// What models take at most of one image.
pub const IMAGE_BYTES_MAX: usize = 5 << 20;
/// A longer text is not quoted whole; the agent has tools to read files in parts.
const TEXT_BYTES_MAX: usize = 256 << 10;
/// Files of one message.
const FILES_MAX: usize = 20;

/// Keeps uploaded files. An id names its owner as well, see [`owner_of`].
///
/// The same content under the same name of the same owner is kept once, so that an upload that is
/// repeated has no second effect. What was never sent may be forgotten after a while.
#[async_trait]
pub trait AttachmentStore: Send + Sync + 'static {
    async fn put(
        &self,
        owner: &str,
        name: &str,
        content: Bytes,
    ) -> Result<UploadedFile, AttachmentError>;

    async fn open(&self, id: &str) -> Result<StoredFile, AttachmentError>;

    /// It went out with a message, and stays from now on.
    async fn mark_sent(&self, id: &str) -> Result<(), AttachmentError>;

    /// Removes what killed processes left of uploads, without disturbing live ones.
    async fn remove_leftovers(&self) -> Result<(), AttachmentError> {
        Ok(())
    }

    /// Takes back a file that was not sent.
    async fn delete(&self, id: &str) -> Result<(), AttachmentError>;
}

#[derive(Clone, Debug)]
pub struct StoredFile {
    pub file: UploadedFile,
    pub content: Bytes,
}

#[derive(Debug, Error)]
pub enum AttachmentError {
    #[error("there is no such file")]
    NotFound,
    #[error("too many uploaded files have not been sent yet; send or remove some")]
    TooMany,
    #[error(
        "your files use {used_mb} MB of your limit of {max_mb} MB; send a smaller file, or ask an \
         administrator to raise the limit"
    )]
    NoRoom { used_mb: u64, max_mb: u64 },
    #[error("the file was sent with a message and cannot be deleted")]
    Sent,
    #[error("the files cannot be read or written at the moment")]
    Store(#[source] std::io::Error),
}

impl From<std::io::Error> for AttachmentError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::NotFound => Self::NotFound,
            _ => Self::Store(error),
        }
    }
}

impl From<AttachmentError> for EngineError {
    fn from(error: AttachmentError) -> Self {
        match error {
            AttachmentError::NotFound => Self::NotFound(NotFound::NoFile),
            AttachmentError::TooMany => Self::TooMany(TooMany::FilesWaiting),
            AttachmentError::NoRoom { used_mb, max_mb } => {
                Self::TooLarge(TooLarge::FilesOfUser { used_mb, max_mb })
            }
            AttachmentError::Sent => Self::Conflict(Conflict::FileSent),
            AttachmentError::Store(_) => Self::Internal(Box::new(error)),
        }
    }
}

/// The owner in an id of the form `owner.hash`.
pub fn owner_of(id: &str) -> Option<&str> {
    id.rsplit_once('.').map(|(owner, _)| owner)
}

/// What a file is, by its content alone.
pub fn inspect(content: &[u8]) -> (&'static str, AttachmentKind) {
    if let Some(image) = image_type(content) {
        return (image, AttachmentKind::Image);
    }
    // Some are nothing but ASCII, and their source is of no use to a model.
    if is_pdf(content) {
        return ("application/pdf", AttachmentKind::Other);
    }
    let is_text = !content.contains(&0) && std::str::from_utf8(content).is_ok();
    match (is_text, content) {
        (true, text) if text.len() <= TEXT_BYTES_MAX => ("text/plain", AttachmentKind::Text),
        (true, _) => ("text/plain", AttachmentKind::Other),
        (false, [b'P', b'K', 3, 4, ..]) => ("application/zip", AttachmentKind::Other),
        _ => ("application/octet-stream", AttachmentKind::Other),
    }
}

/// Readers accept a header after a few other bytes, such as a byte order mark.
fn is_pdf(content: &[u8]) -> bool {
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    content.trim_ascii_start().starts_with(b"%PDF-")
}

/// A file with its content, ready to go into a message.
#[derive(Clone, Debug)]
pub(crate) struct LoadedFile {
    id: Option<String>,
    name: String,
    mime_type: String,
    kind: AttachmentKind,
    content: Bytes,
}

/// Loads what a message names. Everything that could be wrong with it shows here.
pub(crate) async fn load(
    store: Option<&dyn AttachmentStore>,
    attachments: &[Attachment],
) -> Result<Vec<LoadedFile>, EngineError> {
    if attachments.len() > FILES_MAX {
        return Err(BadRequest::FilesInMessage { max: FILES_MAX }.into());
    }
    let mut files = Vec::with_capacity(attachments.len());
    for attachment in attachments {
        files.push(match (&attachment.id, &attachment.data) {
            (Some(id), _) => uploaded(store, id, &attachment.name).await?,
            (None, Some(data)) => in_place(attachment, data)?,
            (None, None) => {
                let name = attachment.name.clone();
                return Err(BadRequest::FileNotUploaded { name }.into());
            }
        });
    }
    Ok(files)
}

/// Keeps what a message names from now on, if it can be sent at all.
pub(crate) async fn keep(
    store: Option<&dyn AttachmentStore>,
    attachments: &[Attachment],
) -> Result<(), EngineError> {
    load(store, attachments).await?;
    for id in attachments.iter().filter_map(|file| file.id.as_ref()) {
        if let Some(store) = store {
            store.mark_sent(id).await?;
        }
    }
    Ok(())
}

async fn uploaded(
    store: Option<&dyn AttachmentStore>,
    id: &str,
    name: &str,
) -> Result<LoadedFile, EngineError> {
    let gone = || {
        let name = name.to_owned();
        EngineError::from(BadRequest::FileGone { name })
    };
    let stored = match store.ok_or_else(gone)?.open(id).await {
        Ok(stored) => stored,
        Err(AttachmentError::NotFound) => return Err(gone()),
        Err(error) => return Err(error.into()),
    };
    Ok(LoadedFile {
        id: Some(stored.file.id),
        name: stored.file.name,
        mime_type: stored.file.mime_type,
        kind: stored.file.kind,
        content: stored.content,
    })
}

/// An image inside the message itself.
fn in_place(attachment: &Attachment, data: &str) -> Result<LoadedFile, EngineError> {
    let name = || attachment.name.clone();
    let content = BASE64_STANDARD
        .decode(data)
        .map_err(|_| BadRequest::FileNotBase64 { name: name() })?;
    let mime_type =
        image_type(&content).ok_or_else(|| BadRequest::FileNotAnImage { name: name() })?;
    Ok(LoadedFile {
        id: None,
        name: name(),
        mime_type: mime_type.to_owned(),
        kind: AttachmentKind::Image,
        content: content.into(),
    })
}

/// The content of a user's message, and which of its blocks are files. Images are image blocks, as
/// in Pi; a text is quoted as Pi quotes files; of other files the model receives only the name.
pub(crate) fn content_with(text: &str, files: &[LoadedFile]) -> (Value, Vec<SentAttachment>) {
    if files.is_empty() {
        return (json!(text), Vec::new());
    }
    let mut blocks = Vec::with_capacity(files.len() + 1);
    // Some suppliers refuse an empty text.
    if !text.trim().is_empty() {
        blocks.push(json!({"type": "text", "text": text}));
    }
    let mut sent = Vec::with_capacity(files.len());
    for file in files {
        sent.push(SentAttachment {
            id: file.id.clone(),
            name: file.name.clone(),
            mime_type: file.mime_type.clone(),
            bytes: file.content.len() as u64,
            kind: file.kind,
            block: u32::try_from(blocks.len()).unwrap_or(u32::MAX),
        });
        blocks.push(block(file));
    }
    (Value::Array(blocks), sent)
}

fn block(file: &LoadedFile) -> Value {
    let name = quoted(&file.name);
    match file.kind {
        AttachmentKind::Image => {
            let data = BASE64_STANDARD.encode(&file.content);
            json!({"type": "image", "data": data, "mimeType": file.mime_type})
        }
        AttachmentKind::Text => {
            let text = String::from_utf8_lossy(&file.content);
            json!({"type": "text", "text": format!("<file name=\"{name}\">\n{text}\n</file>")})
        }
        AttachmentKind::Other => {
            let (kind, bytes) = (&file.mime_type, file.content.len());
            let note = format!(
                "<file name=\"{name}\" type=\"{kind}\" bytes=\"{bytes}\">\n\
                 The user attached this file. Its content is not shown here.\n</file>"
            );
            json!({"type": "text", "text": note})
        }
    }
}

/// A name that cannot end its own quotation marks.
fn quoted(name: &str) -> String {
    name.replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
        .replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";

    #[test]
    fn files_are_known_by_their_content() {
        for (content, expected) in [
            (PNG, ("image/png", AttachmentKind::Image)),
            (b"<svg onload=x>", ("text/plain", AttachmentKind::Text)),
            ("你好".as_bytes(), ("text/plain", AttachmentKind::Text)),
            (b"%PDF-1.7\xff", ("application/pdf", AttachmentKind::Other)),
            (
                b"%PDF-1.4\n1 0 obj << >> endobj",
                ("application/pdf", AttachmentKind::Other),
            ),
            (
                b"\xef\xbb\xbf\r\n%PDF-1.4\n",
                ("application/pdf", AttachmentKind::Other),
            ),
            (b"see %PDF-1.4", ("text/plain", AttachmentKind::Text)),
            (b"a\0b", ("application/octet-stream", AttachmentKind::Other)),
        ] {
            assert_eq!(inspect(content), expected);
        }
        let long = "x".repeat(TEXT_BYTES_MAX + 1);
        assert_eq!(
            inspect(long.as_bytes()),
            ("text/plain", AttachmentKind::Other)
        );
    }

    fn file(name: &str, content: &'static [u8]) -> LoadedFile {
        let (mime_type, kind) = inspect(content);
        LoadedFile {
            id: None,
            name: name.to_owned(),
            mime_type: mime_type.to_owned(),
            kind,
            content: Bytes::from_static(content),
        }
    }

    #[test]
    fn a_message_has_a_block_for_each_file() {
        let files = [
            file("a\".txt", b"text"),
            file("b.png", PNG),
            file("c.bin", b"\0"),
        ];
        let (content, sent) = content_with("look", &files);
        assert_eq!(
            content[1]["text"],
            "<file name=\"a&quot;.txt\">\ntext\n</file>"
        );
        assert_eq!(content[2]["mimeType"], "image/png");
        assert!(content[3]["text"].as_str().unwrap().contains("bytes=\"1\""));
        let places: Vec<u32> = sent.iter().map(|file| file.block).collect();
        assert_eq!(places, [1, 2, 3]);
        let (alone, _) = content_with(" ", &files[..1]);
        assert_eq!(alone.as_array().unwrap().len(), 1, "no empty text");
    }

    #[tokio::test]
    async fn what_cannot_be_sent_says_why() {
        let attachment = |data: Option<&str>| Attachment {
            name: "x".to_owned(),
            data: data.map(str::to_owned),
            ..Attachment::default()
        };
        let name = || "x".to_owned();
        for (data, why) in [
            (None, BadRequest::FileNotUploaded { name: name() }),
            (Some("???"), BadRequest::FileNotBase64 { name: name() }),
            (
                Some("aGVsbG8="),
                BadRequest::FileNotAnImage { name: name() },
            ),
        ] {
            let refused = load(None, &[attachment(data)]).await.unwrap_err();
            assert_eq!(refused.reason(), why.into());
        }
    }
}
