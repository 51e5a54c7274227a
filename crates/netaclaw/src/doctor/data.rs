//! The data directory, and the files in it that other accounts must not read.

use super::check::Check;
use crate::app::App;
use crate::config::{Config, var};
use crate::text::Lang;
use netaclaw_store::SecretKey;
use rustix::fs::{Access, access, statvfs};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const MEGABYTE: u64 = 1_000_000;
/// Sessions grow by kilobytes, so this lasts for a while.
const LITTLE_SPACE: u64 = 500 * MEGABYTE;
/// Appends would fail soon.
const NO_SPACE: u64 = 20 * MEGABYTE;

pub(super) fn directory(app: &App, config: &Config) -> Vec<Check> {
    let lang = app.lang;
    let dir = config.data_dir.as_path();
    let what = lang.data_dir();
    let shown = dir.display();
    let fail = |why, todo| {
        vec![Check::fail(
            "data_directory",
            what.clone(),
            format!("{shown}: {why}"),
            todo,
        )]
    };
    let about = match std::fs::metadata(dir) {
        Ok(about) => about,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let parent = dir.ancestors().find(|parent| parent.is_dir());
            return match parent.is_some_and(may_write) {
                true => vec![Check::ok(
                    "data_directory",
                    what,
                    lang.dir_will_be_made(shown),
                )],
                false => fail(lang.dir_cannot_be_made(), lang.choose_data_dir()),
            };
        }
        Err(error) => return fail(error.to_string(), lang.choose_data_dir()),
    };
    if !about.is_dir() {
        return fail(lang.no_directory(), lang.choose_data_dir());
    }
    if !may_write(dir) {
        return fail(lang.permission_denied(), lang.check_permission());
    }
    vec![space(lang, what, dir)]
}

fn may_write(dir: &Path) -> bool {
    access(dir, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

fn space(lang: Lang, what: String, dir: &Path) -> Check {
    let shown = dir.display();
    let Ok(disk) = statvfs(dir) else {
        return Check::ok("data_directory", what, shown.to_string());
    };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let said = lang.dir_and_space(shown, amount(free));
    match free {
        ..NO_SPACE => Check::fail("data_directory", what, said, lang.make_space()),
        NO_SPACE..LITTLE_SPACE => Check::warn("data_directory", what, said, lang.make_space()),
        _ => Check::ok("data_directory", what, said),
    }
}

fn amount(bytes: u64) -> String {
    match bytes / MEGABYTE {
        megabytes @ ..10_000 => format!("{megabytes} MB"),
        megabytes => format!("{} GB", megabytes / 1_000),
    }
}

/// The key that keys of channels are encrypted with, and the token of the server.
pub(super) fn secrets(app: &App, config: &Config) -> Vec<Check> {
    let lang = app.lang;
    let file = config.secret_key_file();
    let key = match &app.env.secret_key {
        Some(text) => match SecretKey::from_text(text) {
            Ok(_) => Check::ok(
                "secret_key",
                lang.secret_key(),
                lang.said_by_variable(var::SECRET_KEY),
            ),
            Err(error) => Check::fail(
                "secret_key",
                var::SECRET_KEY.to_owned(),
                error.to_string(),
                lang.correct_or_unset(),
            ),
        },
        None if !file.exists() && config.admin_file().exists() => Check::fail(
            "secret_key",
            lang.secret_key(),
            lang.key_file_gone(file.display()),
            lang.restore_secret_key(),
        ),
        None => secret_file(lang, "secret_key", lang.secret_key(), &file),
    };
    let token = match &app.env.token {
        Some(_) => Check::ok(
            "access_token",
            lang.access_token(),
            lang.said_by_variable(var::TOKEN),
        ),
        None => secret_file(
            lang,
            "access_token",
            lang.access_token(),
            &config.token_file(),
        ),
    };
    vec![key, token]
}

fn secret_file(lang: Lang, check: &'static str, what: String, file: &Path) -> Check {
    let about = match std::fs::metadata(file) {
        Ok(about) => about,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Check::ok(check, what, lang.made_at_first_start());
        }
        Err(error) => {
            let why = format!("{}: {error}", file.display());
            return Check::fail(check, what, why, lang.check_permission());
        }
    };
    let mode = about.permissions().mode() & 0o777;
    let said = lang.file_and_mode(file.display(), format!("{mode:04o}"));
    match mode & 0o077 {
        0 => Check::ok(check, what, said),
        _ => Check::warn(check, what, said, lang.others_may_read(file.display())),
    }
}
