//! The sessions: those in files, whether a process has them open, and those in MySQL.

use super::check::Check;
use super::store::tables;
use crate::app::App;
use crate::config::Config;
use crate::error::Failure;
use crate::session::verify::{Tally, audit_files, files_below};
use netaclaw_session::ProviderKind;
use netaclaw_store::session_tables;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

pub(super) fn files(app: &App, config: &Config) -> Vec<Check> {
    let lang = app.lang;
    let dir = config.sessions_dir();
    let what = lang.session_files();
    let failed = |error| {
        let failure = Failure::io(lang, dir.display().to_string(), &error);
        vec![Check::failed("session_files", failure)]
    };
    let Tally {
        sound,
        damaged,
        failed: unreadable,
    } = match audit_files(lang, &dir) {
        Ok(tally) => tally,
        Err(error) => return failed(error),
    };
    let said = lang.verified(sound, damaged, unreadable);
    let mut checks = vec![match damaged + unreadable {
        0 => Check::ok("session_files", what, said),
        _ => Check::warn("session_files", what, said, lang.see_verify_all()),
    }];
    match files_below(&dir, "lock") {
        Ok(locks) => {
            let holders = std::fs::read_to_string("/proc/locks").unwrap_or_default();
            let open = locks.iter().filter(|lock| is_held(lock, &holders)).count();
            if open > 0 {
                let what = lang.open_sessions();
                checks.push(Check::info("session_locks", what, lang.in_use_now(open)));
            }
        }
        Err(error) => checks.extend(failed(error)),
    }
    checks
}

/// Asks the kernel's list instead of trying the lock: who tries it holds it for a moment, and a
/// server that wants it in that moment is refused.
fn is_held(lock: &Path, holders: &str) -> bool {
    let Ok(about) = std::fs::metadata(lock) else {
        return false;
    };
    // As in `1: FLOCK  ADVISORY  WRITE 4711 08:01:131123 0 EOF`.
    let inode = format!(":{}", about.ino());
    holders.lines().any(|line| {
        let mut words = line.split_whitespace();
        words.any(|word| word == "FLOCK") && words.any(|word| word.ends_with(&inode))
    })
}

pub(super) async fn database(app: &App, config: &Config) -> Vec<Check> {
    let what = app.lang.session_database();
    match (&config.mysql_url, config.provider) {
        (Some(url), _) => {
            let found = session_tables(url).await;
            vec![tables(app, "session_database", what, found)]
        }
        (None, ProviderKind::Mysql) => vec![Check::fail(
            "session_database",
            what,
            app.lang.no_database(),
            app.lang.set_mysql_url(),
        )],
        (None, ProviderKind::File) => Vec::new(),
    }
}
