//! Names of tools in configurations and calls: what they match, and suggestions for unknown ones.

/// Below this likeness two names have nothing to do with each other.
const LIKENESS_MIN: f64 = 0.7;
/// Names come from models and configurations and may be anything; more than this is not repeated.
const SHOWN_CHARS_MAX: usize = 64;

/// The known name that looks most like `name`.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = shown(name).to_lowercase();
    known
        .into_iter()
        .map(|other| (strsim::jaro_winkler(&name, &other.to_lowercase()), other))
        .filter(|(likeness, _)| *likeness >= LIKENESS_MIN)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, other)| other)
}

/// The name, short enough to be quoted.
pub(crate) fn shown(name: &str) -> &str {
    match name.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((at, _)) => &name[..at],
        None => name,
    }
}

/// What a list of names says about a tool. A name may end in `*` and then means every tool that
/// begins so; what names a tool more exactly outweighs what does so less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NameMatch {
    NotAtAll,
    /// A longer pattern says more than a shorter one.
    ByPattern(usize),
    ByName,
}

pub(crate) fn naming(list: &[String], tool: &str) -> NameMatch {
    list.iter()
        .map(|name| match name.strip_suffix('*') {
            Some(prefix) if tool.starts_with(prefix) => NameMatch::ByPattern(prefix.len()),
            None if name == tool => NameMatch::ByName,
            _ => NameMatch::NotAtAll,
        })
        .max()
        .unwrap_or(NameMatch::NotAtAll)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_a_stranger_none() {
        let known = ["read", "ls", "todo", "clarify", "web_fetch"];
        for (name, expected) in [
            ("Read", Some("read")),
            ("reed", Some("read")),
            ("webfetch", Some("web_fetch")),
            ("claryfy", Some("clarify")),
            ("todos", Some("todo")),
            ("kubernetes", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, known), expected, "{name}");
        }
        assert_eq!(shown(&"长".repeat(1000)).chars().count(), SHOWN_CHARS_MAX);
    }
}
