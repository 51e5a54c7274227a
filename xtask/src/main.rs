//! Automation for the workspace: `cargo run -p xtask -- tidy`, `… types`.

#[cfg(test)]
mod documented;
mod idiom;
mod repository;
mod tidy;
mod types;

use anyhow::{Context, bail};
use repository::Repository;
use std::io::Write;
use std::path::Path;

fn main() -> anyhow::Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("tidy") => run_tidy(),
        Some("types") => types::write(root()?),
        Some(other) => bail!("there is no task {other:?}; there are: tidy, types"),
        None => bail!("name a task: tidy, types"),
    }
}

fn run_tidy() -> anyhow::Result<()> {
    let repository = Repository::read(root()?)?;
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

fn root() -> anyhow::Result<&'static Path> {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("xtask lies in the workspace")
}
