//! Token estimates without a tokenizer.
//!
//! A quarter of the characters is the usual rule for Latin text. It is three times too little for
//! Chinese and for keys, a fifth too much for English prose and far too little for code, so
//! characters are weighed by what they are. The weights were fitted to two tokenizers on the texts
//! in `corpus/`, to which the tests hold them.

use crate::request::{ModelRequest, ToolDefinition};
use netaclaw_protocol::{AssistantMessage, ContentBlock, Message, UserContent};
use serde_json::Value;

/// What the frame around a message costs.
pub const MESSAGE_TOKENS: u64 = 4;
/// What a picture costs. Suppliers count by pixels; this is a picture of about a megapixel.
pub const IMAGE_TOKENS: u64 = 1200;

/// Hundredths of a token, so that sums stay whole numbers.
const LETTER: u64 = 22;
const DIGIT: u64 = 60;
const SPACE: u64 = 8;
const MARK: u64 = 72;
const IDEOGRAPH: u64 = 73;
/// Of Chinese and Japanese, and full-width forms.
const WIDE_MARK: u64 = 95;
const KANA: u64 = 68;
const HANGUL: u64 = 80;
const ACCENTED: u64 = 100;
/// Cyrillic, Arabic and the like.
const OTHER_LETTER: u64 = 32;
const EMOJI: u64 = 250;
const SYMBOL: u64 = 60;
/// A character of base64, a hash or a key, in which no tokenizer finds words.
const SCRAMBLED: u64 = 65;
/// Shorter ones are names.
const SCRAMBLED_CHARS_MIN: usize = 24;

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
    MESSAGE_TOKENS + (text + tool.schema.weight(hundredths)).div_ceil(100)
}

fn blocks_hundredths(blocks: &[ContentBlock]) -> u64 {
    blocks.iter().map(block_hundredths).sum()
}

fn block_hundredths(block: &ContentBlock) -> u64 {
    match block {
        ContentBlock::Text { text } => hundredths(text),
        // A signature is sent but no supplier counts it as text.
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
    if text.is_ascii() {
        return ascii_hundredths(text.as_bytes());
    }
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
    weight(bytes) + scrambled_extra(bytes)
}

fn weight(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .map(|byte| u64::from(ASCII[*byte as usize & 127]))
        .sum()
}

/// The tokens of scrambled stretches beyond the weight of their characters. Only every n-th byte is
/// sampled, because every stretch that counts is longer.
fn scrambled_extra(bytes: &[u8]) -> u64 {
    let mut extra = 0;
    let mut at = SCRAMBLED_CHARS_MIN - 1;
    while let Some(byte) = bytes.get(at) {
        if !may_scramble(*byte) {
            at += SCRAMBLED_CHARS_MIN;
            continue;
        }
        let ends = |byte: &u8| !may_scramble(*byte);
        let from = bytes[..at].iter().rposition(ends).map_or(0, |n| n + 1);
        let to = bytes[at..].iter().position(ends);
        let to = to.map_or(bytes.len(), |n| at + n);
        let run = &bytes[from..to];
        if run.len() >= SCRAMBLED_CHARS_MIN && is_scrambled(run) {
            extra += (SCRAMBLED * run.len() as u64).saturating_sub(weight(run));
        }
        at = to + SCRAMBLED_CHARS_MIN;
    }
    extra
}

fn may_scramble(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
}

/// Whether capitals, small letters and digits change places more often than in any name. A word
/// may begin with a capital.
fn is_scrambled(run: &[u8]) -> bool {
    let class = |byte: u8| match byte {
        b'A'..=b'Z' => 1,
        b'a'..=b'z' => 2,
        b'0'..=b'9' => 3,
        _ => 0,
    };
    let changes = run.windows(2).filter(|pair| {
        let [a, b] = [class(pair[0]), class(pair[1])];
        a != 0 && b != 0 && a != b && (a, b) != (1, 2)
    });
    changes.count() * 3 > run.len()
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
        0x3400..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3ffff => IDEOGRAPH,
        0x2e80..=0x303f | 0xfe30..=0xfe4f | 0xff00..=0xffef => WIDE_MARK,
        0x3040..=0x33ff => KANA,
        0x1100..=0x11ff | 0xac00..=0xd7af => HANGUL,
        0xc0..=0x24f => ACCENTED,
        0x250..=0x1fff => OTHER_LETTER,
        0x1f000..=0x1faff => EMOJI,
        _ => SYMBOL,
    }
}

#[cfg(test)]
mod tests;
