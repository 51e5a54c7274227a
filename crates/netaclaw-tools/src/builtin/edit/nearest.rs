//! Where a text almost is: the most helpful thing to say when it is not found.

use std::borrow::Cow;
use std::collections::HashSet;

/// Longer files get no hint; looking would take too long.
const FILE_LINES_MAX: usize = 50_000;
const LINES_SHOWN: usize = 12;
const LINE_CHARS_MAX: usize = 200;
/// Less similar lines do not help.
const ALIKE_MIN: f64 = 0.75;
/// Comparing letter by letter is slow, so the number of lines is limited.
const COMPARED_MAX: usize = 2000;

/// A hint that follows a full stop, or nothing.
pub(super) fn nearest(file: &[u8], old: &str) -> String {
    let text = String::from_utf8_lossy(file);
    let lines: Vec<&str> = text.lines().take(FILE_LINES_MAX + 1).collect();
    let wanted: Vec<&str> = old.lines().collect();
    if lines.len() > FILE_LINES_MAX || wanted.iter().all(|line| line.trim().is_empty()) {
        return String::new();
    }
    if wanted.iter().all(|line| is_numbered(line)) {
        return " It starts with line numbers, which are not part of the file.".to_owned();
    }
    let Some((start, kind)) = best_start(&lines, &wanted) else {
        return String::new();
    };
    let end = (start + wanted.len()).min(lines.len());
    let why = match kind {
        Similarity::Spaces => "The file contains it with different spaces or indentation",
        Similarity::Lines => "The most similar lines are",
    };
    format!(
        " {why}, at line {}:\n{}",
        start + 1,
        shown(&lines[start..end])
    )
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Similarity {
    Spaces,
    Lines,
}

/// The line at which the file is most like what is wanted.
fn best_start(lines: &[&str], wanted: &[&str]) -> Option<(usize, Similarity)> {
    let file: Vec<Cow<'_, str>> = lines.iter().map(|line| squeezed(line)).collect();
    let wanted: Vec<Cow<'_, str>> = wanted.iter().map(|line| squeezed(line)).collect();
    let telling: HashSet<&str> = wanted
        .iter()
        .map(|line| line.as_ref())
        .filter(|line| line.chars().any(char::is_alphanumeric))
        .collect();
    // Only positions where at least one line matches are compared, each aligned by that line.
    let mut best: Option<(usize, usize)> = None;
    let mut looked_at = HashSet::new();
    for (at, line) in file.iter().enumerate() {
        if !telling.contains(line.as_ref()) {
            continue;
        }
        for offset in (0..wanted.len()).filter(|&offset| wanted[offset] == *line) {
            let Some(start) = at.checked_sub(offset) else {
                continue;
            };
            if !looked_at.insert(start) {
                continue;
            }
            let pairs = file[start..].iter().zip(&wanted);
            let same = pairs.filter(|(file, wanted)| file == wanted).count();
            if best.is_none_or(|(_, most)| same > most) {
                best = Some((start, same));
            }
        }
    }
    match best {
        Some((start, same)) if same == wanted.len() => Some((start, Similarity::Spaces)),
        Some((start, _)) => Some((start, Similarity::Lines)),
        None => alike(&file, &wanted).map(|start| (start, Similarity::Lines)),
    }
}

/// No line is right: the one that is most like the first that says something.
fn alike(file: &[Cow<'_, str>], wanted: &[Cow<'_, str>]) -> Option<usize> {
    let (offset, first) = wanted
        .iter()
        .enumerate()
        .find(|(_, line)| line.chars().any(char::is_alphanumeric))?;
    let beginning = |line: &str| -> String { line.chars().take(LINE_CHARS_MAX).collect() };
    let first = beginning(first);
    // What is much shorter or longer cannot be alike.
    let length = first.len() as f64;
    let near_in_length = |line: &str| (line.len() as f64 - length).abs() <= length / 2.0;
    let scored = file
        .iter()
        .enumerate()
        .map(|(at, line)| (at, beginning(line)))
        .filter(|(_, line)| near_in_length(line))
        .take(COMPARED_MAX)
        .map(|(at, line)| (at, strsim::normalized_levenshtein(&line, &first)));
    let best = scored.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    (best.1 >= ALIKE_MIN).then(|| best.0.saturating_sub(offset))
}

/// A line with every stretch of white space as one space, and none at its ends.
fn squeezed(line: &str) -> Cow<'_, str> {
    let trimmed = line.trim();
    let is_plain =
        !trimmed.contains(|c: char| c.is_whitespace() && c != ' ') && !trimmed.contains("  ");
    match is_plain {
        true => Cow::Borrowed(trimmed),
        false => Cow::Owned(trimmed.split_whitespace().collect::<Vec<_>>().join(" ")),
    }
}

/// As `read` shows lines.
fn is_numbered(line: &str) -> bool {
    let Some((number, _)) = line.trim_start().split_once('\t') else {
        return false;
    };
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

fn shown(lines: &[&str]) -> String {
    let cut = |line: &&str| line.chars().take(LINE_CHARS_MAX).collect::<String>();
    let mut shown = lines.iter().take(LINES_SHOWN).map(cut).collect::<Vec<_>>();
    if lines.len() > LINES_SHOWN {
        shown.push("…".to_owned());
    }
    format!("{}\n", shown.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "fn main() {\n\tlet total = add(1, 2);\n\tprintln!(\"{total}\");\n}\n";

    #[track_caller]
    fn check(old: &str, expected: &str) {
        assert_eq!(nearest(FILE.as_bytes(), old), expected);
    }

    #[test]
    fn other_spaces_are_reported() {
        check(
            "fn main() {\n    let total = add(1, 2);\n",
            " The file contains it with different spaces or indentation, at line 1:\nfn main() {\n\tlet total \
             = add(1, 2);\n",
        );
    }

    #[test]
    fn the_nearest_lines_are_shown() {
        check(
            "    let sum = add(1, 2);\n    println!(\"{total}\");",
            " The most similar lines are, at line 2:\n\tlet total = \
             add(1, 2);\n\tprintln!(\"{total}\");\n",
        );
        check(
            "let totals = add(1, 2);",
            " The most similar lines are, at line 2:\n\tlet total = add(1, 2);\n",
        );
    }

    #[test]
    fn no_hint_is_better_than_a_wrong_one() {
        check("something else entirely", "");
        check("\n\n", "");
    }

    #[test]
    fn line_numbers_are_recognised() {
        check(
            "     1\tfn main() {",
            " It starts with line numbers, which are not part of the file.",
        );
    }
}
