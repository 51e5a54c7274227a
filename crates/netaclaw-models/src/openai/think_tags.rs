//! Thinking inside the text: `<think>…</think>` at the very beginning, as models write it when no
//! server on the way removes it.

/// The tags in use. Only the beginning of an answer is looked at: later on, a tag is something
/// the model talks about.
const TAGS: [(&str, &str); 2] = [("<think>", "</think>"), ("<mm:think>", "</mm:think>")];

#[derive(Debug, Default)]
pub(super) enum ThinkTags {
    /// Nothing but white space and maybe a piece of a tag so far.
    #[default]
    Beginning,
    Thinking(&'static str),
    /// Thinking is over; white space before the answer is not part of it.
    Between,
    Text,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Thinking(String),
    Text(String),
}

/// Splits a text while it arrives. What may be a piece of a tag is held back.
#[derive(Debug, Default)]
pub(super) struct Splitter {
    state: ThinkTags,
    held: String,
}

impl Splitter {
    pub(super) fn push(&mut self, text: &str) -> Vec<Piece> {
        if matches!(self.state, ThinkTags::Text) {
            return vec![Piece::Text(text.to_owned())];
        }
        self.held.push_str(text);
        let mut pieces = Vec::new();
        while self.step(&mut pieces) {}
        pieces
    }

    /// The answer has ended: the text that was held back is not a tag.
    pub(super) fn end(&mut self) -> Option<Piece> {
        let held = std::mem::take(&mut self.held);
        let thinking = matches!(self.state, ThinkTags::Thinking(_));
        self.state = ThinkTags::Text;
        match (held.is_empty(), thinking) {
            (true, _) => None,
            (false, true) => Some(Piece::Thinking(held)),
            (false, false) => Some(Piece::Text(held)),
        }
    }

    /// Does one thing; whether there may be more to do.
    fn step(&mut self, pieces: &mut Vec<Piece>) -> bool {
        match self.state {
            ThinkTags::Beginning => {
                let start = self.held.trim_start();
                if let Some((open, close)) = TAGS.iter().find(|(open, _)| start.starts_with(open)) {
                    self.held = start[open.len()..].to_owned();
                    self.state = ThinkTags::Thinking(close);
                    return true;
                }
                let may_be = TAGS.iter().any(|(open, _)| open.starts_with(start));
                if !may_be {
                    self.state = ThinkTags::Text;
                    pieces.push(Piece::Text(std::mem::take(&mut self.held)));
                }
                false
            }
            ThinkTags::Thinking(close) => {
                let (thinking, rest) = match self.held.split_once(close) {
                    Some((thinking, rest)) => {
                        self.state = ThinkTags::Between;
                        (thinking.to_owned(), rest.to_owned())
                    }
                    None => {
                        let keep = held_back(&self.held, close);
                        let (thinking, rest) = self.held.split_at(self.held.len() - keep);
                        (thinking.to_owned(), rest.to_owned())
                    }
                };
                self.held = rest;
                if !thinking.is_empty() {
                    pieces.push(Piece::Thinking(thinking));
                }
                matches!(self.state, ThinkTags::Between)
            }
            ThinkTags::Between => {
                let text = self.held.trim_start().to_owned();
                self.held.clear();
                if !text.is_empty() {
                    self.state = ThinkTags::Text;
                    pieces.push(Piece::Text(text));
                }
                false
            }
            ThinkTags::Text => false,
        }
    }
}

/// How many bytes at the end of a text may be the beginning of a tag.
fn held_back(text: &str, tag: &str) -> usize {
    (1..tag.len())
        .rev()
        .find(|length| text.ends_with(&tag[..*length]))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result does not depend on how the text is split into pieces.
    #[track_caller]
    fn check(text: &str, thinking: &str, answer: &str) {
        for size in 1..=text.len() {
            let mut splitter = Splitter::default();
            let mut got = (String::new(), String::new());
            let chars: Vec<char> = text.chars().collect();
            let mut pieces: Vec<Piece> = chars
                .chunks(size)
                .flat_map(|chunk| splitter.push(&chunk.iter().collect::<String>()))
                .collect();
            pieces.extend(splitter.end());
            for piece in pieces {
                match piece {
                    Piece::Thinking(text) => got.0 += &text,
                    Piece::Text(text) => got.1 += &text,
                }
            }
            assert_eq!(
                (got.0.as_str(), got.1.as_str()),
                (thinking, answer),
                "by {size}"
            );
        }
    }

    #[test]
    fn thinking_is_taken_out_of_the_beginning_only() {
        check("<think>hm</think>\n\nyes", "hm", "yes");
        check("\n <think>\nhm\n</think>yes", "\nhm\n", "yes");
        check("<mm:think>嗯</mm:think>好", "嗯", "好");
        check("yes <think>no</think>", "", "yes <think>no</think>");
        check("<thinking is hard", "", "<thinking is hard");
        check("<th", "", "<th");
        check("<think>never ends </thin", "never ends </thin", "");
        check("a < b", "", "a < b");
        check("", "", "");
    }
}
