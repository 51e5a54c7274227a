//! Shell commands that can be judged, and the patterns that cover them.
//!
//! This reads a strict subset of the shell: words of plain characters and simple quotes, joined by
//! `&&`, `||`, `;` and `|`. In this subset every shell starts exactly the programs that are named
//! here, with exactly these words. Everything else is not read: expansions, substitutions,
//! redirections, assignments, comments, line breaks, and words that start other programs or change
//! the shell itself.

use super::path::is_invisible;
use super::programs::{is_program, runs_itself_only};
use std::fmt;

const COMMAND_BYTES_MAX: usize = 4096;
/// The last word of a pattern that any words may follow.
const ANY: &str = "*";

/// The simple commands of a command line, each as its words; `None` if any of it is outside of the
/// subset.
pub(super) fn parse(line: &str) -> Option<Vec<Vec<String>>> {
    let mut commands = Vec::new();
    let mut words: Vec<String> = Vec::new();
    for token in tokens(line)? {
        match token {
            Token::Word(word) => words.push(word),
            Token::Join => commands.push(std::mem::take(&mut words)),
            Token::Any => return None,
        }
    }
    commands.push(words);
    commands
        .iter()
        .all(|words| is_simple(words) && runs_itself_only(words))
        .then_some(commands)
}

fn is_simple(words: &[String]) -> bool {
    let Some(program) = words.first() else {
        return false;
    };
    is_program(program) && words.iter().all(|word| leads_nowhere_else(word))
}

/// No part of it is `..`, however it is attached.
fn leads_nowhere_else(word: &str) -> bool {
    let is_up = |part: &str| match part.strip_suffix("..") {
        // `main..` is a range of Git, `-C..` an option with its value.
        Some(before) => part.starts_with('-') || !before.ends_with(|c: char| c.is_alphanumeric()),
        None => false,
    };
    let mut parts = word.split(['/', '=', ':', ',', ' ', '@']);
    !parts.any(is_up) && !word.chars().any(is_invisible)
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Join,
    /// An unquoted `*` on its own.
    Any,
}

fn tokens(line: &str) -> Option<Vec<Token>> {
    if line.len() > COMMAND_BYTES_MAX {
        return None;
    }
    let mut tokens = Vec::new();
    let mut rest = line.chars().peekable();
    while let Some(&next) = rest.peek() {
        match next {
            ' ' => {
                rest.next();
            }
            ';' => {
                rest.next();
                tokens.push(Token::Join);
            }
            '|' => {
                rest.next();
                rest.next_if_eq(&'|');
                tokens.push(Token::Join);
            }
            '&' => {
                rest.next();
                // A single one starts a background process.
                rest.next_if_eq(&'&')?;
                tokens.push(Token::Join);
            }
            '*' => {
                rest.next();
                matches!(rest.peek(), None | Some(' ')).then_some(())?;
                tokens.push(Token::Any);
            }
            _ => {
                let mut word = String::new();
                while let Some(&c) = rest.peek() {
                    match c {
                        ' ' | ';' | '|' | '&' => break,
                        '\'' | '"' => {
                            rest.next();
                            loop {
                                let inside = rest.next()?;
                                if inside == c {
                                    break;
                                }
                                word.push(is_quotable(inside, c).then_some(inside)?);
                            }
                        }
                        plain => {
                            rest.next();
                            word.push(is_bare(plain).then_some(plain)?);
                        }
                    }
                }
                tokens.push(Token::Word(word));
            }
        }
    }
    Some(tokens)
}

/// Characters that mean themselves in every place of a word.
fn is_bare(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, '_' | '-' | '.' | '/' | ':' | '=' | '@' | '%' | '+' | ',')
}

/// Characters that mean themselves in quotes. Of others than ASCII only Chinese ones, which cannot
/// be taken for something else.
fn is_quotable(c: char, quote: char) -> bool {
    match c {
        '$' | '`' | '\\' | '!' => quote == '\'',
        ' '..='~' => true,
        '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '、' | '。' | '，' | '：' => true,
        _ => false,
    }
}

/// Commands with the same first words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    words: Vec<String>,
    /// Any words may follow.
    is_open: bool,
}

impl Pattern {
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut words = Vec::new();
        let mut is_open = false;
        for token in tokens(text)? {
            match token {
                // Nothing may stand behind the `*`.
                _ if is_open => return None,
                Token::Word(word) => words.push(word),
                Token::Any => is_open = true,
                Token::Join => return None,
            }
        }
        is_simple(&words).then_some(Self { words, is_open })
    }

    /// The widest pattern that is suggested for a command.
    pub(super) fn suggested(words: &[String]) -> Option<Self> {
        let words = vec![words.first()?.clone()];
        is_simple(&words).then_some(Self {
            words,
            is_open: true,
        })
    }

    pub(super) fn covers(&self, words: &[String]) -> bool {
        match self.is_open {
            true => words.starts_with(&self.words),
            false => words == self.words,
        }
    }

    /// Whether every command that this one covers is covered by another.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        match other.is_open {
            true => self.words.starts_with(&other.words),
            false => self == other,
        }
    }
}

/// In the form that [`Pattern::read`] takes.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, word) in self.words.iter().enumerate() {
            if at > 0 {
                f.write_str(" ")?;
            }
            let is_bare_word = !word.is_empty() && word.chars().all(is_bare);
            match (is_bare_word, word.contains('\'')) {
                (true, _) => f.write_str(word)?,
                (false, false) => write!(f, "'{word}'")?,
                (false, true) => {
                    let parts: Vec<String> =
                        word.split('\'').map(|part| format!("'{part}'")).collect();
                    f.write_str(&parts.join("\"'\""))?;
                }
            }
        }
        match self.is_open {
            true => write!(f, " {ANY}"),
            false => Ok(()),
        }
    }
}
