//! External text inside a Markdown document: it may be formatted, but it cannot be HTML, load or
//! link to anything harmful, change the text around it, or pass for one of our headings.

use crate::terminal::harmless;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};
use std::ops::Range;

/// Headings of messages begin below the headings of the document.
const HEADING_LEVEL_MIN: usize = 4;
/// Escaping one construct can create another one, so the text is checked again, but only so often.
const ROUNDS_MAX: usize = 12;

pub(super) fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// A text on one line, shown as it is.
pub(super) fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in crate::terminal::one_line(text, 200).chars() {
        match char {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '{' | '}' | '#' | '|' | '~' | '!' => {
                out.push('\\');
                out.push(char);
            }
            _ => out.push(char),
        }
    }
    out
}

/// A text in a code block that it cannot end.
pub(super) fn fenced(text: &str, language: &str) -> String {
    let text = harmless(text);
    let longest = text
        .split(|char| char != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!(
        "{fence}{language}\n{}\n{fence}",
        text.trim_end_matches('\n')
    )
}

/// A formatted text in a quotation, which ends where we end it.
pub(super) fn quoted(text: &str) -> String {
    let safe = formatted_unbound(text);
    let lines = safe.lines().map(|line| format!("> {line}"));
    lines
        .map(|line| line.trim_end().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}

/// A formatted text. One that would run on into what follows, such as an answer that was cut off
/// inside a code block, becomes a quotation.
pub(super) fn formatted(text: &str) -> String {
    let safe = formatted_unbound(text);
    match is_contained(&safe) {
        true => safe.trim_end().to_owned(),
        false => quoted(text),
    }
}

fn formatted_unbound(text: &str) -> String {
    let mut text = harmless(text).into_owned();
    for _ in 0..ROUNDS_MAX {
        let edits = edits_for(&text);
        if edits.is_empty() {
            return text;
        }
        text = apply(&text, edits);
    }
    fenced(&text, "text")
}

/// Text to insert at a position, before what is there or instead of its first byte.
struct Edit {
    at: usize,
    replaced: usize,
    text: &'static str,
}

impl Edit {
    fn before(at: usize, text: &'static str) -> Self {
        Self {
            at,
            replaced: 0,
            text,
        }
    }
}

fn edits_for(text: &str) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut code: Vec<Range<usize>> = Vec::new();
    let parser = Parser::new_ext(text, options());
    // A definition would count for every message of the document.
    let definitions = parser.reference_definitions().iter();
    edits.extend(definitions.map(|(_, definition)| Edit::before(definition.span.start, "\\")));
    for (event, range) in parser.into_offset_iter() {
        match event {
            Event::Code(_) | Event::Start(Tag::CodeBlock(_)) => code.push(range),
            Event::Start(Tag::Link { dest_url, .. }) if !is_harmless_link(&dest_url) => {
                edits.push(Edit::before(range.start, "\\"));
            }
            // A picture is fetched when the document is read; a link waits to be asked.
            Event::Start(Tag::Image { .. }) => edits.push(Edit::before(range.start, "\\")),
            Event::Start(Tag::Heading { level, .. }) => edits.extend(lower(text, &range, level)),
            _ => {}
        }
    }
    let is_code = |at: usize| {
        let next = code.partition_point(|range| range.end <= at);
        code.get(next).is_some_and(|range| range.contains(&at))
    };
    let tags = text.match_indices('<').filter(|(at, _)| !is_code(*at));
    edits.extend(tags.map(|(at, _)| Edit {
        at,
        replaced: 1,
        text: "&lt;",
    }));
    edits.sort_by_key(|edit| edit.at);
    edits
}

/// Only addresses that are meant for people to follow.
pub(super) fn is_harmless_link(address: &str) -> bool {
    let address = address.trim().to_ascii_lowercase();
    ["http://", "https://", "mailto:"]
        .iter()
        .any(|start| address.starts_with(start))
}

fn lower(text: &str, range: &Range<usize>, level: HeadingLevel) -> Option<Edit> {
    const SIGNS: &str = "######";
    let missing = HEADING_LEVEL_MIN
        .checked_sub(level as usize)
        .filter(|missing| *missing > 0)?;
    let source = &text[range.clone()];
    match source.starts_with('#') {
        true => Some(Edit::before(range.start, &SIGNS[..missing])),
        // The other form of a heading is underlined; without its line it is a paragraph.
        false => {
            let end = source.trim_end();
            let line = end.trim_end_matches(['=', '-']);
            Some(Edit::before(range.start + line.len(), "\\"))
        }
    }
}

fn apply(text: &str, edits: Vec<Edit>) -> String {
    let mut out = String::with_capacity(text.len() + edits.len() * 4);
    let mut done = 0;
    for edit in edits {
        out.push_str(&text[done.min(edit.at)..edit.at]);
        out.push_str(edit.text);
        done = edit.at + edit.replaced;
    }
    out.push_str(&text[done..]);
    out
}

/// Whether what follows the text is still on its own.
fn is_contained(text: &str) -> bool {
    let with_end = format!("{text}\n\n# end");
    let mut depth = 0;
    let mut last_heading_depth = None;
    for event in Parser::new_ext(&with_end, options()) {
        match event {
            Event::Start(tag) => {
                if matches!(
                    tag,
                    Tag::Heading {
                        level: HeadingLevel::H1,
                        ..
                    }
                ) {
                    last_heading_depth = Some(depth);
                }
                depth += 1;
            }
            Event::End(_) => depth -= 1,
            _ => {}
        }
    }
    last_heading_depth == Some(0)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use pulldown_cmark::html::push_html;

    /// As a reader without any caution would show it.
    fn shown(markdown: &str) -> String {
        let mut html = String::new();
        push_html(&mut html, Parser::new_ext(markdown, Options::all()));
        html
    }

    pub(crate) const HOSTILE: &[&str] = &[
        "<script>alert(1)</script>",
        "a <img src=x onerror=alert(1)> b",
        "<div>\n# fake\n[x](javascript:alert(1))\n</div>",
        "[x](javascript:alert(1))",
        "[x](  JaVaScRiPt:alert(1))",
        "[x](data:text/html,<script>1</script>)",
        "[x](vbscript:x) and [y](<javascript:alert(1)>)",
        "<javascript:alert(1)>",
        "![x](http://tracker.example/p.png)",
        "[a]: javascript:alert(1)\n\n[a]",
        "![x][a]\n\n[a]: http://tracker.example/p.png",
        "# heading\n\nTitle\n===\n\nOther\n---",
        "- list\n\n  # inside\n\n> # quoted",
        "`<b>` and ``` `<i>` ```",
        "<a title=\"`\">`<script>alert(1)</script>`",
        "<!-- \n`<script>` \n-->",
        "<![CDATA[ `x` <script>]]>",
        "```\n</code></pre><script>alert(1)</script>\n```",
        "    <script>indented</script>",
        "<style>@import url(x)</style>",
        "&lt;script&gt; &#60;script&#62;",
        "\\<script>",
        "[x](java\nscript:alert(1))",
        "<svg/onload=alert(1)>",
        "<details open ontoggle=alert(1)>",
        "![x](javascript:1)",
        "[x](https://e.org/\"onmouseover=\"alert(1))",
        "```\"><script>alert(1)</script>\nx\n```",
        "`</code><script>`",
        "<?php <script> ?>",
        "<a href=\"https://e.org\" onclick=\"x\">x</a>",
        "</main></body></html><script>",
        "x\u{0}<scr\u{0}ipt>",
        "[<img src=x>](https://e.org)",
        "[![x](https://e.org/p.png)](javascript:1)",
        "| <b> | [x](javascript:1) |\n|---|---|\n| `|` | <script> |",
        "- [ ] <input autofocus onfocus=alert(1)>",
        "1. a\n\n   ```\n   <b>\n   ```\n<script>",
        "[x]\n\n> [x]: <javascript:alert(1)>\n",
        "http://e.org/<script>",
        "\u{feff}# x\n\u{2028}<script>",
    ];

    #[test]
    fn no_hostile_text_becomes_a_tag_a_picture_or_a_script_link() {
        for text in HOSTILE {
            for safe in [formatted(text), quoted(text)] {
                let html = shown(&safe);
                for tag in tags(&html) {
                    assert!(is_plain_tag(tag), "{tag} in {html}\nfrom {text}\nby {safe}");
                }
            }
        }
    }

    /// Everything that a browser would take for a tag, a comment or the like.
    pub(crate) fn tags(html: &str) -> Vec<&str> {
        let starts = html.match_indices('<').map(|(at, _)| at);
        let tags = starts.map(|at| {
            let end = html[at..].find('>').map_or(html.len(), |end| at + end + 1);
            &html[at..end]
        });
        tags.collect()
    }

    /// Formatting and nothing else: no attributes but harmless addresses and names of languages.
    pub(crate) fn is_plain_tag(tag: &str) -> bool {
        let inner = tag.trim_matches(['<', '>', '/', ' ', '\n']);
        let (name, attributes) = inner.split_once(' ').unwrap_or((inner, ""));
        let is_known = [
            "p",
            "pre",
            "code",
            "blockquote",
            "ul",
            "ol",
            "li",
            "em",
            "strong",
            "del",
            "br",
            "hr",
            "h4",
            "h5",
            "h6",
            "table",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
            "a",
        ]
        .contains(&name);
        let value = |name: &str| attributes.strip_prefix(name)?.strip_suffix('"');
        tag == "<input disabled=\"\" type=\"checkbox\"/>"
            || is_known
                && (attributes.is_empty()
                    || value("class=\"language-").is_some_and(|rest| !rest.contains('"'))
                    || ["href=\"http://", "href=\"https://", "href=\"mailto:"]
                        .iter()
                        .any(|start| {
                            let rest = value(start).map(|rest| {
                                rest.replace("\" rel=\"noopener noreferrer nofollow", "")
                            });
                            rest.is_some_and(|rest| !rest.contains('"'))
                        }))
    }

    #[test]
    fn ordinary_formatting_stays() {
        let text = "Use `a < b`:\n\n```rust\nif a < b {}\n```\n\n- **one**\n- [two](https://example.org)\n\n| a | b |\n|---|---|\n| 1 | 2 |";
        assert_eq!(formatted(text), text);
        assert_eq!(formatted("a < b"), "a &lt; b");
        assert_eq!(formatted("# One\n\ntext"), "#### One\n\ntext");
    }

    #[test]
    fn nothing_runs_on_into_what_follows() {
        for text in [
            "```rust\nfn main() {",
            "~~~\nopen",
            "1. ```\n   open",
            "> ```\n> open",
            "<div>",
            "<!-- open",
        ] {
            let document = format!("{}\n\n# after", formatted(text));
            assert!(shown(&document).ends_with("<h1>after</h1>\n"), "{document}");
        }
    }

    #[test]
    fn a_fence_is_longer_than_any_in_the_text() {
        let text = "```\n````\n\r```";
        let document = format!("{}\n\n# after", fenced(text, "text"));
        assert!(document.starts_with("`````text\n"), "{document}");
        assert!(shown(&document).ends_with("<h1>after</h1>\n"), "{document}");
        assert_eq!(fenced("x\n", "json"), "```json\nx\n```");
    }

    #[test]
    fn one_line_is_only_text() {
        assert_eq!(
            shown(&inline("<b> *x* [y](z) `c` # & \n!")),
            "<p>&lt;b&gt; *x* [y](z) `c` # &amp; !</p>\n"
        );
    }
}
