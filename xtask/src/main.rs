//! Automation for the workspace: `cargo run -p xtask -- tidy`.

mod repository;
mod tidy;

use anyhow::{Context, bail};
use repository::Repository;
use std::io::Write;
use std::path::Path;

fn main() -> anyhow::Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("tidy") => run_tidy(),
        Some(other) => bail!("there is no task {other:?}; there is: tidy"),
        None => bail!("name a task: tidy"),
    }
}

fn run_tidy() -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("xtask lies in the workspace")?;
    let repository = Repository::read(root)?;
    let faults = tidy::faults(&repository);
    let mut stderr = std::io::stderr();
    for fault in &faults {
        writeln!(stderr, "tidy: {fault}")?;
    }
    match faults.len() {
        0 => Ok(()),
        count => bail!("{count} faults"),
    }
}
