//! A regular expression whose cost is bounded.
//!
//! A counted repetition of counted repetitions is a short text and a large automaton. In the worst
//! case each byte of a file costs a step for each of its states, and the engine cannot be
//! interrupted within a search. So the automaton is small, and the larger it is, the fewer bytes
//! are searched at a time.

use grep_matcher::{LineMatchKind, LineTerminator, Match, Matcher, NoCaptures, NoError};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use memchr::{memchr, memrchr};
use std::fmt;
use tokio_util::sync::CancellationToken;

/// Longer patterns are refused before they are parsed.
pub(super) const PATTERN_BYTES_MAX: usize = 4_000;
/// Sizes of compiled automata; a pattern gets the first that it fits. Larger patterns are refused.
const AUTOMATON_BYTES: [usize; 4] = [8 << 10, 64 << 10, 512 << 10, 4 << 20];
/// The cache of states that a thread makes while it searches.
const CACHE_BYTES: usize = 2 << 20;
/// Bytes of a piece times bytes of the automaton. A piece ends with a line, so the token is checked
/// about every tenth of a second in the worst case.
const PIECE_COST: usize = 1 << 30;
/// The same for one line, which cannot be divided. A longer line is not searched.
const LINE_COST: usize = 1 << 36;

/// What is searched for.
#[derive(Debug)]
pub(super) struct Pattern {
    regex: RegexMatcher,
    piece_bytes: usize,
    line_bytes: usize,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PatternOptions {
    pub(super) literal: bool,
    pub(super) ignore_case: bool,
}

impl Pattern {
    /// `Err` is for the model to read.
    pub(super) fn new(pattern: &str, options: PatternOptions) -> Result<Self, String> {
        if pattern.len() > PATTERN_BYTES_MAX {
            return Err(format!(
                "`pattern` is too long: {} bytes, at most {PATTERN_BYTES_MAX}. Search for a \
                 shorter part of it.",
                pattern.len()
            ));
        }
        let mut failed = String::new();
        for automaton_bytes in AUTOMATON_BYTES {
            match compile(pattern, options, automaton_bytes) {
                Ok(regex) => {
                    return Ok(Self {
                        regex,
                        piece_bytes: PIECE_COST / automaton_bytes,
                        line_bytes: LINE_COST / automaton_bytes,
                    });
                }
                Err(error) => failed = error.to_string(),
            }
        }
        Err(match failed.contains("size limit") {
            true => "`pattern` is too expensive: its compiled form exceeds 4 MB. Use smaller \
                     counts in `{n,m}`, do not nest them, and inside of them prefer classes such \
                     as `[0-9]` and `[A-Za-z_]` to `\\d` and `\\w`."
                .to_owned(),
            false => format!(
                "`pattern` is not valid: {failed}. Each line is matched separately; set `literal` \
                 to search for plain text."
            ),
        })
    }

    /// A longer line cannot be searched.
    pub(super) fn line_bytes(&self) -> usize {
        self.line_bytes
    }

    pub(super) fn until<'a>(&'a self, cancel: &'a CancellationToken) -> Interruptible<'a> {
        Interruptible {
            pattern: self,
            cancel,
        }
    }
}

fn compile(
    pattern: &str,
    options: PatternOptions,
    automaton_bytes: usize,
) -> Result<RegexMatcher, grep_regex::Error> {
    RegexMatcherBuilder::new()
        .case_insensitive(options.ignore_case)
        .fixed_strings(options.literal)
        .multi_line(true)
        .line_terminator(Some(b'\n'))
        .ban_byte(Some(0))
        .size_limit(automaton_bytes)
        .dfa_size_limit(CACHE_BYTES)
        .build(pattern)
}

/// A search with a pattern that ends when it is cancelled, also within a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interruptible<'a> {
    pattern: &'a Pattern,
    cancel: &'a CancellationToken,
}

/// Why a search is incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interrupted {
    Cancelled,
    LongLine,
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cancelled => "the search was cancelled",
            Self::LongLine => "a line is too long for this pattern",
        })
    }
}

impl Interruptible<'_> {
    /// Looks at the haystack piece by piece. A match never crosses the end of a line, so pieces end
    /// in front of a newline and the next one begins behind it.
    fn piecewise<T>(
        &self,
        haystack: &[u8],
        from: usize,
        mut look: impl FnMut(&[u8], usize) -> Result<Option<T>, NoError>,
    ) -> Result<Option<T>, Interrupted> {
        let mut at = from;
        loop {
            if self.cancel.is_cancelled() {
                return Err(Interrupted::Cancelled);
            }
            let end = self.piece_end(haystack, at)?;
            match look(&haystack[..end], at) {
                Ok(None) if end < haystack.len() => at = end + 1,
                Ok(looked) => return Ok(looked),
                Err(never) => unreachable!("{never:?}"),
            }
        }
    }

    fn piece_end(&self, haystack: &[u8], at: usize) -> Result<usize, Interrupted> {
        let wanted = at.saturating_add(self.pattern.piece_bytes);
        if wanted >= haystack.len() {
            return Ok(haystack.len());
        }
        if let Some(newline) = memrchr(b'\n', &haystack[at..wanted]) {
            return Ok(at + newline);
        }
        let rest = memchr(b'\n', &haystack[wanted..]);
        let end = rest.map_or(haystack.len(), |newline| wanted + newline);
        match end - at <= self.pattern.line_bytes {
            true => Ok(end),
            false => Err(Interrupted::LongLine),
        }
    }
}

impl Matcher for Interruptible<'_> {
    type Captures = NoCaptures;
    type Error = Interrupted;

    fn find_at(&self, haystack: &[u8], at: usize) -> Result<Option<Match>, Interrupted> {
        self.piecewise(haystack, at, |piece, at| {
            self.pattern.regex.find_at(piece, at)
        })
    }

    fn new_captures(&self) -> Result<NoCaptures, Interrupted> {
        Ok(NoCaptures::new())
    }

    fn shortest_match_at(&self, haystack: &[u8], at: usize) -> Result<Option<usize>, Interrupted> {
        self.piecewise(haystack, at, |piece, at| {
            self.pattern.regex.shortest_match_at(piece, at)
        })
    }

    fn non_matching_bytes(&self) -> Option<&grep_matcher::ByteSet> {
        self.pattern.regex.non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.pattern.regex.line_terminator()
    }

    fn find_candidate_line(&self, haystack: &[u8]) -> Result<Option<LineMatchKind>, Interrupted> {
        self.piecewise(haystack, 0, |piece, at| {
            let found = self.pattern.regex.find_candidate_line(&piece[at..])?;
            Ok(found.map(|found| match found {
                LineMatchKind::Confirmed(offset) => LineMatchKind::Confirmed(at + offset),
                LineMatchKind::Candidate(offset) => LineMatchKind::Candidate(at + offset),
            }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Result<Pattern, String> {
        Pattern::new(text, PatternOptions::default())
    }

    #[test]
    fn expensive_patterns_are_refused_and_usual_ones_are_not() {
        for bomb in [
            "((a{1,100}){1,100}){1,100}",
            "(?:(?:x{0,200}){0,200}){0,200}$",
            r"(\w{1,100}){1,100}",
            r"\pL{1,1000}",
        ] {
            let error = pattern(bomb).unwrap_err();
            assert!(error.contains("too expensive"), "{bomb}: {error}");
        }
        let long = pattern(&"a".repeat(PATTERN_BYTES_MAX + 1)).unwrap_err();
        assert!(long.contains("too long"), "{long}");
        for usual in [
            "needle",
            r"fn\s+\w+\(.*\)\s*->\s*Result",
            r"\b[\w.+-]+@[\w.-]+\.\w{2,24}\b",
            r"[A-Za-z0-9_]{1,64}@[a-z0-9.-]{1,255}",
            r#""[^"]{0,400}""#,
            r"^.{200,}$",
            "[一-龥]{2,8}",
        ] {
            pattern(usual).unwrap();
        }
    }

    /// The larger the automaton, the less is searched at a time.
    #[test]
    fn what_is_searched_between_two_looks_at_the_token_is_bounded() {
        let small = pattern("needle").unwrap();
        let large = pattern(r"\w{20}x").unwrap();
        assert!(small.piece_bytes >= 128 << 10 && small.line_bytes >= 4 << 20);
        assert!(large.piece_bytes < small.piece_bytes);
        let cancel = CancellationToken::new();
        let long = vec![b'a'; large.line_bytes + large.piece_bytes];
        let found = large.until(&cancel).shortest_match(&long);
        assert_eq!(found, Err(Interrupted::LongLine));
    }

    #[test]
    fn pieces_do_not_change_what_is_found() {
        let text = b"one\n\n  two\nthree needle\r\n\nfour\n";
        let cancel = CancellationToken::new();
        for regex in [
            "needle", "^$", "$", "^", "o", r"\bt\w+$", "e.*e", "r\n?$", "x",
        ] {
            let Ok(whole) = pattern(regex) else { continue };
            for piece_bytes in 1..text.len() {
                let cut = Pattern {
                    piece_bytes,
                    ..pattern(regex).unwrap()
                };
                for at in 0..=text.len() {
                    let place = (regex, piece_bytes, at);
                    let (whole, cut) = (whole.until(&cancel), cut.until(&cancel));
                    assert_eq!(whole.find_at(text, at), cut.find_at(text, at), "{place:?}");
                    let line = |kind| match kind {
                        LineMatchKind::Confirmed(at) | LineMatchKind::Candidate(at) => at,
                    };
                    assert_eq!(
                        whole.find_candidate_line(&text[at..]).unwrap().map(line),
                        cut.find_candidate_line(&text[at..]).unwrap().map(line),
                        "{place:?}"
                    );
                }
            }
        }
        cancel.cancel();
        let found = pattern("o").unwrap().until(&cancel).find(text);
        assert_eq!(found, Err(Interrupted::Cancelled));
    }
}
