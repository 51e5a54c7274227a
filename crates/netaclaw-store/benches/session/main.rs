//! Sessions measured: the file provider compared with the real Pi on Node, and MySQL compared with
//! a bare transaction loop. Prints a table and writes the figures as JSON; asserts nothing.
//!
//! `cargo bench -p netaclaw-store --bench session -- [--entries 1000,10000] [--repeat 3] [--only
//! file]`

#![expect(clippy::print_stdout, reason = "a benchmark's output is its purpose")]

mod file;
mod mysql;
mod pi;
mod report;
mod work;

use report::Report;
use std::path::PathBuf;

struct Options {
    entries: Vec<usize>,
    repeat: usize,
    sessions: usize,
    only: Option<String>,
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    let value = |name: &str| {
        arguments
            .iter()
            .position(|a| a == name)
            .and_then(|at| arguments.get(at + 1))
            .cloned()
    };
    if let Some(file) = value("--rss") {
        return file::print_resident_size(&file);
    }
    let options = Options {
        entries: value("--entries")
            .unwrap_or_else(|| "1000,10000,100000".to_owned())
            .split(',')
            .map(str::parse)
            .collect::<Result<_, _>>()?,
        repeat: value("--repeat").map_or(Ok(5), |v| v.parse())?,
        sessions: value("--sessions").map_or(Ok(10_000), |v| v.parse())?,
        only: value("--only"),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    // Not below the system's temp dir: that may be memory, and this is about files.
    let dir = tempfile::tempdir_in(target_dir())?;
    let mut report = Report::default();
    let wants = |part: &str| options.only.as_deref().is_none_or(|only| only == part);
    if wants("file") {
        for entries in &options.entries {
            // Listing does not depend on the entries of one session; once is enough.
            let sessions = if entries == options.entries.last().unwrap_or(entries) {
                options.sessions
            } else {
                0
            };
            let pi = pi::run(dir.path(), *entries, options.repeat, sessions)?;
            let ours =
                runtime.block_on(file::run(dir.path(), *entries, options.repeat, sessions))?;
            report.compare(*entries, &ours, &pi);
        }
        report.flatness();
    }
    if wants("mysql") {
        match std::env::var("NETACLAW_BENCH_MYSQL_URL") {
            Ok(url) => runtime.block_on(mysql::run(&url, options.repeat, &mut report))?,
            Err(_) => println!(
                "MySQL: not measured, NETACLAW_BENCH_MYSQL_URL is not set (make bench sets it)"
            ),
        }
    }
    let path = target_dir().join("bench-session.json");
    report.write(&path)?;
    println!("\nfigures: bench-session.json in the tmp folder of the target directory");
    Ok(())
}

fn target_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}
