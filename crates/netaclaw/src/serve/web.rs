//! The web app, as `build.rs` packed it.

use bytes::Bytes;
use netaclaw_gateway::{Asset, Assets};

struct WebFile {
    path: &'static str,
    content_type: &'static str,
    tag: &'static str,
    immutable: bool,
    plain: &'static [u8],
    brotli: Option<&'static [u8]>,
    gzip: Option<&'static [u8]>,
}

/// Sorted by path; empty if the app had not been built.
static FILES: &[WebFile] = include!(concat!(env!("OUT_DIR"), "/web_files.rs"));

pub(super) struct WebApp;

impl Assets for WebApp {
    fn get(&self, path: &str) -> Option<Asset> {
        let path = if path == "/" { "/index.html" } else { path };
        let at = FILES.binary_search_by(|file| file.path.cmp(path)).ok()?;
        let file = &FILES[at];
        Some(Asset {
            content_type: file.content_type,
            tag: file.tag,
            immutable: file.immutable,
            plain: Bytes::from_static(file.plain),
            brotli: file.brotli.map(Bytes::from_static),
            gzip: file.gzip.map(Bytes::from_static),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_has_the_whole_app_or_none_of_it() {
        assert!(FILES.is_sorted_by_key(|file| file.path));
        assert_eq!(WebApp.get("/").is_some(), !FILES.is_empty());
        assert!(WebApp.get("/../Cargo.toml").is_none());
    }
}
