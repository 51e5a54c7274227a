//! What the machine offers to tools: a kernel that can lock them in, and programs they may use.

use super::check::Check;
use crate::app::App;
use crate::assemble::gate;
use crate::text::Lang;
use netaclaw_tools::spawn::{Isolation, SandboxAbilities, sandbox_abilities};
use rustix::fs::{Access, access};
use rustix::process::geteuid;
use std::ffi::OsStr;
use std::path::PathBuf;

/// Programs that tools and skills like to use.
const PROGRAMS: [&str; 8] = [
    "bash", "git", "python3", "node", "npx", "rg", "ffmpeg", "chromium",
];

pub(super) async fn look(app: &App) -> Vec<Check> {
    let mut checks = vec![landlock(app.lang)];
    checks.extend(isolation(app).await);
    if geteuid().is_root() {
        let lang = app.lang;
        checks.push(Check::warn(
            "account",
            lang.account(),
            lang.runs_as_root(),
            lang.use_another_account(),
        ));
    }
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
    let said = said
        .into_iter()
        .reduce(|said, more| app.lang.and_then(said, more));
    let check = Check::info("programs", app.lang.programs(), said.unwrap_or_default());
    checks.push(check);
    checks
}

/// Tried with a real program, which is the only way to know.
async fn isolation(app: &App) -> Option<Check> {
    let lang = app.lang;
    let config = app.load_config().ok()?;
    let gate = gate(app, &config);
    let what = lang.namespaces();
    Some(match gate.probe_isolation().await {
        Isolation::Namespaces => Check::ok("namespaces", what, lang.namespaces_work()),
        Isolation::Off => Check::info("namespaces", what, lang.namespaces_off()),
        Isolation::Refused(why) => Check::warn(
            "namespaces",
            what,
            lang.namespaces_refused(why),
            lang.allow_namespaces(),
        ),
    })
}

fn is_in(path: Option<&OsStr>, name: &str) -> bool {
    let dirs = path.map(std::env::split_paths).into_iter().flatten();
    dirs.map(|dir: PathBuf| dir.join(name))
        .any(|file| file.is_file() && access(&file, Access::EXEC_OK).is_ok())
}

/// How far the kernel can lock a tool's process in.
fn landlock(lang: Lang) -> Check {
    let what = lang.sandbox();
    let abilities = sandbox_abilities();
    match abilities {
        SandboxAbilities::Landlock(version) => {
            let rules = lang.landlock_version(version);
            let lacking = match version {
                ..3 => Some(lang.landlock_truncates()),
                3..6 => Some(lang.landlock_signals()),
                _ if !abilities.guards_socket_names() => Some(lang.landlock_sockets()),
                _ => None,
            };
            match lacking {
                None => Check::ok("landlock", what, rules),
                Some(lacking) => Check::info("landlock", what, lang.and_then(rules, lacking)),
            }
        }
        SandboxAbilities::SwitchedOff => Check::warn(
            "landlock",
            what,
            lang.landlock_off(),
            lang.enable_landlock(),
        ),
        SandboxAbilities::Absent => Check::warn(
            "landlock",
            what,
            lang.landlock_absent(),
            lang.newer_kernel(),
        ),
    }
}
