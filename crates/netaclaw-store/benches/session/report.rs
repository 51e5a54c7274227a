//! The table for readers and the figures for programs.

use crate::file::Figures;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

#[derive(Default)]
pub(crate) struct Report {
    rows: Vec<Value>,
    /// Entries and time for each append.
    appends: Vec<(usize, f64)>,
}

impl Report {
    pub(crate) fn compare(&mut self, entries: usize, ours: &Figures, pi: &Figures) {
        println!(
            "\n{entries} entries ({:.1} MB)        NetaClaw           Pi    factor",
            ours.file_bytes as f64 / 1e6
        );
        let each = |total: Duration| total / u32::try_from(entries).unwrap_or(u32::MAX);
        self.appends
            .push((entries, each(ours.append).as_secs_f64()));
        self.row(entries, "append, each", each(ours.append), each(pi.append));
        if let Some(bare) = ours.bare_write {
            self.row(
                entries,
                "  bare write(2) of the same",
                each(bare),
                each(pi.append),
            );
            println!(
                "  {:<28}{:>37.2}×",
                "  append / what bounds it",
                ours.append.as_secs_f64() / bare.as_secs_f64()
            );
        }
        self.row(entries, "open", ours.open, pi.open);
        self.row(entries, "context at leaf", ours.context, pi.context);
        self.row(entries, "branch and append", ours.branch, pi.branch);
        self.row(entries, "fork whole file", ours.fork_file, pi.fork_file);
        self.row(entries, "fork path", ours.fork_path, pi.fork_path);
        if let (Some(ours), Some(pi)) = (ours.list, pi.list) {
            self.row(entries, "list, indexed", ours, pi);
        }
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        println!(
            "  {:<28}{:>8.1} MiB {:>8.1} MiB {:>8.2}",
            "memory after open",
            mib(ours.memory_bytes),
            mib(pi.memory_bytes),
            ours.memory_bytes as f64 / pi.memory_bytes as f64,
        );
        self.rows.push(
            json!({"entries": entries, "what": "memory", "netaclawBytes": ours.memory_bytes,
            "piBytes": pi.memory_bytes, "fileBytes": ours.file_bytes}),
        );
    }

    /// Whether appending costs the same however long the session is.
    pub(crate) fn flatness(&self) {
        if let (Some((few, first)), Some((many, last))) =
            (self.appends.first(), self.appends.last())
        {
            println!(
                "\n  append at {many} entries costs {:.2} of that at {few}",
                last / first
            );
        }
    }

    pub(crate) fn row(&mut self, entries: usize, what: &str, ours: Duration, other: Duration) {
        let factor = other.as_secs_f64() / ours.as_secs_f64();
        println!(
            "  {what:<28}{:>12} {:>12} {factor:>8.1}×",
            shown(ours),
            shown(other)
        );
        self.rows.push(
            json!({"entries": entries, "what": what.trim(), "netaclawMs": ours.as_secs_f64() * 1e3,
            "otherMs": other.as_secs_f64() * 1e3, "factor": factor}),
        );
    }

    /// A figure with nothing to compare it with.
    pub(crate) fn alone(&mut self, entries: usize, what: &str, ours: Duration) {
        println!("  {what:<28}{:>12}", shown(ours));
        let ms = ours.as_secs_f64() * 1e3;
        self.rows
            .push(json!({"entries": entries, "what": what, "netaclawMs": ms}));
    }

    pub(crate) fn write(&self, path: &Path) -> std::io::Result<()> {
        std::fs::write(path, serde_json::to_vec_pretty(&self.rows)?)
    }
}

fn shown(time: Duration) -> String {
    match time.as_secs_f64() * 1e6 {
        micros if micros < 1000.0 => format!("{micros:.2} µs"),
        micros if micros < 1e6 => format!("{:.2} ms", micros / 1e3),
        micros => format!("{:.2} s", micros / 1e6),
    }
}
