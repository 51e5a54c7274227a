//! How many tokens something will be, without a tokenizer.
//!
//! A quarter of the characters is the usual rule for Latin text. It is four times too little for
//! Chinese, a third too much for English prose and a third too little for identifiers and
//! numbers, so characters are weighed by what they are; on prose mixed with code the sum is close
//! to the quarter again. The tests hold it to real tokenizers.

use crate::request::{ModelRequest, ToolDefinition};
use netaclaw_protocol::{AssistantMessage, ContentBlock, Message, UserContent};
use serde_json::Value;

/// What the frame around a message costs.
pub const MESSAGE_TOKENS: u64 = 4;
/// What a picture costs. Suppliers count by pixels; this is a picture of about a megapixel.
pub const IMAGE_TOKENS: u64 = 1200;

/// Hundredths of a token, so that sums stay whole numbers.
const LETTER: u64 = 22;
const DIGIT: u64 = 70;
const SPACE: u64 = 10;
const MARK: u64 = 33;
const CJK: u64 = 100;
/// Cyrillic, Arabic, accented letters, symbols.
const OTHER: u64 = 45;

/// Tokens of a text.
pub fn estimate_text(text: &str) -> u64 {
    hundredths(text).div_ceil(100)
}

/// Tokens of one message, its frame included.
pub fn estimate_message(message: &Message) -> u64 {
    let content = match message {
        Message::User(user) => match &user.content {
            UserContent::Text(text) => hundredths(text),
            UserContent::Blocks(blocks) => blocks_hundredths(blocks),
        },
        Message::Assistant(AssistantMessage { content, .. }) => blocks_hundredths(content),
        Message::ToolResult(result) => {
            hundredths(&result.tool_call_id) + blocks_hundredths(&result.content)
        }
    };
    MESSAGE_TOKENS + content.div_ceil(100)
}

/// Tokens of everything a request carries: instructions, tools and messages.
pub fn estimate_request(request: &ModelRequest) -> u64 {
    let system: u64 = request.system.parts().map(estimate_text).sum();
    let tools: u64 = request.tools.iter().map(estimate_tool).sum();
    let messages: u64 = request.messages.iter().map(estimate_message).sum();
    system + tools + messages
}

/// Tokens of a tool's definition.
pub fn estimate_tool(tool: &ToolDefinition) -> u64 {
    let text = hundredths(&tool.name) + hundredths(&tool.description);
    MESSAGE_TOKENS + (text + json_hundredths(&tool.schema)).div_ceil(100)
}

fn blocks_hundredths(blocks: &[ContentBlock]) -> u64 {
    blocks.iter().map(block_hundredths).sum()
}

fn block_hundredths(block: &ContentBlock) -> u64 {
    match block {
        ContentBlock::Text { text } => hundredths(text),
        // A signature goes over the wire but is not counted as text by anybody.
        ContentBlock::Thinking { thinking, .. } => hundredths(thinking),
        ContentBlock::Image { .. } => IMAGE_TOKENS * 100,
        ContentBlock::ToolCall {
            id,
            name,
            arguments,
        } => hundredths(id) + hundredths(name) + json_hundredths(arguments),
    }
}

/// The weight of a value as compact JSON, without writing it.
fn json_hundredths(value: &Value) -> u64 {
    match value {
        Value::Null => 4 * LETTER,
        Value::Bool(_) => 5 * LETTER,
        Value::Number(number) => hundredths(&number.to_string()),
        Value::String(text) => 2 * MARK + hundredths(text),
        Value::Array(items) => {
            2 * MARK
                + items
                    .iter()
                    .map(|item| MARK + json_hundredths(item))
                    .sum::<u64>()
        }
        Value::Object(members) => {
            let inner = members
                .iter()
                .map(|(key, value)| 4 * MARK + hundredths(key) + json_hundredths(value));
            2 * MARK + inner.sum::<u64>()
        }
    }
}

fn hundredths(text: &str) -> u64 {
    let mut sum = 0;
    let mut rest = text;
    // Nearly all text is ASCII for long stretches, and those are a table look-up for each byte.
    while let Some(at) = rest.bytes().position(|byte| !byte.is_ascii()) {
        sum += ascii_hundredths(&rest.as_bytes()[..at]);
        let wide = rest[at..]
            .find(|c: char| c.is_ascii())
            .map_or(rest.len(), |n| at + n);
        sum += rest[at..wide].chars().map(wide_hundredths).sum::<u64>();
        rest = &rest[wide..];
    }
    sum + ascii_hundredths(rest.as_bytes())
}

fn ascii_hundredths(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .map(|byte| u64::from(ASCII[*byte as usize & 127]))
        .sum()
}

const ASCII: [u8; 128] = {
    let mut table = [MARK as u8; 128];
    let mut byte = 0;
    while byte < 128 {
        let b = byte as u8;
        if b.is_ascii_alphabetic() {
            table[byte] = LETTER as u8;
        } else if b.is_ascii_digit() {
            table[byte] = DIGIT as u8;
        } else if b.is_ascii_whitespace() {
            table[byte] = SPACE as u8;
        }
        byte += 1;
    }
    table
};

fn wide_hundredths(char: char) -> u64 {
    match char as u32 {
        // Ideographs, kana, hangul, and their punctuation and full-width forms.
        0x1100..=0x11ff
        | 0x2e80..=0x9fff
        | 0xac00..=0xd7af
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe4f
        | 0xff00..=0xffef
        | 0x20000..=0x3ffff => CJK,
        // Emoji are two or three tokens.
        0x1f000..=0x1faff => 2 * CJK,
        _ => OTHER,
    }
}

#[cfg(test)]
mod tests;
