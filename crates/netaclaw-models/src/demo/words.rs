//! Text helpers of the demo model.

use crate::tokens;

/// Whether a text is rather Chinese than English.
pub(super) fn is_chinese(text: &str) -> bool {
    let chinese = text.chars().filter(|c| is_ideograph(*c)).count();
    let latin = text.chars().filter(char::is_ascii_alphabetic).count();
    // One ideograph says about as much as three letters.
    chinese > 0 && chinese * 3 >= latin
}

fn is_ideograph(c: char) -> bool {
    matches!(c as u32, 0x3400..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3ffff)
}

/// A text in pieces of a few characters, as a model would say it.
pub(super) fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut size = 0;
        let end = rest.char_indices().find_map(|(at, c)| {
            size += if c.is_ascii() { 1 } else { 3 };
            let ends_here = size >= 12 || (size >= 4 && c == ' ');
            ends_here.then_some(at + c.len_utf8())
        });
        let (piece, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The beginning of a text that fits into a number of tokens.
pub(super) fn cut(text: &str, tokens_max: u64) -> String {
    let mut kept = String::new();
    for piece in split(text) {
        if tokens::estimate_text(&kept) + tokens::estimate_text(piece) > tokens_max {
            break;
        }
        kept.push_str(piece);
    }
    kept
}

/// A text on one line, shortened to a number of characters.
pub(super) fn brief(text: &str, chars_max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(chars_max) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_small_and_give_the_text_again() {
        let text = "The quick brown fox 跳过了那条懒狗 and_a_very_long_identifier_without_spaces.";
        let pieces: Vec<&str> = split(text).collect();
        assert_eq!(pieces.concat(), text);
        assert!(pieces.len() > 8);
        assert!(pieces.iter().all(|piece| piece.chars().count() <= 12));
        assert_eq!(split("").count(), 0);
    }

    #[test]
    fn languages_are_distinguished() {
        assert!(is_chinese("请列出文件"));
        assert!(is_chinese("请读取 README.md"));
        assert!(!is_chinese("What does 你好 mean in English, please?"));
        assert!(!is_chinese("hello"));
    }

    #[test]
    fn a_cut_text_fits() {
        let text = "one two three four five six seven eight nine ten";
        let kept = cut(text, 5);
        assert!(text.starts_with(&kept) && !kept.is_empty());
        assert!(tokens::estimate_text(&kept) <= 5);
    }
}
