//! The words that make the demo call a tool.

use super::arguments::ArgumentHints;

/// Words that ask for a tool. Every rule that fits is followed, so one message can ask for two.
pub(super) struct Rule {
    pub(super) tool: &'static str,
    pub(super) words: &'static [&'static str],
    pub(super) hints: fn(&str) -> Option<ArgumentHints>,
}

/// What stands around a text in a message. Pages show an example with backquotes as code, without
/// them.
const QUOTES: [char; 2] = ['`', '"'];

pub(super) const RULES: &[Rule] = &[
    Rule {
        tool: "ls",
        words: &[
            "list files",
            "list the files",
            "列出文件",
            "列出目录",
            "有哪些文件",
        ],
        hints: |_| {
            Some(ArgumentHints {
                path: Some(".".into()),
                ..ArgumentHints::default()
            })
        },
    },
    Rule {
        tool: "read",
        words: &["read ", "读取", "阅读", "打开"],
        hints: |text| {
            Some(ArgumentHints {
                path: Some(path_in(text)?),
                ..ArgumentHints::default()
            })
        },
    },
    Rule {
        tool: "todo",
        words: &["todo", "to-do", "待办"],
        hints: |text| {
            let (topic, items) = list_in(text);
            Some(ArgumentHints {
                items: if items.is_empty() {
                    vec![topic.clone()]
                } else {
                    items
                },
                text: topic,
                ..ArgumentHints::default()
            })
        },
    },
    Rule {
        tool: "clarify",
        words: &["ask me", "问我"],
        hints: |text| {
            let (topic, items) = list_in(text);
            Some(ArgumentHints {
                text: format!("{topic}?"),
                items,
                ..ArgumentHints::default()
            })
        },
    },
    Rule {
        tool: "bash",
        words: &["run `", "运行 `", "执行 `", "运行`", "执行`"],
        hints: |text| {
            Some(ArgumentHints {
                command: Some(text.split('`').nth(1)?.to_owned()),
                ..ArgumentHints::default()
            })
        },
    },
    Rule {
        tool: "grep",
        words: &["search for", "搜索"],
        hints: what_follows,
    },
    Rule {
        tool: "find",
        words: &["find files", "find the file", "查找文件"],
        hints: |text| {
            Some(ArgumentHints {
                text: path_in(text)?,
                ..ArgumentHints::default()
            })
        },
    },
    Rule {
        tool: "write",
        words: &[
            "write `",
            "write \"",
            "写入 `",
            "写入`",
            "写入 \"",
            "写入\"",
        ],
        hints: |text| {
            Some(ArgumentHints {
                text: format!("{}\n", text.split(QUOTES).nth(1)?),
                path: Some(path_in(text.rsplit(QUOTES).next()?)?),
                ..ArgumentHints::default()
            })
        },
    },
    Rule {
        tool: "edit",
        words: &[
            "replace `",
            "replace \"",
            "替换 `",
            "替换`",
            "把 `",
            "把`",
            "把 \"",
            "把\"",
        ],
        hints: |text| {
            let mut quoted = text.split(QUOTES).skip(1).step_by(2);
            Some(ArgumentHints {
                replacement: Some((quoted.next()?.to_owned(), quoted.next()?.to_owned())),
                path: Some(path_in(text.rsplit(QUOTES).next()?)?),
                ..ArgumentHints::default()
            })
        },
    },
    Rule {
        tool: "web_fetch",
        words: &["fetch ", "抓取"],
        hints: |text| {
            let url = text
                .split_whitespace()
                .find(|word| word.starts_with("http"))?;
            Some(ArgumentHints {
                url: Some(url.to_owned()),
                ..ArgumentHints::default()
            })
        },
    },
    Rule {
        tool: "memory_save",
        words: &["remember that", "记住"],
        hints: what_follows,
    },
    Rule {
        tool: "memory_search",
        words: &["what do you remember about", "你记得"],
        hints: what_follows,
    },
    Rule {
        tool: "delegate_task",
        words: &["delegate", "委派"],
        hints: |text| {
            Some(ArgumentHints {
                text: text.to_owned(),
                ..ArgumentHints::default()
            })
        },
    },
];

/// Hints that are what follows the word that asked.
fn what_follows(text: &str) -> Option<ArgumentHints> {
    let said = [
        "search for",
        "搜索",
        "remember that",
        "记住",
        "what do you remember about",
        "你记得",
    ]
    .iter()
    .find_map(|word| text.split_once(word))
    .map(|(_, rest)| rest.trim_matches([' ', ':', '：', '"', '。', '.', '?', '？']))?;
    Some(ArgumentHints {
        text: said.to_owned(),
        ..ArgumentHints::default()
    })
}

/// The first word that looks like a file.
fn path_in(text: &str) -> Option<String> {
    text.split(|c: char| c.is_whitespace() || "“”\"'`,，。()（）?？".contains(c))
        .map(|word| word.trim_matches(['.', ':', '：']))
        // Chinese puts no space before a name.
        .map(|word| word.trim_start_matches(|c: char| !c.is_ascii()))
        .find(|word| {
            word.contains('/')
                || word
                    .rsplit_once('.')
                    .is_some_and(|(_, end)| !end.is_empty())
        })
        .map(str::to_owned)
}

/// `topic: one, two` as its topic and its items.
fn list_in(text: &str) -> (String, Vec<String>) {
    let (topic, list) = text.split_once([':', '：']).unwrap_or((text, ""));
    let items = list
        .split([',', '，', '、', ';', '；', '\n'])
        .map(str::trim)
        .filter(|item| !item.is_empty())
        .map(str::to_owned)
        .collect();
    (topic.trim().to_owned(), items)
}
