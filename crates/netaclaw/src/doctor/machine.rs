//! What the machine offers to tools: a kernel that can lock them in, and programs they may use.

use super::check::Check;
use crate::app::App;
use crate::text::Lang;
use landlock::{AccessFs, LandlockStatus, RestrictionStatus, Ruleset, RulesetAttr, RulesetError};
use rustix::fs::{Access, access};
use std::ffi::OsStr;
use std::path::PathBuf;

/// Programs that tools and skills like to use.
const PROGRAMS: [&str; 8] = [
    "bash", "git", "python3", "node", "npx", "rg", "ffmpeg", "chromium",
];

pub(super) fn look(app: &App) -> Vec<Check> {
    let mut checks = vec![landlock(app.lang)];
    let (found, missing): (Vec<&str>, Vec<&str>) = PROGRAMS
        .into_iter()
        .partition(|name| is_in(app.env.path.as_deref(), name));
    let mut said = Vec::new();
    if !found.is_empty() {
        said.push(app.lang.programs_found(found.join(", ")));
    }
    if !missing.is_empty() {
        said.push(app.lang.programs_missing(missing.join(", ")));
    }
    let check = Check::info("programs", app.lang.programs(), said.join("; "));
    checks.push(check);
    checks
}

fn is_in(path: Option<&OsStr>, name: &str) -> bool {
    let dirs = path.map(std::env::split_paths).into_iter().flatten();
    dirs.map(|dir: PathBuf| dir.join(name))
        .any(|file| file.is_file() && access(&file, Access::EXEC_OK).is_ok())
}

/// How far the kernel can lock a tool's process in.
fn landlock(lang: Lang) -> Check {
    let what = "Landlock".to_owned();
    match kernel() {
        Some(LandlockStatus::Available {
            effective_abi,
            kernel_abi,
        }) => {
            let version = kernel_abi.unwrap_or(effective_abi as i32);
            Check::ok("landlock", what, lang.landlock_version(version))
        }
        Some(LandlockStatus::NotEnabled) => Check::warn(
            "landlock",
            what,
            lang.landlock_off(),
            lang.enable_landlock(),
        ),
        _ => Check::warn(
            "landlock",
            what,
            lang.landlock_absent(),
            lang.newer_kernel(),
        ),
    }
}

/// Tried rather than asked, on a thread of its own: a restriction is for the thread that takes it
/// on, and goes with it.
fn kernel() -> Option<LandlockStatus> {
    let tried = std::thread::spawn(|| -> Result<RestrictionStatus, RulesetError> {
        Ruleset::default()
            .handle_access(AccessFs::MakeFifo)?
            .create()?
            .restrict_self()
    });
    Some(tried.join().ok()?.ok()?.landlock)
}
