//! Names of tools that come from servers.

use sha2::{Digest, Sha256};

/// What every supplier of models takes.
const CHARS_MAX: usize = 64;
const HASH_CHARS: usize = 8;

/// The name of a server's tool for models: `mcp`, the server and the tool, with `__` between them,
/// in the few characters that every supplier accepts. A name that had to be changed for that, or
/// could be ambiguous, gets a mark that distinguishes it from all others.
pub fn mcp_tool_name(server: &str, tool: &str) -> String {
    let name = format!("mcp__{}__{}", plain(server), plain(tool));
    let is_exact = name == format!("mcp__{server}__{tool}");
    let is_clear = !server.contains("__") && !server.ends_with('_') && !tool.is_empty();
    if is_exact && is_clear && name.len() <= CHARS_MAX {
        return name;
    }
    let hash = Sha256::digest(format!("{server}\u{0}{tool}"));
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let kept = name.len().min(CHARS_MAX - HASH_CHARS - 1);
    format!("{}_{}", &name[..kept], &hash[..HASH_CHARS])
}

fn plain(name: &str) -> String {
    let plain = name.chars().map(|char| match char {
        char if char.is_ascii_alphanumeric() || char == '-' => char,
        _ => '_',
    });
    plain.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_short_and_apart() {
        assert_eq!(mcp_tool_name("files", "read_file"), "mcp__files__read_file");
        assert_eq!(mcp_tool_name("gh", "getIssue"), "mcp__gh__getIssue");
        let odd = [
            ("a", &*"tool".repeat(40)),
            ("a", &*"tool".repeat(41)),
            ("天气", "查询"),
            ("天气", "预报"),
            ("my files", "read"),
            ("my_files", "read"),
            ("a__b", "c"),
            ("a", "b__c"),
            ("a.b", "c"),
            ("a", ""),
        ];
        let mut names: Vec<String> = odd
            .iter()
            .map(|(server, tool)| mcp_tool_name(server, tool))
            .collect();
        for name in &names {
            assert!(name.len() <= CHARS_MAX && name.is_ascii(), "{name}");
        }
        names.sort();
        names.dedup();
        assert_eq!(names.len(), odd.len(), "{names:?}");
    }
}
