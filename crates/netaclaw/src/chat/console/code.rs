//! Colors for code: comments, strings, numbers and words that most languages share. It knows no
//! grammar, so that it needs no definitions of languages and is never far off.

use super::line::{Color, DIM, Line, PLAIN, Style};

/// Words with a meaning of their own in the languages that models write most.
const KEYWORDS: &[&str] = &[
    "abstract",
    "and",
    "as",
    "async",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "def",
    "default",
    "defer",
    "del",
    "do",
    "done",
    "elif",
    "else",
    "enum",
    "esac",
    "except",
    "export",
    "extends",
    "extern",
    "false",
    "fi",
    "finally",
    "fn",
    "for",
    "from",
    "func",
    "function",
    "go",
    "if",
    "impl",
    "import",
    "in",
    "interface",
    "is",
    "lambda",
    "let",
    "loop",
    "match",
    "mod",
    "move",
    "mut",
    "new",
    "nil",
    "None",
    "not",
    "null",
    "or",
    "package",
    "pass",
    "private",
    "protected",
    "pub",
    "public",
    "raise",
    "ref",
    "return",
    "Self",
    "self",
    "static",
    "struct",
    "super",
    "switch",
    "then",
    "this",
    "throw",
    "trait",
    "true",
    "True",
    "False",
    "try",
    "type",
    "typeof",
    "union",
    "unsafe",
    "use",
    "var",
    "void",
    "where",
    "while",
    "with",
    "yield",
];
/// The same where case does not matter.
const SQL: &[&str] = &[
    "select", "from", "where", "insert", "into", "values", "update", "set", "delete", "create",
    "table", "join", "left", "right", "inner", "outer", "on", "and", "or", "not", "null", "order",
    "group", "by", "having", "limit", "as", "distinct", "index", "primary", "key", "union",
];
/// Text, and data whose values are all that there is to see.
const WITHOUT_WORDS: &[&str] = &["", "text", "txt", "plain", "json", "csv", "markdown", "md"];

/// The lines of a block of code.
pub(super) fn highlighted(language: &str, code: &str) -> Vec<Line> {
    match language {
        "" | "text" | "txt" | "plain" | "markdown" | "md" => {
            code.split('\n').map(Line::plain).collect()
        }
        "diff" | "patch" => code.split('\n').map(diff_line).collect(),
        _ => Lexer::new(language, code).lines(),
    }
}

/// A line of a unified diff.
pub(super) fn diff_line(line: &str) -> Line {
    let style = match line.as_bytes().first() {
        Some(b'+') => Color::Green.style(),
        Some(b'-') => Color::Red.style(),
        Some(b'@') => Color::Cyan.style(),
        _ => DIM,
    };
    Line::of(line, style)
}

struct Lexer<'a> {
    language: &'a str,
    rest: &'a str,
    lines: Vec<Line>,
    line: Line,
}

impl<'a> Lexer<'a> {
    fn new(language: &'a str, code: &'a str) -> Self {
        Self {
            language,
            rest: code,
            lines: Vec::new(),
            line: Line::default(),
        }
    }

    fn lines(mut self) -> Vec<Line> {
        while let Some(first) = self.rest.chars().next() {
            let (length, style) = self.token(first);
            let (token, rest) = self.rest.split_at(length.max(first.len_utf8()));
            self.rest = rest;
            self.push(token, style);
        }
        self.lines.push(self.line);
        self.lines
    }

    fn push(&mut self, token: &str, style: Style) {
        for (at, part) in token.split('\n').enumerate() {
            if at > 0 {
                self.lines.push(std::mem::take(&mut self.line));
            }
            self.line.push(part, style);
        }
    }

    /// How long the next token is, and what it is.
    fn token(&self, first: char) -> (usize, Style) {
        if let Some(length) = self.comment() {
            return (length, DIM);
        }
        match first {
            '"' | '\'' | '`' => match self.string(first) {
                1 => (1, PLAIN),
                length => (length, Color::Green.style()),
            },
            '0'..='9' => {
                let end =
                    |char: char| !(char.is_ascii_alphanumeric() || char == '.' || char == '_');
                (self.until(end), Color::Yellow.style())
            }
            char if char.is_alphabetic() || char == '_' => {
                let length = self.until(|char: char| !(char.is_alphanumeric() || char == '_'));
                let style = match self.is_keyword(&self.rest[..length]) {
                    true => Color::Magenta.style(),
                    false => PLAIN,
                };
                (length, style)
            }
            other => (other.len_utf8(), PLAIN),
        }
    }

    fn comment(&self) -> Option<usize> {
        let with_hash = matches!(
            self.language,
            "py" | "python"
                | "sh"
                | "bash"
                | "zsh"
                | "shell"
                | "console"
                | "yaml"
                | "yml"
                | "toml"
                | "ruby"
                | "rb"
                | "make"
                | "makefile"
                | "dockerfile"
                | "perl"
                | "r"
                | "conf"
                | "ini"
        );
        let mark = match self.language {
            "sql" | "lua" | "haskell" => "--",
            _ if with_hash => "#",
            "json" => return None,
            "html" | "xml" | "svg" | "vue" => {
                return self.rest.starts_with("<!--").then(|| self.end_of("-->"));
            }
            _ => "//",
        };
        if self.rest.starts_with(mark) {
            return Some(self.until(|char| char == '\n'));
        }
        (mark == "//" && self.rest.starts_with("/*")).then(|| self.end_of("*/"))
    }

    fn until(&self, end: impl Fn(char) -> bool) -> usize {
        self.rest.find(end).unwrap_or(self.rest.len())
    }

    fn end_of(&self, mark: &str) -> usize {
        match self.rest.find(mark) {
            Some(at) => at + mark.len(),
            None => self.rest.len(),
        }
    }

    /// A string ends on its line, unless it is one of those that may go on. A quote without a
    /// second one on the line is a lifetime or an apostrophe.
    fn string(&self, quote: char) -> usize {
        let mut escaped = false;
        for (at, char) in self.rest.char_indices().skip(1) {
            match char {
                '\n' if quote != '`' => return 1,
                '\\' if !escaped => escaped = true,
                _ if char == quote && !escaped => return at + 1,
                _ => escaped = false,
            }
        }
        1
    }

    fn is_keyword(&self, word: &str) -> bool {
        match self.language {
            language if WITHOUT_WORDS.contains(&language) => {
                matches!(word, "true" | "false" | "null")
            }
            "sql" => SQL.contains(&word.to_lowercase().as_str()),
            _ => KEYWORDS.contains(&word),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(language: &str, code: &str) -> String {
        let lines = highlighted(language, code);
        let lines: Vec<String> = lines.iter().map(|line| line.written(true)).collect();
        lines.join("\n").replace('\u{1b}', "^")
    }

    #[test]
    fn comments_strings_numbers_and_words_have_colors() {
        assert_eq!(
            text("rust", "let a: &'x str = \"b\\\"\"; // 1\n/* c\nd */ 12"),
            "^[35mlet^[0m a: &'x str = ^[32m\"b\\\"\"^[0m; ^[2m// 1^[0m\n^[2m/* c^[0m\n^[2md */^[0m ^[33m12^[0m"
        );
        assert_eq!(text("sh", "echo 1 # x"), "echo ^[33m1^[0m ^[2m# x^[0m");
        assert_eq!(text("text", "let \"a\""), "let \"a\"");
        assert_eq!(text("diff", "-a\n+b"), "^[31m-a^[0m\n^[32m+b^[0m");
    }

    #[test]
    fn nothing_of_the_code_is_lost() {
        for language in ["rust", "python", "sql", "html", "json", "yaml", "zz"] {
            let code = "a 'b \"c\n\\\" é 会话 `x\ny` 1.5e3 <!-- z\n# q // r -- s /* t";
            let lines = highlighted(language, code);
            let plain: Vec<String> = lines.iter().map(|line| line.written(false)).collect();
            assert_eq!(plain.join("\n"), code, "{language}");
        }
    }
}
