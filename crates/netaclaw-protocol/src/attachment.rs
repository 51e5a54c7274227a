//! Files that go with messages.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A file that travels with a message: uploaded before, or a small image in place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub name: String,
    pub mime_type: String,
    /// Base64, for small images; everything else is uploaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
}

/// A file as the server keeps it until it is sent, and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct UploadedFile {
    /// The same file of the same user has the same id.
    pub id: String,
    pub name: String,
    /// As the content says, not as the client claims.
    pub mime_type: String,
    pub bytes: u64,
    pub kind: AttachmentKind,
}

/// What a model gets of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum AttachmentKind {
    /// The image itself, if the model can see.
    Image,
    /// The whole text with its name.
    Text,
    /// That it is there.
    Other,
}

/// A file in a user's message, kept in the message as `netaclaw.attachments`.
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
    /// Which content block of the message it became.
    pub block: u32,
}
