//! The seam for the web app: whoever embeds its files hands them in here.

use bytes::Bytes;

/// Files of the web app by path, such as `/assets/app.js`. `/` is the application itself.
pub trait Assets: Send + Sync + 'static {
    fn get(&self, path: &str) -> Option<Asset>;
}

#[derive(Clone, Debug)]
pub struct Asset {
    pub content_type: &'static str,
    pub body: Bytes,
    /// The name holds a hash of the content, so browsers may keep the file for good.
    pub immutable: bool,
}
