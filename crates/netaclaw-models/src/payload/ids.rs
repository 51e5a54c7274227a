//! Names that an API accepts for calls and tools, whatever their origin.

use crate::catalogue::ApiFamily;
use std::borrow::Cow;
use std::collections::HashSet;

const OPENAI_ID_MAX: usize = 40;
const ANTHROPIC_ID_MAX: usize = 64;
const TOOL_NAME_MAX: usize = 64;

/// Hands out the ids of calls: as they were where that is allowed, and never one twice.
pub(super) struct CallIds {
    api: ApiFamily,
    taken: HashSet<String>,
}

impl CallIds {
    pub(super) fn new(api: ApiFamily) -> Self {
        Self {
            api,
            taken: HashSet::new(),
        }
    }

    /// The id for the next call. Depends only on the calls before it, so that a conversation
    /// keeps its ids as it grows.
    pub(super) fn take(&mut self, id: &str) -> String {
        let plain = self.normalise(id);
        let mut wire = plain.clone();
        let mut again = 2;
        while !self.taken.insert(wire.clone()) {
            let suffix = format!("_{again}");
            let mut stem = plain.clone();
            stem.truncate(self.max() - suffix.len());
            wire = stem + &suffix;
            again += 1;
        }
        wire
    }

    fn max(&self) -> usize {
        match self.api {
            ApiFamily::AnthropicMessages => ANTHROPIC_ID_MAX,
            ApiFamily::OpenaiChat | ApiFamily::Demo => OPENAI_ID_MAX,
        }
    }

    fn normalise(&self, id: &str) -> String {
        // Some models expect their own ids back, dots and colons included; only Anthropic is
        // strict about characters.
        let allowed = |c: char| match self.api {
            ApiFamily::AnthropicMessages => is_word(c),
            ApiFamily::OpenaiChat | ApiFamily::Demo => c.is_ascii_graphic(),
        };
        let mut plain: String = id
            .chars()
            .map(|c| if allowed(c) { c } else { '_' })
            .collect();
        if plain.is_empty() {
            plain.push_str("call");
        }
        if plain.len() > self.max() {
            // Two long ids often differ only at their ends.
            let mark = format!("_{:08x}", fnv(id.as_bytes()));
            plain.truncate(self.max() - mark.len());
            plain.push_str(&mark);
        }
        plain
    }
}

/// A tool's name in the history. Models call tools by names that never were one.
pub(super) fn tool_name(name: &str) -> Cow<'_, str> {
    let good = !name.is_empty() && name.len() <= TOOL_NAME_MAX && name.chars().all(is_word);
    if good {
        return Cow::Borrowed(name);
    }
    let mut plain: String = name
        .chars()
        .map(|c| if is_word(c) { c } else { '_' })
        .take(TOOL_NAME_MAX)
        .collect();
    if plain.is_empty() {
        plain.push_str("unknown");
    }
    Cow::Owned(plain)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// A hash that stays the same in every build, which the standard one does not promise.
fn fnv(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_ids_stay_and_no_id_is_given_twice() {
        let mut ids = CallIds::new(ApiFamily::OpenaiChat);
        assert_eq!(ids.take("functions.read:0"), "functions.read:0");
        assert_eq!(ids.take("functions.read:0"), "functions.read:0_2");
        assert_eq!(ids.take("functions.read:0"), "functions.read:0_3");
        assert_eq!(ids.take(""), "call");
        assert_eq!(ids.take("电话"), "__");

        let mut ids = CallIds::new(ApiFamily::AnthropicMessages);
        assert_eq!(ids.take("functions.read:0"), "functions_read_0");
        assert_eq!(ids.take("functions read:0"), "functions_read_0_2");
    }

    #[test]
    fn long_ids_are_cut_and_stay_different() {
        let mut ids = CallIds::new(ApiFamily::OpenaiChat);
        let long = |end: &str| format!("call_{}{end}", "x".repeat(450));
        let first = ids.take(&long("a"));
        let second = ids.take(&long("b"));
        let third = ids.take(&long("b"));
        for id in [&first, &second, &third] {
            assert!(id.len() <= 40, "{id}");
        }
        assert!(first != second && second != third);
    }

    #[test]
    fn tool_names_are_made_speakable() {
        assert_eq!(tool_name("read"), "read");
        assert_eq!(tool_name("functions.read"), "functions_read");
        assert_eq!(tool_name(""), "unknown");
        assert_eq!(tool_name(&"x".repeat(200)).len(), 64);
    }
}
