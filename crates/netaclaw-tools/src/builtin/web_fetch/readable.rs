//! What came from the web, as text.

use encoding_rs::{Encoding, UTF_8};

/// Lines are for the model, which wraps nothing.
const WIDTH: usize = 400;
/// A page with elements nested deeper than this is a trap: rendering takes time that grows with the
/// square of the depth.
const DEPTH_MAX: usize = 200;
/// A page says its encoding near its beginning, if it does.
const HEAD_BYTES: usize = 1024;

/// How a body is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Html,
    Text,
    Other,
}

pub(super) fn kind_of(content_type: &str, body: &[u8]) -> Kind {
    let essence = content_type.split(';').next().unwrap_or_default();
    let essence = essence.trim().to_ascii_lowercase();
    match essence.as_str() {
        "text/html" | "application/xhtml+xml" => Kind::Html,
        "application/json"
        | "application/xml"
        | "application/javascript"
        | "application/yaml"
        | "application/toml"
        | "application/x-ndjson"
        | "application/rss+xml" => Kind::Text,
        text if text.starts_with("text/") => Kind::Text,
        text if text.ends_with("+json") || text.ends_with("+xml") => Kind::Text,
        // Who says nothing sends text as often as not.
        "" if std::str::from_utf8(&body[..body.len().min(HEAD_BYTES)]).is_ok() => Kind::Text,
        _ => Kind::Other,
    }
}

/// The body in the encoding that its server or its own head names.
pub(super) fn decoded(content_type: &str, body: &[u8]) -> String {
    let named = charset_in(content_type.as_bytes());
    let named = named.or_else(|| charset_in(&body[..body.len().min(HEAD_BYTES)]));
    let encoding = named.and_then(|label| Encoding::for_label(label.as_bytes()));
    encoding.unwrap_or(UTF_8).decode(body).0.into_owned()
}

fn charset_in(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes).to_ascii_lowercase();
    let behind = text.split("charset=").nth(1)?;
    let label = behind.trim_start_matches(['"', '\'', ' ']);
    let end = label.find(|c: char| !(c.is_ascii_alphanumeric() || "-_:.".contains(c)));
    Some(label[..end.unwrap_or(label.len())].to_owned())
}

/// A page as readable text: headings, lists, tables and links in Markdown, without what only a
/// browser needs. `None` if it is not readable.
pub(super) fn html(text: &str) -> Option<String> {
    if depth(text) > DEPTH_MAX {
        return Some(without_tags(text));
    }
    let rendered = html2text::config::plain()
        .allow_width_overflow()
        .string_from_read(text.as_bytes(), WIDTH);
    let rendered = rendered.ok()?;
    let lines = rendered.lines().map(str::trim_end);
    let mut readable = String::with_capacity(rendered.len());
    let mut empty = 0;
    for line in lines {
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            readable.push_str(line);
            readable.push('\n');
        }
    }
    Some(readable)
}

/// The maximum nesting of a page's elements. Elements that end implicitly where the next begins do
/// not count.
fn depth(text: &str) -> usize {
    const END_THEMSELVES: [&str; 27] = [
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source",
        "track", "wbr", "p", "li", "dt", "dd", "td", "th", "tr", "thead", "tbody", "tfoot",
        "option", "html", "head", "body",
    ];
    let (mut depth, mut deepest) = (0usize, 0);
    for tag in text.split('<').skip(1) {
        let (is_end, rest) = match tag.strip_prefix('/') {
            Some(rest) => (true, rest),
            None => (false, tag),
        };
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric());
        let name = rest[..end.unwrap_or(rest.len())].to_ascii_lowercase();
        if name.is_empty() || END_THEMSELVES.contains(&name.as_str()) {
            continue;
        }
        depth = match is_end {
            true => depth.saturating_sub(1),
            false => depth + 1,
        };
        deepest = deepest.max(depth);
    }
    deepest
}

/// Just the words.
fn without_tags(text: &str) -> String {
    let pieces = text.split('<').map(|piece| match piece.split_once('>') {
        Some((_, behind)) => behind,
        None => piece,
    });
    let words = pieces.flat_map(str::split_whitespace);
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_reads_like_text() {
        let page = "<html><head><title>T</title><style>p{}</style><script>evil()</script></head>\
                    <body><h1>标题</h1><p>One <b>two</b> <a href=\"https://x.example/a\">three</a></p>\
                    <ul><li>a</li><li>b</li></ul></body></html>";
        let text = html(page).unwrap();
        assert!(text.contains("# 标题"), "{text}");
        assert!(
            text.contains("**two**") && text.contains("https://x.example/a"),
            "{text}"
        );
        assert!(text.contains("* a\n* b"), "{text}");
        assert!(!text.contains("evil"), "{text}");
    }

    #[test]
    fn a_page_without_bottom_does_no_harm() {
        let deep = "<div><b><ul><li>".repeat(100_000) + "the bottom";
        assert_eq!(html(&deep).as_deref(), Some("the bottom"));
        let wide = "<p>one<li>two<br>".repeat(1000);
        assert!(depth(&wide) < DEPTH_MAX);
        assert_eq!(depth("<div><i></i><b></b></div><div>"), 2);
    }

    #[test]
    fn old_encodings_are_read() {
        let (gbk, ..) = encoding_rs::GBK.encode("中文网页");
        assert_eq!(decoded("text/html; charset=GBK", &gbk), "中文网页");
        let mut page = b"<meta charset=\"gb2312\">".to_vec();
        page.extend_from_slice(&gbk);
        assert!(decoded("text/html", &page).ends_with("中文网页"));
        assert_eq!(decoded("text/plain", "水".as_bytes()), "水");
        assert_eq!(decoded("text/plain; charset=none", b"a"), "a");
    }

    #[test]
    fn what_is_no_text_is_known() {
        assert_eq!(kind_of("text/html; charset=x", b""), Kind::Html);
        assert_eq!(kind_of("application/problem+json", b""), Kind::Text);
        assert_eq!(kind_of("image/png", b""), Kind::Other);
        assert_eq!(kind_of("", b"plain"), Kind::Text);
        assert_eq!(kind_of("", b"\xff\xfe"), Kind::Other);
    }
}
