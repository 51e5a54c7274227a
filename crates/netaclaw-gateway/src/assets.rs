//! The interface for the web app: the program that embeds its files passes them in here.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;

/// Files of the web app by path, such as `/assets/app.js`. `/` is the application itself.
pub trait Assets: Send + Sync + 'static {
    fn get(&self, path: &str) -> Option<Asset>;
}

#[derive(Clone, Debug)]
pub struct Asset {
    pub content_type: &'static str,
    /// Changes with the content; in quotes, as `ETag` requires.
    pub tag: &'static str,
    /// The name holds a hash of the content, so browsers may keep the file for good.
    pub immutable: bool,
    pub plain: Bytes,
    /// The same compressed, where that makes it smaller.
    pub brotli: Option<Bytes>,
    pub gzip: Option<Bytes>,
}

const FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("no-cache");
const BY_ENCODING: HeaderValue = HeaderValue::from_static("Accept-Encoding");

impl Asset {
    /// The file in an encoding of this client, or `304` if it has it already.
    pub(crate) fn answer(self, asked: &HeaderMap) -> Response {
        let known = asked.get(header::IF_NONE_MATCH);
        let known = known.and_then(|tags| tags.to_str().ok());
        let mut response = match known.is_some_and(|tags| names(tags, self.tag)) {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => self.content(asked),
        };
        let headers = response.headers_mut();
        headers.insert(header::ETAG, HeaderValue::from_static(self.tag));
        headers.insert(header::VARY, BY_ENCODING);
        let cache = if self.immutable { FOREVER } else { ASK_AGAIN };
        headers.insert(header::CACHE_CONTROL, cache);
        response
    }

    fn content(&self, asked: &HeaderMap) -> Response {
        let copies = [("br", &self.brotli), ("gzip", &self.gzip)];
        let copy = copies.into_iter().find_map(|(encoding, copy)| {
            let copy = copy.as_ref().filter(|_| takes(asked, encoding))?;
            Some((encoding, copy.clone()))
        });
        let (encoding, body) = match copy {
            Some((encoding, body)) => (Some(encoding), body),
            None => (None, self.plain.clone()),
        };
        let mut response = body.into_response();
        let headers = response.headers_mut();
        let content_type = HeaderValue::from_static(self.content_type);
        headers.insert(header::CONTENT_TYPE, content_type);
        if let Some(encoding) = encoding {
            let encoding = HeaderValue::from_static(encoding);
            headers.insert(header::CONTENT_ENCODING, encoding);
        }
        response
    }
}

/// Whether a list of tags has this one. A weak tag is good enough for `If-None-Match`.
fn names(tags: &str, tag: &str) -> bool {
    let mut tags = tags.split(',').map(str::trim);
    tags.any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

/// Whether a client takes an encoding: it names it, and not with a weight of nothing.
fn takes(asked: &HeaderMap, encoding: &str) -> bool {
    let lines = asked.get_all(header::ACCEPT_ENCODING).iter();
    let mut offers = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','));
    offers.any(|offer| {
        let (name, weight) = offer.split_once(";q=").unwrap_or((offer, "1"));
        name.trim().eq_ignore_ascii_case(encoding)
            && weight
                .trim()
                .parse::<f32>()
                .is_ok_and(|weight| weight > 0.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: header::HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn encodings_are_taken_by_name_and_weight() {
        let takes = |value, encoding| takes(&asked(header::ACCEPT_ENCODING, value), encoding);
        assert!(takes("gzip, deflate, br", "br"));
        assert!(takes("gzip;q=0.5", "gzip"));
        assert!(!takes("br;q=0, gzip", "br"));
        assert!(!takes("identity", "gzip"));
    }

    #[test]
    fn a_known_file_is_not_sent_again() {
        assert!(names("\"a\", W/\"b\"", "\"b\""));
        assert!(names("*", "\"b\""));
        assert!(!names("\"a\"", "\"b\""));
    }
}
