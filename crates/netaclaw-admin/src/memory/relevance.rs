//! The relevance of memories for a text.
//!
//! A user has few facts, so they are compared here and not in the database: the same on every
//! database, and for every language. Words count as they are and by how they begin; writing
//! without spaces (Chinese, Japanese, Korean) counts by pairs of characters.

use netaclaw_protocol::Memory;
use std::collections::{HashMap, HashSet};

/// The facts that have something to do with the query, the most relevant first.
pub fn search<'a>(memories: &'a [Memory], query: &str) -> Vec<&'a Memory> {
    let scored = scores(memories, query);
    let mut found: Vec<(f64, &Memory)> = scored
        .into_iter()
        .zip(memories)
        .filter(|(score, _)| *score > 0.0)
        .collect();
    found.sort_by(|(one, a), (other, b)| other.total_cmp(one).then_with(|| newer(a, b)));
    found.into_iter().map(|(_, memory)| memory).collect()
}

/// All facts: those that have something to do with the text first, then the newest.
pub fn by_relevance<'a>(memories: &'a [Memory], text: &str) -> Vec<&'a Memory> {
    let scored = scores(memories, text);
    let mut all: Vec<(f64, &Memory)> = scored.into_iter().zip(memories).collect();
    all.sort_by(|(one, a), (other, b)| other.total_cmp(one).then_with(|| newer(a, b)));
    all.into_iter().map(|(_, memory)| memory).collect()
}

fn newer(a: &Memory, b: &Memory) -> std::cmp::Ordering {
    let key = |memory: &Memory| (memory.stamp.updated_at, memory.id.as_str().to_owned());
    key(b).cmp(&key(a))
}

/// How well each fact matches the query: rare terms count more, and the whole query most.
fn scores(memories: &[Memory], query: &str) -> Vec<f64> {
    let texts: Vec<String> = memories
        .iter()
        .map(|memory| folded(&memory.spec.text))
        .collect();
    let terms: Vec<HashSet<String>> = texts.iter().map(|text| terms_of(text)).collect();
    let query = folded(query);
    let wanted = terms_of(&query);
    let mut known_in: HashMap<&str, usize> = HashMap::new();
    for wanted in &wanted {
        let count = terms.iter().filter(|terms| has(terms, wanted)).count();
        known_in.insert(wanted, count);
    }
    let all = memories.len() as f64;
    let rarity = |term: &str| {
        let count = known_in.get(term).copied().unwrap_or_default() as f64;
        (1.0 + all / count.max(1.0)).ln()
    };
    let phrase = query.trim();
    texts
        .iter()
        .zip(&terms)
        .map(|(text, terms)| {
            let shared = wanted.iter().filter(|wanted| has(terms, wanted));
            let score: f64 = shared.map(|term| rarity(term)).sum();
            let whole = !phrase.is_empty() && text.contains(phrase);
            score + if whole { 10.0 } else { 0.0 }
        })
        .collect()
}

/// Whether a term is there, or a word that it begins or that begins it.
fn has(terms: &HashSet<String>, wanted: &str) -> bool {
    const STEM_CHARS_MIN: usize = 4;
    if terms.contains(wanted) {
        return true;
    }
    let is_word = |term: &str| !term.chars().any(is_unspaced);
    let long = |term: &str| term.chars().count() >= STEM_CHARS_MIN;
    is_word(wanted)
        && long(wanted)
        && terms.iter().any(|term| {
            is_word(term)
                && long(term)
                && (term.starts_with(wanted) || wanted.starts_with(term.as_str()))
        })
}

fn folded(text: &str) -> String {
    text.to_lowercase()
}

/// Words, and pairs of characters where words have no spaces between them.
fn terms_of(text: &str) -> HashSet<String> {
    let mut terms = HashSet::new();
    for run in text.split(|c: char| !c.is_alphanumeric()) {
        let mut rest = run;
        while let Some(first) = rest.chars().next() {
            let unspaced = is_unspaced(first);
            let end = rest
                .find(|c: char| is_unspaced(c) != unspaced)
                .unwrap_or(rest.len());
            let (part, behind) = rest.split_at(end);
            match unspaced {
                true => terms.extend(pairs(part)),
                false => {
                    terms.insert(part.to_owned());
                }
            }
            rest = behind;
        }
    }
    // A single letter is not a term; a single Chinese character is.
    terms.retain(|term| term.chars().count() > 1 || term.chars().all(is_unspaced));
    terms
}

fn pairs(part: &str) -> Vec<String> {
    let chars: Vec<char> = part.chars().collect();
    match chars.len() {
        1 => vec![part.to_owned()],
        _ => chars.windows(2).map(|pair| pair.iter().collect()).collect(),
    }
}

/// Han characters, kana and Hangul.
fn is_unspaced(char: char) -> bool {
    matches!(u32::from(char),
        0x3040..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7af
        | 0xf900..=0xfaff | 0x20000..=0x3ffff)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netaclaw_protocol::{MemoryAuthor, MemoryId, MemorySpec, MemoryStatus, Stamp, UserId};

    fn memories(texts: &[&str]) -> Vec<Memory> {
        let memory = |(at, text): (usize, &&str)| Memory {
            id: MemoryId::new(at.to_string()),
            user_id: UserId::new("u"),
            spec: MemorySpec {
                agent_id: None,
                text: (*text).to_owned(),
            },
            status: MemoryStatus::default(),
            session_id: None,
            replaces: None,
            author: MemoryAuthor::Agent,
            stamp: Stamp {
                rev: 1,
                created_at: at as i64,
                updated_at: at as i64,
            },
        };
        texts.iter().enumerate().map(memory).collect()
    }

    #[track_caller]
    fn check(texts: &[&str], query: &str, expected: &[&str]) {
        let memories = memories(texts);
        let found: Vec<&str> = search(&memories, query)
            .iter()
            .map(|memory| memory.spec.text.as_str())
            .collect();
        assert_eq!(found, expected, "{query}");
    }

    const FACTS: [&str; 6] = [
        "The user is called Lin.",
        "The user prefers tabs over spaces.",
        "Deployments happen on Fridays.",
        "用户住在上海，喜欢喝茶。",
        "用户的猫叫咪咪。",
        "The build runs with make test.",
    ];

    #[test]
    fn words_are_found_whatever_their_form() {
        check(&FACTS, "deploy", &[FACTS[2]]);
        check(&FACTS, "DEPLOYMENT on friday", &[FACTS[2]]);
        check(&FACTS, "make test", &[FACTS[5]]);
        check(&FACTS, "zebra", &[]);
        check(&FACTS, "", &[]);
    }

    #[test]
    fn chinese_is_found_without_spaces() {
        check(&FACTS, "上海的天气怎么样", &[FACTS[3]]);
        check(&FACTS, "喝茶", &[FACTS[3]]);
        check(&FACTS, "猫", &[FACTS[4]]);
        check(&FACTS, "我的猫叫什么名字？", &[FACTS[4]]);
    }

    #[test]
    fn what_is_rarer_counts_more() {
        check(&FACTS, "user tabs", &[FACTS[1], FACTS[0]]);
    }

    #[test]
    fn everything_else_follows_with_the_newest_first() {
        let memories = memories(&["old", "about tea", "new"]);
        let all: Vec<&str> = by_relevance(&memories, "some tea, please")
            .iter()
            .map(|memory| memory.spec.text.as_str())
            .collect();
        assert_eq!(all, ["about tea", "new", "old"]);
    }
}
