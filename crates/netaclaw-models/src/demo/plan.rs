//! The demo's reaction to a request: a few rules on the user's words.

use super::arguments::fill;
use super::rules::RULES;
use super::summary;
use super::words::{brief, is_chinese};
use crate::request::{ModelRequest, ToolDefinition};
use netaclaw_protocol::{ContentBlock, Message, ThinkingLevel, ToolResultMessage, UserContent};
use serde_json::Value;

#[derive(Debug, Default, PartialEq)]
pub(super) struct Plan {
    pub(super) thinking: String,
    pub(super) text: String,
    pub(super) calls: Vec<PlannedCall>,
}

#[derive(Debug, PartialEq)]
pub(super) struct PlannedCall {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: Value,
}

pub(super) fn plan(request: &ModelRequest) -> Plan {
    let question = last_user_text(&request.messages);
    let instructions = request.system.stable.to_lowercase();
    let asks_for = |words: &[&str]| words.iter().any(|word| instructions.contains(word));
    // Only a request without tools is one of the program itself, which expects a text and no
    // conversation.
    if request.tools.is_empty() && asks_for(&["title", "标题"]) {
        return Plan::with_text(brief(quoted_user(&question), 24));
    }
    if request.tools.is_empty() && asks_for(&["summar", "condense", "compact", "摘要", "总结"])
    {
        return Plan::with_text(summary::extract(&question, request.max_output_tokens));
    }
    let chinese = is_chinese(&question);
    let results = trailing_results(&request.messages);
    let mut plan = if results.is_empty() {
        answer(request, &question, chinese)
    } else {
        Plan::with_text(about_results(&results, chinese))
    };
    if request.thinking != ThinkingLevel::Off {
        plan.thinking = thought(&plan, chinese);
    }
    plan
}

/// What the user said in a conversation that is quoted as data; the text itself if it is not.
fn quoted_user(text: &str) -> &str {
    let quoted = text.split_once("<user>").map(|(_, rest)| rest);
    quoted.map_or(text, |rest| rest.split("</user>").next().unwrap_or(rest))
}

impl Plan {
    fn with_text(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

fn answer(request: &ModelRequest, question: &str, chinese: bool) -> Plan {
    let lower = question.to_lowercase();
    let earlier = calls_so_far(&request.messages);
    let calls: Vec<PlannedCall> = RULES
        .iter()
        .filter(|rule| rule.words.iter().any(|word| lower.contains(word)))
        .filter_map(|rule| {
            let tool = offered(&request.tools, rule.tool)?;
            Some((tool, (rule.hints)(question)?))
        })
        .enumerate()
        .map(|(at, (tool, hints))| PlannedCall {
            // Unique on its path, and the same every time.
            id: format!("demo_{}", earlier + at + 1),
            name: tool.name.clone(),
            arguments: fill(&tool.schema, &hints),
        })
        .collect();
    if calls.is_empty() {
        return Plan::with_text(introduction(request, question, chinese));
    }
    let names: Vec<String> = calls
        .iter()
        .map(|call| format!("`{}`", call.name))
        .collect();
    Plan {
        text: match chinese {
            true => format!("好的，我来使用 {}。", names.join("、")),
            false => format!("I will use {}.", names.join(" and ")),
        },
        calls,
        ..Plan::default()
    }
}

fn offered<'a>(tools: &'a [ToolDefinition], name: &str) -> Option<&'a ToolDefinition> {
    tools.iter().find(|tool| tool.name == name)
}

/// An introduction of the demo model, and what the user can try.
fn introduction(request: &ModelRequest, question: &str, chinese: bool) -> String {
    let has = |name: &str| offered(&request.tools, name).is_some();
    let tries: Vec<&str> = [
        ("ls", "“list files”", "“列出文件”"),
        ("read", "“read README.md”", "“读取 README.md”"),
        ("grep", "“search for TODO”", "“搜索 TODO”"),
        (
            "write",
            "“write \"hello\" to notes.txt”",
            "“写入 \"你好\" 到 notes.txt”",
        ),
        (
            "edit",
            "“replace \"hello\" with \"goodbye\" in notes.txt”",
            "“把 \"你好\" 替换为 \"再见\"，文件 notes.txt”",
        ),
        (
            "memory_save",
            "“remember that I like tea”",
            "“记住我喜欢喝茶”",
        ),
        (
            "todo",
            "“todo: buy milk, call Anna”",
            "“待办：买牛奶，打电话”",
        ),
        (
            "clarify",
            "“ask me which colour: red, green, blue”",
            "“问我喜欢什么颜色：红，绿，蓝”",
        ),
    ]
    .into_iter()
    .filter(|(tool, ..)| has(tool))
    .map(|(_, english, words)| if chinese { words } else { english })
    .collect();
    let said = brief(question, 80);
    match (chinese, tries.is_empty()) {
        (true, true) => format!(
            "我是 NetaClaw 内置的演示模型，离线运行，只按固定规则回答，并没有真正的知识。您说的是：“{said}”。要得到真正的回答，请在设置中添加模型渠道。"
        ),
        (true, false) => format!(
            "我是 NetaClaw 内置的演示模型，离线运行，只按固定规则回答，并没有真正的知识。您说的是：“{said}”。可以试试 {}；要得到真正的回答，请在设置中添加模型渠道。",
            tries.join("、")
        ),
        (false, true) => format!(
            "I am the demo model built into NetaClaw. I work offline, follow fixed rules and know nothing. You wrote: “{said}”. Add a channel in the settings to talk to a real model."
        ),
        (false, false) => format!(
            "I am the demo model built into NetaClaw. I work offline, follow fixed rules and know nothing. You wrote: “{said}”. Try {}, or add a channel in the settings to talk to a real model.",
            tries.join(", ")
        ),
    }
}

fn about_results(results: &[&ToolResultMessage], chinese: bool) -> String {
    let about = |result: &&ToolResultMessage| {
        let text = plain_text(&result.content);
        let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
        let name = &result.tool_name;
        let start = brief(&text, 160);
        match (chinese, result.is_error) {
            (true, true) => format!("工具 `{name}` 出错：{start}"),
            (true, false) => format!("工具 `{name}` 返回了 {lines} 行，开头是：{start}"),
            (false, true) => format!("The tool `{name}` failed: {start}"),
            (false, false) => format!(
                "The tool `{name}` gave {lines} {}, which begin: {start}",
                if lines == 1 { "line" } else { "lines" }
            ),
        }
    };
    results.iter().map(about).collect::<Vec<_>>().join("\n")
}

fn thought(plan: &Plan, chinese: bool) -> String {
    let tools: Vec<&str> = plan.calls.iter().map(|call| call.name.as_str()).collect();
    match (chinese, tools.is_empty()) {
        (true, true) => "这是一条普通消息，没有可用的工具规则，我直接回答。".into(),
        (true, false) => format!("用户的话符合规则，应当调用：{}。", tools.join("、")),
        (false, true) => "No rule of mine asks for a tool here, so I simply answer.".into(),
        (false, false) => format!(
            "The words fit a rule, so I should call {}.",
            tools.join(" and ")
        ),
    }
}

fn last_user_text(messages: &[Message]) -> String {
    let last = messages.iter().rev().find_map(|message| match message {
        Message::User(user) => Some(&user.content),
        _ => None,
    });
    match last {
        Some(UserContent::Text(text)) => text.clone(),
        Some(UserContent::Blocks(blocks)) => plain_text(blocks),
        None => String::new(),
    }
}

fn plain_text(blocks: &[ContentBlock]) -> String {
    let texts = blocks.iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The results that wait for an answer.
fn trailing_results(messages: &[Message]) -> Vec<&ToolResultMessage> {
    let mut results: Vec<&ToolResultMessage> = messages
        .iter()
        .rev()
        .map_while(|message| match message {
            Message::ToolResult(result) => Some(result),
            _ => None,
        })
        .collect();
    results.reverse();
    results
}

fn calls_so_far(messages: &[Message]) -> usize {
    let calls = messages.iter().map(|message| match message {
        Message::Assistant(answer) => answer
            .content
            .iter()
            .filter(|block| matches!(block, ContentBlock::ToolCall { .. }))
            .count(),
        _ => 0,
    });
    calls.sum()
}
