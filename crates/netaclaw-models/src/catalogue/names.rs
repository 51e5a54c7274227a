//! Models by name, as suppliers, relays and people write it.

use super::models::{MODELS, Row};

/// The row for a name as suppliers vary it: another case, a vendor or region before it, a date, a
/// size, a version or a tag behind it. The longest name that fits wins.
pub(super) fn find(model: &str) -> Option<&'static Row> {
    let name = plain(model);
    // Relays write the versions of this family with a dot.
    let dashed = name.starts_with("claude").then(|| name.replace('.', "-"));
    longest(&name).or_else(|| longest(&dashed?))
}

fn longest(name: &str) -> Option<&'static Row> {
    MODELS
        .iter()
        .filter(|row| name.strip_prefix(row.name).is_some_and(is_variant))
        .max_by_key(|row| row.name.len())
}

/// In lower case, and without what comes before the name: `openai/`, `models/`, `us.anthropic.`.
fn plain(model: &str) -> String {
    let name = model.trim().to_lowercase();
    let mut name = name.rsplit('/').next().unwrap_or_default();
    while let Some((vendor, rest)) = name.split_once('.') {
        let is_word = |text: &str| text.bytes().next().is_some_and(|b| b.is_ascii_lowercase());
        if vendor.is_empty() || !vendor.bytes().all(|b| b.is_ascii_lowercase()) || !is_word(rest) {
            break;
        }
        name = rest;
    }
    name.to_owned()
}

/// Whether what follows a known name still means the same model.
fn is_variant(rest: &str) -> bool {
    // Ollama's tags are sizes and quantizations of one family; those of relays are price classes.
    let rest = rest.split(':').next().unwrap_or_default();
    let Some(tail) = rest.strip_prefix(['-', '@']) else {
        return rest.is_empty();
    };
    tail.split(['-', '_', '@']).all(is_variant_word)
}

fn is_variant_word(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "latest", "preview", "exp", "ga", "stable", "beta", "free", "instruct", "it", "hf", "fp8",
        "fp16", "bf16", "int4", "int8", "awq", "gptq", "gguf", "mlx", "4bit", "8bit",
    ];
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_date = |text: &str| digits(text) && text.len() >= 2;
    let is_version = word.strip_prefix('v').is_some_and(digits);
    WORDS.contains(&word) || is_version || is_size(word) || word.split('.').all(is_date)
}

/// `70b`, `1.5b`, `a22b`, `8x7b`.
fn is_size(word: &str) -> bool {
    let Some(size) = word.strip_suffix('b') else {
        return false;
    };
    let size = size.strip_prefix('a').unwrap_or(size);
    let is_count = |b: u8| b.is_ascii_digit() || b == b'.' || b == b'x';
    size.bytes().next().is_some_and(|b| b.is_ascii_digit()) && size.bytes().all(is_count)
}

/// Whether a model answers in chats, as far as its name says. Embeddings, rerankers, speech, images
/// and moderation do not.
pub(super) fn is_chat(model: &str) -> bool {
    /// Anywhere in the name.
    const PARTS: &[&str] = &[
        "embed",
        "rerank",
        "whisper",
        "transcri",
        "speech",
        "moderation",
        "dall-e",
        "dalle",
        "stable-diffusion",
        "sdxl",
        "cogview",
        "cogvideo",
        "seedream",
        "seedance",
        "paraformer",
        "sensevoice",
        "cosyvoice",
        "hailuo",
        "imagen",
        "wanx",
        "text-to-",
        "-to-video",
    ];
    /// As a word of its own.
    const WORDS: &[&str] = &[
        "image", "images", "tts", "asr", "stt", "bge", "gte", "e5", "m3e", "flux", "kolors",
        "sora", "veo", "lyria", "video", "audio", "realtime", "guard", "davinci", "babbage", "aqa",
    ];
    if find(model).is_some() {
        return true;
    }
    let name = model.to_lowercase();
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    !PARTS.iter().any(|part| name.contains(part)) && !words.any(|word| WORDS.contains(&word))
}
