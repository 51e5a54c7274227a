//! `find` and `grep` compared with fd and ripgrep, on the same tree of 100,000 files.
//!
//! Both sides do the same work: hidden files too, ignore files honored, results sorted by path or
//! counted. The programs pay for starting a process and for printing, the tools for keeping their
//! results in order. Runs alternate, so that a busy moment of the machine affects both.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark fails by panicking and prints its figures"
)]

mod tree;

use netaclaw_tools::contract::{approve, context};
use netaclaw_tools::{ToolRegistry, execute};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 7;
/// The tools may take this much longer than the programs.
const RATIO_MAX: f64 = 1.5;

struct Case {
    name: &'static str,
    tool: &'static str,
    args: Value,
    /// The number of results, to verify that both did the same.
    found: usize,
    program: &'static [&'static str],
}

fn main() {
    // `cargo test` runs benchmarks too, to see that they build.
    if std::env::args().any(|arg| arg == "--test") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let files = tree::grow(root);
    println!("{files} files, the median of {ROUNDS} alternating rounds each\n");
    println!(
        "{:<34} {:>9} {:>9} {:>6}",
        "", "NetaClaw", "program", "ratio"
    );
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut worst: f64 = 0.0;
    for case in cases() {
        // The first rounds fill the page cache for both.
        let ours = runtime.block_on(call(root, &case));
        let theirs = program(root, case.program);
        assert_eq!(
            (ours.1, theirs.1),
            (case.found, case.found),
            "{}",
            case.name
        );
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            ours.push(runtime.block_on(call(root, &case)).0);
            theirs.push(program(root, case.program).0);
        }
        let (ours, theirs) = (median(ours), median(theirs));
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        worst = worst.max(ratio);
        println!(
            "{:<34} {:>6.0} ms {:>6.0} ms {ratio:>6.2}",
            case.name,
            ours.as_secs_f64() * 1e3,
            theirs.as_secs_f64() * 1e3
        );
    }
    println!();
    match worst <= RATIO_MAX {
        true => println!("All within {RATIO_MAX} times."),
        false => println!("NOT all within {RATIO_MAX} times."),
    }
}

fn cases() -> [Case; 5] {
    [
        Case {
            name: "find a name that few have",
            tool: "find",
            args: json!({"pattern": "file_77.rs", "limit": 20_000}),
            found: tree::DIRS,
            program: &["fdfind", "--hidden", "--glob", "file_77.rs"],
        },
        Case {
            name: "find an ending that half have",
            tool: "find",
            args: json!({"pattern": "*.rs", "limit": 20_000}),
            found: tree::FILES / 2,
            program: &["fdfind", "--hidden", "--glob", "*.rs"],
        },
        Case {
            name: "grep a word that few have",
            tool: "grep",
            args: json!({"pattern": "needle_in_the_haystack", "limit": 5_000}),
            found: tree::NEEDLES,
            program: &["rg", "--hidden", "-n", "needle_in_the_haystack"],
        },
        Case {
            name: "grep a regular expression",
            tool: "grep",
            args: json!({"pattern": r"needle_\w+_haystack\b.*\d+", "limit": 5_000}),
            found: tree::NEEDLES,
            program: &["rg", "--hidden", "-n", r"needle_\w+_haystack\b.*\d+"],
        },
        Case {
            name: "grep ignoring case in *.txt",
            tool: "grep",
            args: json!({
                "pattern": "NEEDLE_IN", "ignore_case": true, "glob": "*.txt", "limit": 5_000,
            }),
            found: tree::NEEDLES_IN_TEXTS,
            program: &["rg", "--hidden", "-n", "-i", "-g", "*.txt", "NEEDLE_IN"],
        },
    ]
}

/// How long a call took and how much it found.
async fn call(root: &Path, case: &Case) -> (Duration, usize) {
    let registry = ToolRegistry::builtin();
    let call = approve(&registry, case.tool, case.args.clone());
    let context = context(root);
    let start = Instant::now();
    let executed = execute(&registry, call, context).await;
    let took = start.elapsed();
    assert!(!executed.output.is_error, "{:?}", executed.output);
    let details = executed.output.details.unwrap();
    let found = match case.tool {
        // What was kept, not what fits into one page of text.
        "find" => details["total"].as_u64(),
        _ => details["shown"].as_u64(),
    };
    (took, found.unwrap() as usize)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a benchmark has no gate; it waits for what it starts"
)]
fn program(root: &Path, line: &[&str]) -> (Duration, usize) {
    let mut command = Command::new(line[0]);
    command
        .args(&line[1..])
        .current_dir(root)
        .stdin(Stdio::null());
    let start = Instant::now();
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{} is needed for this benchmark: {error}", line[0]));
    let took = start.elapsed();
    let found = output.stdout.iter().filter(|&&byte| byte == b'\n').count();
    (took, found)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
