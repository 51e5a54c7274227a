//! Messages that start with a slash: the command `/compact`, and the escape `//`.
//!
//! Every client can send the command as a message, so it is understood here and not in the clients.
//! `/skill` is a message: the run that answers it reads it.

/// The command that is never a message, in any letter case.
const COMPACT: &str = "/compact";

/// What the summary should focus on, if the text is `/compact`.
pub(crate) fn compact_command(text: &str) -> Option<Option<String>> {
    let text = text.trim();
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let focus = rest.trim();
    let focus = (!focus.is_empty()).then(|| focus.to_owned());
    name.eq_ignore_ascii_case(COMPACT).then_some(focus)
}

/// Whether the text is `/compact`, with or without a focus.
pub fn is_compact_command(text: &str) -> bool {
    compact_command(text).is_some()
}

/// The message that a text starting with `//` stands for: it starts with one slash and is no
/// command.
pub(crate) fn escaped(text: &str) -> Option<&str> {
    text.starts_with("//").then(|| &text[1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_known_in_any_case_and_alone() {
        assert_eq!(compact_command("/compact"), Some(None));
        let focus = Some(Some("the API\ndecisions".to_owned()));
        assert_eq!(compact_command(" /COMPACT\tthe API\ndecisions  "), focus);
        for message in [
            "/compaction",
            "compact",
            "//compact",
            "/comp act",
            "a /compact",
        ] {
            assert_eq!(compact_command(message), None, "{message}");
        }
    }

    #[test]
    fn two_slashes_stand_for_one() {
        assert_eq!(escaped("//compact now"), Some("/compact now"));
        assert_eq!(escaped("//"), Some("/"));
        assert_eq!(escaped("/skill x"), None);
        assert_eq!(escaped("a // b"), None);
    }
}
