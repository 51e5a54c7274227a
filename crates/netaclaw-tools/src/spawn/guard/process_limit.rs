//! Limits the number of processes and threads of a child.
//!
//! Without a control group, the kernel enforces no limit for a tree of processes, and for root not
//! even that of the account. So the guard counts them. That means reading every process of the
//! machine; usually one line of the kernel shows that it is not needed.

use super::tree;
use rustix::process::Pid;

pub(super) struct ProcessLimit {
    most: u64,
    counted: Option<ProcessCount>,
}

/// How many there were, and how the machine stood then.
struct ProcessCount {
    tasks: u64,
    machine: MachineLoad,
}

/// Of the whole machine.
#[derive(Debug, PartialEq)]
struct MachineLoad {
    tasks: u64,
    /// Numbers are given out upwards, and begin again at the end.
    newest: u64,
}

/// What the line of the kernel says.
#[derive(Debug, PartialEq)]
enum ProcessHeadroom {
    /// Not even if all that are new belong to the child there are too many.
    Enough,
    Unknown,
    /// The machine has become so much fuller that it looks bad.
    Hardly,
}

impl ProcessLimit {
    /// Before the child is there.
    pub(super) fn new(most: u64) -> Self {
        let empty = |machine| ProcessCount { tasks: 0, machine };
        Self {
            most,
            counted: MachineLoad::now().map(empty),
        }
    }

    pub(super) fn most(&self) -> u64 {
        self.most
    }

    /// Looks at what is below the guard, of which most are in the group of `child`.
    pub(super) fn is_too_large(&mut self, child: Pid) -> bool {
        let machine = MachineLoad::now();
        let room = machine
            .as_ref()
            .map_or(ProcessHeadroom::Unknown, |now| self.room(now));
        if room == ProcessHeadroom::Enough {
            return false;
        }
        // Thousands of runnable processes leave no time to count them.
        if room == ProcessHeadroom::Hardly {
            tree::pause(child);
        }
        let tasks = tree::tasks();
        self.counted = machine.map(|machine| ProcessCount { tasks, machine });
        let is_too_large = tasks > self.most;
        if room == ProcessHeadroom::Hardly && !is_too_large {
            tree::resume(child);
        }
        is_too_large
    }

    fn room(&self, now: &MachineLoad) -> ProcessHeadroom {
        if now.tasks <= self.most {
            return ProcessHeadroom::Enough;
        }
        let Some(then) = &self.counted else {
            return ProcessHeadroom::Unknown;
        };
        let room = self.most.saturating_sub(then.tasks);
        let new = now.newest.checked_sub(then.machine.newest);
        match new.is_some_and(|new| new <= room) {
            true => ProcessHeadroom::Enough,
            false if now.tasks > then.machine.tasks + room => ProcessHeadroom::Hardly,
            false => ProcessHeadroom::Unknown,
        }
    }
}

impl MachineLoad {
    fn now() -> Option<Self> {
        Self::in_line(&std::fs::read_to_string("/proc/loadavg").ok()?)
    }

    /// Some that only look like Linux do not count, and say nought.
    fn in_line(line: &str) -> Option<Self> {
        let mut fields = line.split_ascii_whitespace().skip(3);
        let (_, tasks) = fields.next()?.split_once('/')?;
        let machine = Self {
            tasks: tasks.parse().ok()?,
            newest: fields.next()?.parse().ok()?,
        };
        (machine.tasks > 0 && machine.newest > 0).then_some(machine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_the_kernel_is_read() {
        let read = MachineLoad::in_line("6.92 3.77 3.60 6/328 13726\n");
        let expected = MachineLoad {
            tasks: 328,
            newest: 13726,
        };
        assert_eq!(read, Some(expected));
        for line in ["", "0.00 0.00 0.00 0/0 0\n", "1 2 3 4 5"] {
            assert_eq!(MachineLoad::in_line(line), None, "{line}");
        }
    }

    #[test]
    fn all_are_counted_only_where_there_may_be_too_many() {
        let machine = |tasks, newest| MachineLoad { tasks, newest };
        let mut process_limit = ProcessLimit {
            most: 100,
            counted: None,
        };
        let check = |process_limit: &ProcessLimit, tasks, newest, expected| {
            assert_eq!(process_limit.room(&machine(tasks, newest)), expected);
        };
        check(&process_limit, 100, 5_000, ProcessHeadroom::Enough);
        check(&process_limit, 101, 5_000, ProcessHeadroom::Unknown);
        process_limit.counted = Some(ProcessCount {
            tasks: 60,
            machine: machine(800, 5_000),
        });
        check(&process_limit, 840, 5_040, ProcessHeadroom::Enough);
        check(&process_limit, 840, 5_041, ProcessHeadroom::Unknown);
        check(&process_limit, 841, 5_041, ProcessHeadroom::Hardly);
        // The numbers have begun again.
        check(&process_limit, 840, 300, ProcessHeadroom::Unknown);
    }
}
