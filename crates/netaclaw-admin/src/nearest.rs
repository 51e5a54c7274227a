//! Suggestions for a name that does not exist.

/// The name that is closest, if any is close enough to be a typing mistake.
pub fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = name.to_lowercase();
    let length = wanted.chars().count();
    // One mistake in three letters is a mistake; more is another word.
    let far = (length / 3).max(1);
    names
        .into_iter()
        .map(|other| (distance(&wanted, &other.to_lowercase()), other))
        .filter(|(distance, _)| *distance <= far)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, other)| other)
}

/// The beginning of a longer name is as close as one mistake.
fn distance(wanted: &str, other: &str) -> usize {
    if wanted.chars().count() >= 3 && other.starts_with(wanted) {
        return usize::from(wanted != other);
    }
    strsim::damerau_levenshtein(wanted, other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_mistakes_are_recognised_and_other_words_are_not() {
        let names = ["default", "coder", "openai", "通用助手"];
        for (name, expected) in [
            ("defualt", Some("default")),
            ("Default", Some("default")),
            ("code", Some("coder")),
            ("def", Some("default")),
            ("通用助收", Some("通用助手")),
            ("anthropic", None),
            ("x", None),
        ] {
            assert_eq!(nearest(name, names), expected, "{name}");
        }
        assert_eq!(nearest("a", []), None);
    }
}
