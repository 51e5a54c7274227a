//! The process tree below the guard: counting and terminating it.

use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group};
use std::collections::HashMap;

/// Sends `TERM` to the child's group, and to all descendants outside of it.
pub(super) fn terminate(child: Pid) {
    // A process that has ended in the meantime needs no signal.
    kill_process_group(child, Signal::TERM).unwrap_or_default();
    send_all(Signal::TERM);
}

/// Stops the child's group until it may continue.
pub(super) fn pause(child: Pid) {
    kill_process_group(child, Signal::STOP).unwrap_or_default();
}

pub(super) fn resume(child: Pid) {
    kill_process_group(child, Signal::CONT).unwrap_or_default();
}

/// Kills all descendants. Stopped first, so that none starts another one while the others are
/// counted; the group before all others, because that takes no counting.
pub(super) fn kill(child: Pid) {
    pause(child);
    send_all(Signal::STOP);
    kill_process_group(child, Signal::KILL).unwrap_or_default();
    send_all(Signal::KILL);
}

fn send_all(signal: Signal) {
    for pid in descendants(getpid(), &all_processes()) {
        kill_process(pid, signal).unwrap_or_default();
    }
}

/// How many processes and threads there are below.
pub(super) fn tasks() -> u64 {
    let all_processes = all_processes();
    let below = descendants(getpid(), &all_processes).into_iter();
    below.map(|pid| all_processes[&pid].threads).sum()
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

struct ProcessInfo {
    parent: Pid,
    threads: u64,
}

/// Every process there is.
fn all_processes() -> HashMap<Pid, ProcessInfo> {
    let seen = processes().filter_map(|pid| {
        let stat = std::fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        Some((pid, seen_in(&stat)?))
    });
    seen.collect()
}

fn processes() -> impl Iterator<Item = Pid> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        Pid::from_raw(number)
    })
}

/// All of it follows the name, which may hold anything, and the state.
fn seen_in(stat: &[u8]) -> Option<ProcessInfo> {
    let behind_name = memchr::memrchr(b')', stat)? + 1;
    let rest = std::str::from_utf8(&stat[behind_name..]).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let parent = Pid::from_raw(fields.nth(1)?.parse().ok()?)?;
    let threads = fields.nth(15)?.parse().ok()?;
    Some(ProcessInfo { parent, threads })
}

fn descendants(of: Pid, all_processes: &HashMap<Pid, ProcessInfo>) -> Vec<Pid> {
    let mut children: HashMap<Pid, Vec<Pid>> = HashMap::new();
    for (pid, seen) in all_processes {
        children.entry(seen.parent).or_default().push(*pid);
    }
    let mut found = children.remove(&of).unwrap_or_default();
    let mut looked_at = 0;
    while let Some(parent) = found.get(looked_at) {
        found.extend(children.remove(parent).unwrap_or_default());
        looked_at += 1;
    }
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
        let rest = "7 7 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 12 0 100";
        for (stat, expected) in [
            (format!("7 (bash) S 5 {rest}"), Some((pid(5), 12))),
            (format!("7 (a) S 9 (b)) R 5 {rest}"), Some((pid(5), 12))),
            ("7 (bash) S 5".to_owned(), None),
            ("7 bash".to_owned(), None),
        ] {
            let seen = seen_in(stat.as_bytes());
            assert_eq!(seen.map(|seen| (seen.parent, seen.threads)), expected);
        }
    }

    #[test]
    fn the_whole_tree_is_found_and_nothing_else() {
        let all_processes = [(2, 1), (3, 2), (4, 3), (5, 1), (6, 2)].map(|(child, parent)| {
            let parent = pid(parent);
            (pid(child), ProcessInfo { parent, threads: 1 })
        });
        let mut found = descendants(pid(2), &all_processes.into());
        found.sort_by_key(|pid| pid.as_raw_nonzero());
        assert_eq!(found, [3, 4, 6].map(pid));
    }
}
