//! Text that wants to be more than text, wherever a session can hold some.

use crate::support::{Workspace, session};
use pulldown_cmark::{Options, Parser, html::push_html};
use serde_json::{Value, json};

const HOSTILE: &[&str] = &[
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "<svg/onload=alert(1)>",
    "</pre></code></details></article></main><script>alert(1)</script>",
    "<!--",
    "--><script>alert(1)</script>",
    "]]><script>alert(1)</script>",
    "[x](javascript:alert(1)) ![y](http://tracker.example/p.png)",
    "[a]: javascript:alert(1)\n\n[a]",
    "```\n</code><script>alert(1)</script>\n",
    "\u{0}<scr\u{0}ipt>alert(1)</script>",
    "&#60;script&#62;alert(1)&lt;/script&gt;",
    "</title><script>alert(1)</script>",
    "</style><style>*{display:none}</style>",
    "javascript:alert(1)",
    "# Active path\n\nTitle\n===\n\n## user",
    "data:text/html,<script>alert(1)</script>",
    "{{constructor.constructor('alert(1)')()}} ${alert(1)}",
];

/// The text in every place of every kind of entry.
fn entries(text: &str) -> Vec<String> {
    let mut lines: Vec<Value> = Vec::new();
    let mut parent: Option<String> = None;
    let mut push = |mut entry: Value| {
        let id = format!("{text}{}", lines.len());
        entry["id"] = json!(id);
        entry["parentId"] = json!(parent);
        entry["timestamp"] = json!(text);
        parent = Some(id);
        lines.push(entry);
    };
    push(json!({ "type": "message", "message": { "role": "user", "content": text } }));
    push(
        json!({ "type": "message", "message": { "role": "user", "content": [
        { "type": "text", "text": text },
        { "type": "image", "mimeType": text, "data": text },
        { "type": "image", "mimeType": "image/png", "data": text },
        { "type": text },
    ] } }),
    );
    push(json!({ "type": "message", "message": {
        "role": "assistant", "provider": text, "model": text, "stopReason": "error", "errorMessage": text,
        "usage": { "totalTokens": 5, "input": text },
        "content": [
            { "type": "thinking", "thinking": text },
            { "type": "text", "text": text },
            { "type": "toolCall", "id": text, "name": text, "arguments": { text: text } },
        ],
    } }));
    push(json!({ "type": "message", "message": {
        "role": "toolResult", "toolCallId": text, "toolName": text, "isError": true,
        "content": [{ "type": "text", "text": text }],
    } }));
    push(
        json!({ "type": "message", "message": { "role": "bashExecution", "command": text, "output": text, "exitCode": 1 } }),
    );
    push(json!({ "type": "message", "message": { "role": text, "content": text } }));
    push(json!({ "type": "message", "message": { "role": "system", "content": text } }));
    push(json!({ "type": "custom_message", "customType": text, "content": text }));
    push(json!({ "type": "compaction", "summary": text, "firstKeptEntryId": text }));
    push(json!({ "type": "branch_summary", "summary": text, "fromId": text }));
    push(json!({ "type": "model_change", "provider": text, "modelId": text }));
    push(json!({ "type": "thinking_level_change", "thinkingLevel": text }));
    push(json!({ "type": "custom", "customType": text, "data": text }));
    push(json!({ "type": text, "kind": text }));
    push(json!({ "type": "label", "targetId": format!("{text}0"), "label": text }));
    push(json!({ "type": "session_info", "name": text }));
    push(json!({ "type": "message", "message": { "role": "user", "content": "end" } }));
    let side = json!({ "type": "message", "id": "side", "parentId": format!("{text}1"), "message": { "role": "user", "content": text } });
    lines.insert(2, side);
    lines.iter().map(Value::to_string).collect()
}

fn workspace(text: &str) -> Workspace {
    let workspace = Workspace::new();
    let header =
        json!({ "type": "session", "version": 3, "id": text, "timestamp": text, "cwd": text });
    let body = session("s", &entries(text));
    let (_, lines) = body.split_once('\n').unwrap();
    workspace.write("hostile.jsonl", format!("{header}\n{lines}"));
    workspace
}

#[test]
fn the_page_shows_it_and_obeys_nothing() {
    for text in HOSTILE {
        let page = workspace(text).out("session export hostile.jsonl --format html");
        for tag in tags(&page) {
            assert!(is_ours(tag), "{tag}\nfrom {text}");
        }
        assert_eq!(page.matches("<style>").count(), 1, "{text}");
        assert_eq!(page.matches("<title>").count(), 1, "{text}");
    }
}

#[test]
fn the_document_shows_it_and_obeys_nothing() {
    for text in HOSTILE {
        let document = workspace(text).out("session export hostile.jsonl --format md");
        let mut page = String::new();
        push_html(&mut page, Parser::new_ext(&document, Options::all()));
        for tag in tags(&page) {
            assert!(is_formatting(tag), "{tag}\nfrom {text}\nin {document}");
        }
        // One heading for the session, one for each message, whatever the messages say.
        assert_eq!(page.matches("<h1>").count(), 1, "{text}");
        assert_eq!(page.matches("<h2>").count(), 11, "{text}\nin {document}");
    }
}

fn tags(page: &str) -> Vec<&str> {
    // The style sheet is ours and holds signs that look like tags.
    let style = page.find("<style>").map_or(0..0, |start| {
        start + 7..page.find("</style>").unwrap_or(start)
    });
    let starts = page
        .match_indices('<')
        .map(|(at, _)| at)
        .filter(|at| !style.contains(at));
    starts
        .map(|at| &page[at..page[at..].find('>').map_or(page.len(), |end| at + end + 1)])
        .collect()
}

/// Whether the exporter writes such a tag: a known name, and only attributes whose values it makes
/// or checks.
fn is_ours(tag: &str) -> bool {
    const NAMES: &[&str] = &[
        "!doctype",
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "header",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "dl",
        "div",
        "dt",
        "dd",
        "p",
        "nav",
        "details",
        "summary",
        "ol",
        "ul",
        "li",
        "a",
        "small",
        "main",
        "section",
        "article",
        "footer",
        "span",
        "b",
        "pre",
        "code",
        "blockquote",
        "em",
        "strong",
        "del",
        "br",
        "hr",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "img",
    ];
    let inner = tag
        .trim_start_matches("</")
        .trim_start_matches('<')
        .trim_end_matches('>')
        .trim_end_matches('/');
    let (name, attributes) = inner.split_once(' ').unwrap_or((inner, ""));
    if name == "meta" || name == "!doctype" {
        return true;
    }
    NAMES.contains(&name.trim())
        && attributes_of(attributes)
            .is_some_and(|all| all.iter().all(|(name, value)| is_safe(name, value)))
}

fn is_safe(name: &str, value: &str) -> bool {
    match name {
        "class" | "id" | "lang" | "dir" | "rel" | "open" | "alt" | "title" => true,
        "href" => ["#", "http://", "https://", "mailto:"]
            .iter()
            .any(|start| value.starts_with(start)),
        "src" => value.starts_with("data:image/"),
        _ => false,
    }
}

/// `None` if they are not all of the form `name="value"`, or `open`.
fn attributes_of(text: &str) -> Option<Vec<(&str, &str)>> {
    let mut all = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("open") {
            rest = after.trim_start();
            continue;
        }
        let (name, after) = rest.split_once("=\"")?;
        let (value, after) = after.split_once('"')?;
        if !name.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return None;
        }
        all.push((name, value));
        rest = after.trim_start();
    }
    Some(all)
}

/// Whether Markdown alone makes such a tag, and it does nothing.
fn is_formatting(tag: &str) -> bool {
    is_ours(tag) && !tag.starts_with("<img") && !tag.starts_with("<style")
        || tag == "<input disabled=\"\" type=\"checkbox\"/>"
}
