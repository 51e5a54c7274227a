//! Folders of the workspace, by their names alone: what the file system says about a path is read
//! elsewhere and comes as a place.

/// The folder that is the workspace itself.
pub const WORKSPACE: &str = ".";

/// Characters that people cannot see, or that change how others are read.
pub(super) fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a path, relative or absolute, means what it says.
pub(super) fn is_plain(path: &str) -> bool {
    !path.is_empty()
        && !path.chars().any(is_invisible)
        && !path.contains('\\')
        && path.split('/').all(|name| name != "..")
}

/// The same for one that must not be absolute.
pub(super) fn is_relative(path: &str) -> bool {
    is_plain(path) && !path.starts_with('/') && !path.starts_with('~')
}

/// Whether it is a path as the file system spells it, relative to the workspace.
pub(super) fn is_place(place: &str) -> bool {
    let is_name = |name: &str| !name.is_empty() && name != "." && name != "..";
    place.split('/').all(is_name) && !place.chars().any(is_invisible)
}

/// Whether a place is in a folder or below it.
pub fn is_below(folder: &str, place: &str) -> bool {
    let rest = match folder {
        WORKSPACE => return is_place(place),
        folder => place.strip_prefix(folder),
    };
    let rest = rest.and_then(|rest| rest.strip_prefix('/'));
    is_place(place) && rest.is_some_and(|rest| !rest.is_empty())
}

/// A folder in the one spelling that is stored.
pub(super) fn normal_folder(folder: &str) -> Option<String> {
    if folder.starts_with('/') {
        return None;
    }
    let folder = folder.strip_prefix("./").unwrap_or(folder);
    let folder = folder.strip_suffix('/').unwrap_or(folder);
    match folder {
        "" | WORKSPACE => Some(WORKSPACE.to_owned()),
        folder => is_place(folder).then(|| folder.to_owned()),
    }
}

/// The folders that an edit at this place offers, the narrowest first.
pub(super) fn folders_of(place: &str) -> Vec<String> {
    let own = place.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    own.into_iter().chain([WORKSPACE.to_owned()]).collect()
}
