//! Validates the summary of a model.

use crate::failure::Flaw;
use netaclaw_models::tokens::estimate_text;
use netaclaw_protocol::{AssistantMessage, ContentBlock, StopReason};

/// What is shorter says nothing.
const SUMMARY_CHARS_MIN: usize = 200;

/// The summary in an answer. `replaces` is the size of what it replaces.
pub(crate) fn summary_of(answer: &AssistantMessage, replaces: u64) -> Result<String, Flaw> {
    if answer.stop_reason == StopReason::Length {
        return Err(Flaw::CutOff);
    }
    let texts = answer.content.iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some(text.as_str()),
        _ => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    let text = text.trim();
    let thought = |block: &ContentBlock| matches!(block, ContentBlock::Thinking { .. });
    if text.is_empty() && answer.content.iter().any(thought) {
        return Err(Flaw::OnlyThinking);
    }
    if text.is_empty() {
        return Err(Flaw::Empty);
    }
    if text.chars().count() < SUMMARY_CHARS_MIN {
        return Err(Flaw::TooShort);
    }
    match estimate_text(text) > replaces {
        true => Err(Flaw::Longer),
        false => Ok(text.to_owned()),
    }
}

/// The maximum to store for a summary of this many tokens.
pub(crate) fn ceiling(summary_tokens: u64) -> u64 {
    summary_tokens * 5 / 4
}

/// The summary with its longest sections cut until all of it fits. Every heading stays.
pub(crate) fn trimmed(summary: &str, tokens_max: u64) -> String {
    let mut sections = sections(summary);
    let note = "… (shortened)";
    // Every section may have what is its own, but not more than an equal share of what is left.
    let mut sizes: Vec<u64> = sections
        .iter()
        .map(|text| estimate_text(text) + 4)
        .collect();
    let mut left = tokens_max.saturating_sub(4 * sections.len() as u64);
    let mut order: Vec<usize> = (0..sections.len()).collect();
    order.sort_by_key(|at| sizes[*at]);
    for (done, at) in order.iter().enumerate() {
        let share = left / (order.len() - done) as u64;
        sizes[*at] = sizes[*at].min(share);
        left -= sizes[*at];
    }
    for (section, size) in sections.iter_mut().zip(sizes) {
        if estimate_text(section) > size {
            *section = format!("{}\n{note}", beginning(section, size.saturating_sub(6)));
        }
    }
    sections.join("\n\n")
}

fn sections(summary: &str) -> Vec<String> {
    let mut sections: Vec<String> = Vec::new();
    for line in summary.lines() {
        match sections.last_mut() {
            Some(section) if !line.starts_with('#') => {
                section.push('\n');
                section.push_str(line);
            }
            _ => sections.push(line.to_owned()),
        }
    }
    sections.iter().map(|text| text.trim().to_owned()).collect()
}

/// The beginning of a text with this many tokens, up to the end of a line where there is one.
fn beginning(text: &str, tokens: u64) -> &str {
    let mut low = 0;
    let ends: Vec<usize> = text
        .char_indices()
        .map(|(at, c)| at + c.len_utf8())
        .collect();
    let mut high = ends.len();
    while low < high {
        let middle = (low + high).div_ceil(2);
        match estimate_text(&text[..ends[middle - 1]]) <= tokens {
            true => low = middle,
            false => high = middle - 1,
        }
    }
    let cut = &text[..low.checked_sub(1).map_or(0, |at| ends[at])];
    let line = cut.rfind('\n').filter(|at| *at > cut.len() / 2);
    cut[..line.unwrap_or(cut.len())].trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trimming_keeps_every_heading_and_the_limit() {
        let long = "- a finding in more detail than the summary needs\n".repeat(200);
        let summary =
            format!("## Goal\nFix the parser.\n\n## Findings\n{long}\n## Open\n- the tests");
        let short = trimmed(&summary, 300);
        assert!(estimate_text(&short) <= 300, "{}", estimate_text(&short));
        for kept in [
            "## Goal\nFix the parser.",
            "## Findings",
            "## Open\n- the tests",
            "(shortened)",
        ] {
            assert!(short.contains(kept), "{short}");
        }
        let chinese = format!("## 目标\n{}", "修复解析器。".repeat(300));
        assert!(estimate_text(&trimmed(&chinese, 200)) <= 200);
    }
}
