//! Files that go with messages.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A file that is sent with a message: uploaded before, or a small image in the message itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub name: String,
    pub mime_type: String,
    /// Base64, for small images; all other files are uploaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
}

/// An uploaded file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct UploadedFile {
    /// If a user uploads the same file again, it has the same id.
    pub id: String,
    pub name: String,
    /// Detected from the content, not taken from the client.
    pub mime_type: String,
    pub bytes: u64,
    pub kind: AttachmentKind,
}

/// What a model receives of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum AttachmentKind {
    /// The image itself, if the model supports images.
    Image,
    /// The complete text with its name.
    Text,
    /// Only name, type and size.
    Other,
}

/// A file in a user's message, stored in the message as `netaclaw.attachments`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SentAttachment {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub name: String,
    pub mime_type: String,
    pub bytes: u64,
    pub kind: AttachmentKind,
    /// The content block of the message that contains it.
    pub block: u32,
}
