//! Everything below the guard, and how it is ended.

use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group};
use std::collections::HashMap;

/// Asks the child's group, and everybody who has left it, to end.
pub(super) fn ask_to_end(child: Pid) {
    // Who has ended meanwhile cannot be asked, and need not be.
    kill_process_group(child, Signal::TERM).unwrap_or_default();
    send_all(Signal::TERM);
}

/// Ends everybody. Stopped first, so that nobody starts another one while the others are counted.
pub(super) fn kill(child: Pid) {
    send_all(Signal::STOP);
    kill_process_group(child, Signal::KILL).unwrap_or_default();
    send_all(Signal::KILL);
}

fn send_all(signal: Signal) {
    for pid in descendants(getpid(), &parents()) {
        kill_process(pid, signal).unwrap_or_default();
    }
}

/// Ends processes that carry the mark in the environment they were started with. How many.
pub(crate) fn kill_marked(marker: &str) -> usize {
    let wanted = format!("{}={marker}", crate::spawn::gate::MARKER);
    let marked = processes().filter(|pid| {
        let environment = std::fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero()));
        let environment = environment.unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|variable| variable == wanted.as_bytes())
    });
    marked
        .filter(|pid| kill_process(*pid, Signal::KILL).is_ok())
        .count()
}

/// Every process with its parent.
fn parents() -> HashMap<Pid, Pid> {
    let with_parent = processes().filter_map(|pid| {
        let stat = std::fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        Some((pid, parent_in(&stat)?))
    });
    with_parent.collect()
}

fn processes() -> impl Iterator<Item = Pid> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        Pid::from_raw(number)
    })
}

/// The parent stands behind the name, which may hold anything, and the state.
fn parent_in(stat: &[u8]) -> Option<Pid> {
    let behind_name = memchr::memrchr(b')', stat)? + 1;
    let rest = std::str::from_utf8(&stat[behind_name..]).ok()?;
    let parent = rest.split_ascii_whitespace().nth(1)?;
    Pid::from_raw(parent.parse().ok()?)
}

fn descendants(of: Pid, parents: &HashMap<Pid, Pid>) -> Vec<Pid> {
    let mut found = vec![of];
    let mut looked_at = 0;
    while let Some(parent) = found.get(looked_at).copied() {
        found.extend(
            parents
                .iter()
                .filter(|(_, p)| **p == parent)
                .map(|(c, _)| *c),
        );
        looked_at += 1;
    }
    found.remove(0);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pid(number: i32) -> Pid {
        Pid::from_raw(number).unwrap()
    }

    #[test]
    fn names_cannot_hide_a_parent() {
        assert_eq!(parent_in(b"7 (bash) S 5 7 7 0"), Some(pid(5)));
        assert_eq!(parent_in(b"7 (a) S 9 (b)) R 5 7"), Some(pid(5)));
        assert_eq!(parent_in(b"7 bash"), None);
    }

    #[test]
    fn the_whole_tree_is_found_and_nothing_else() {
        let parents = [(2, 1), (3, 2), (4, 3), (5, 1), (6, 2)];
        let parents = parents.map(|(child, parent)| (pid(child), pid(parent)));
        let mut found = descendants(pid(2), &parents.into());
        found.sort_by_key(|pid| pid.as_raw_nonzero());
        assert_eq!(found, [3, 4, 6].map(pid));
    }
}
