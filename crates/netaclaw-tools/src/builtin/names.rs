//! Names of files, as they are shown.

use std::ffi::OsStr;

/// A name on one line: invalid UTF-8, and what would break or fake a line, is escaped.
pub(super) fn shown(name: &OsStr) -> String {
    let mut text = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        for char in chunk.valid().chars() {
            match char.is_control() {
                true => text.extend(char.escape_default()),
                false => text.push(char),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}
