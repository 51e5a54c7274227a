//! The demo's summary of a conversation: quotations.

use super::words::{brief, cut, is_chinese};
use crate::tokens;

/// The goal, the course, and the named files. Never longer than the limit.
pub(super) fn extract(text: &str, tokens_max: Option<u64>) -> String {
    let chinese = is_chinese(text);
    let paragraphs: Vec<&str> = text
        .split("\n\n")
        .map(str::trim)
        .filter(|paragraph| !paragraph.is_empty() && !paragraph.starts_with('<'))
        .collect();
    let goal = paragraphs
        .iter()
        .find_map(|paragraph| paragraph.strip_prefix("[User]:"))
        .or(paragraphs.first().copied())
        .unwrap_or_default();
    let tokens_max = tokens_max.unwrap_or(1024);
    let said = quotes(&paragraphs, tokens_max / 2);
    let files = files_in(text).join("\n");
    let note = match chinese {
        true => "本摘要由内置演示模型摘录原文而成，没有理解内容；细节请查看完整历史。",
        false => {
            "This summary was made by the built-in demo model, which quotes and does not understand; the full history has the details."
        }
    };
    let heads = match chinese {
        true => ["目标", "经过", "文件", "说明"],
        false => ["Goal", "What happened", "Files", "Note"],
    };
    let bodies = [&brief(goal, 300), &said, &files, note];
    let sections = heads
        .iter()
        .zip(bodies)
        .filter(|(_, body)| !body.is_empty());
    let whole: Vec<String> = sections
        .map(|(head, body)| format!("## {head}\n{body}"))
        .collect();
    cut(&whole.join("\n\n"), tokens_max)
}

/// As many of the last paragraphs as fit, each on a line, in their order: what matters now is at
/// the end.
fn quotes(paragraphs: &[&str], tokens_max: u64) -> String {
    let mut left = tokens_max;
    let mut lines: Vec<String> = paragraphs
        .iter()
        .rev()
        .map(|paragraph| format!("- {}", brief(paragraph, 140)))
        .take_while(|line| {
            let cost = tokens::estimate_text(line) + 1;
            let fits = cost <= left;
            left = left.saturating_sub(cost);
            fits
        })
        .collect();
    lines.reverse();
    lines.join("\n")
}

/// Paths as tool calls name them.
fn files_in(text: &str) -> Vec<String> {
    let mut files = Vec::new();
    for piece in text.split("path=\"").skip(1) {
        let path = piece.split('"').next().unwrap_or_default();
        let line = format!("- {path}");
        if !path.is_empty() && !files.contains(&line) {
            files.push(line);
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_names_goal_course_and_files_and_keeps_its_limit() {
        let mut text = String::from("<conversation>\n\n[User]: Fix the parser.\n\n");
        for n in 0..200 {
            text += &format!("[Assistant]: I looked at line {n} and thought about it.\n\n");
            text += "[Assistant tool calls]: read(path=\"src/parser.rs\")\n\n";
        }
        text += "</conversation>";
        let summary = extract(&text, Some(300));
        assert!(summary.starts_with("## Goal\nFix the parser."), "{summary}");
        assert!(summary.contains("- src/parser.rs"), "{summary}");
        assert!(summary.contains("line 199"), "{summary}");
        assert!(summary.len() > 200 && tokens::estimate_text(&summary) <= 300);
    }

    #[test]
    fn a_chinese_conversation_gets_a_chinese_summary() {
        let summary = extract("[User]: 修复解析器\n\n[Assistant]: 好的，我来看看。", None);
        assert!(summary.starts_with("## 目标\n修复解析器"), "{summary}");
    }
}
