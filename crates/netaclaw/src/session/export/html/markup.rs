//! Text of others inside an HTML page. Everything goes through here; nothing else writes text
//! into the page.

use crate::session::export::sanitize::{is_harmless_link, options};
use crate::terminal::harmless;
use pulldown_cmark::{CowStr, Event, Parser, Tag, TagEnd, html::push_html};

/// Text for an element or an attribute in double quotes.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    for char in harmless(text).chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(char),
        }
    }
    out
}

/// Formatted text: Markdown as usual, HTML in it shown as text, pictures and odd links as what
/// they say.
pub(super) fn formatted(text: &str) -> String {
    let text = harmless(text);
    let mut links = Vec::new();
    let events = Parser::new_ext(&text, options()).filter_map(|event| tame(event, &mut links));
    let mut html = String::with_capacity(text.len() * 2);
    push_html(&mut html, events);
    html
}

/// `links` keeps, for each open link, whether it is one for the reader.
fn tame<'a>(event: Event<'a>, links: &mut Vec<bool>) -> Option<Event<'a>> {
    let tag = |html: String| Some(Event::InlineHtml(CowStr::from(html)));
    match event {
        Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
        // The block around raw HTML: what is inside is text now, and wants a paragraph.
        Event::Start(Tag::HtmlBlock) => Some(Event::Start(Tag::Paragraph)),
        Event::End(TagEnd::HtmlBlock) => Some(Event::End(TagEnd::Paragraph)),
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            let is_link = is_harmless_link(&dest_url);
            links.push(is_link);
            match is_link {
                true => tag(format!(
                    r#"<a href="{}" rel="noopener noreferrer nofollow">"#,
                    escape(&dest_url)
                )),
                false => None,
            }
        }
        Event::End(TagEnd::Link | TagEnd::Image) => match links.pop() {
            Some(true) => tag("</a>".to_owned()),
            _ => None,
        },
        Event::TaskListMarker(done) => Some(Event::Text(if done { "☑ " } else { "☐ " }.into())),
        // Headings of messages are below those of the page.
        Event::Start(Tag::Heading { level, .. }) => {
            tag(format!("<h{}>", (level as usize + 3).min(6)))
        }
        Event::End(TagEnd::Heading(level)) => tag(format!("</h{}>\n", (level as usize + 3).min(6))),
        event => Some(event),
    }
}

/// A picture as a `data:` address, if it is one of the kinds browsers only draw. SVG is not: it
/// can hold scripts and links.
pub(super) fn picture(mime: &str, data: &str) -> Option<String> {
    let is_drawn = matches!(
        mime,
        "image/png" | "image/jpeg" | "image/gif" | "image/webp"
    );
    let is_base64 = !data.is_empty()
        && data
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
    (is_drawn && is_base64).then(|| format!("data:{mime};base64,{data}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::export::sanitize::tests::{HOSTILE, is_plain_tag, tags};

    #[test]
    fn hostile_text_stays_text() {
        for text in HOSTILE {
            let html = formatted(text);
            for tag in tags(&html) {
                assert!(is_plain_tag(tag), "{tag} in {html}\nfrom {text}");
            }
            let escaped = escape(text);
            assert!(!escaped.contains(['<', '>', '"', '\'', '\0']), "{escaped}");
        }
    }

    #[test]
    fn ordinary_formatting_is_shown() {
        assert_eq!(
            formatted("**a** `b`\n"),
            "<p><strong>a</strong> <code>b</code></p>\n"
        );
        assert_eq!(formatted("# x"), "<h4>x</h4>\n");
        assert_eq!(
            formatted("[x](https://e.org/?a=1&b=2)"),
            "<p><a href=\"https://e.org/?a=1&amp;b=2\" rel=\"noopener noreferrer nofollow\">x</a></p>\n"
        );
        assert_eq!(
            formatted("![a picture](https://e.org/x.png)"),
            "<p><a href=\"https://e.org/x.png\" rel=\"noopener noreferrer nofollow\">a picture</a></p>\n"
        );
    }

    #[test]
    fn only_checked_pictures_are_embedded() {
        assert_eq!(
            picture("image/png", "AAAA").as_deref(),
            Some("data:image/png;base64,AAAA")
        );
        for (mime, data) in [
            ("image/svg+xml", "AAAA"),
            ("text/html", "AAAA"),
            ("image/png\" onload=\"x", "AAAA"),
            ("image/png", "AA\"><script>"),
            ("image/png", ""),
        ] {
            assert_eq!(picture(mime, data), None, "{mime} {data}");
        }
    }
}
