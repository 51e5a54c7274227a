//! The same work done by the real Pi on Node.

use crate::work::ms;
use anyhow::Context as _;
use serde_json::Value;
use std::path::{Path, PathBuf};

use crate::file::Figures;

pub(crate) fn run(
    dir: &Path,
    entries: usize,
    repeat: usize,
    sessions: usize,
) -> anyhow::Result<Figures> {
    let interop = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../interop");
    #[expect(
        clippy::disallowed_methods,
        reason = "a benchmark starts the program it compares with"
    )]
    let output = std::process::Command::new("node")
        .arg("bench-pi.mjs")
        .args([
            "--entries",
            &entries.to_string(),
            "--repeat",
            &repeat.to_string(),
        ])
        .args(["--sessions", &sessions.to_string(), "--dir"])
        .arg(dir)
        .current_dir(interop)
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("Node is needed to run Pi")?;
    anyhow::ensure!(
        output.status.success(),
        "Pi's benchmark failed; run `make interop` first"
    );
    let result: Value = serde_json::from_slice(&output.stdout)?;
    let time = |name: &str| ms(result[name].as_f64().unwrap_or(f64::NAN));
    Ok(Figures {
        append: time("appendTotalMs"),
        open: time("openMs"),
        context: time("contextMs"),
        branch: time("branchMs"),
        fork_file: time("forkFileMs"),
        fork_path: time("forkPathMs"),
        list: result["list"]["ms"].as_f64().map(ms),
        memory_bytes: result["memory"]["differenceBytes"].as_f64().unwrap_or(0.0) as u64,
        file_bytes: result["fileBytes"].as_u64().unwrap_or(0),
        bare_write: None,
    })
}
