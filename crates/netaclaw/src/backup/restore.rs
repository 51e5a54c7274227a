//! `netaclaw restore`: a backup becomes a data directory. Nothing is written before all of the
//! backup was verified.

use super::copy::{checksum, copy};
use super::is_free;
use super::manifest::{FORMAT, Item, MANIFEST, Manifest};
use crate::app::{App, Outcome};
use crate::config::Config;
use crate::error::{Failure, Result};
use crate::session::verify::audit_files;
use crate::terminal::grouped;
use crate::text::Lang;
use clap::Args;
use netaclaw_store::{Integrity, check_database, private};
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Lies in a data directory for as long as it is not restored completely.
const INCOMPLETE: &str = "restore.incomplete";

#[derive(Args, Debug)]
pub(crate) struct RestoreArgs {
    /// Directory of the backup
    #[arg(value_name = "DIR")]
    source: PathBuf,
    /// Only verify the backup; write nothing
    #[arg(long)]
    check: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: RestoreArgs, app: &mut App) -> Result<Outcome> {
    let lang = app.lang;
    let source = args.source.as_path();
    let manifest = read_manifest(lang, source)?;
    verify(lang, source, &manifest)?;
    check_copy(lang, &source.join("netaclaw.db")).await?;
    if args.check {
        report(
            app,
            source,
            &manifest,
            args.json,
            lang.backup_verified(source.display()),
        )?;
        return Ok(Outcome::Done);
    }
    let config = app.config(None)?;
    let target = config.data_dir.as_path();
    let free = is_free(target).map_err(|error| io_failure(lang, target, &error))?;
    if !free {
        let (why, todo) = (lang.dir_not_empty(), lang.restore_elsewhere());
        return Err(Failure::new(target.to_string_lossy(), why, todo));
    }
    write_all(lang, source, target, &manifest)?;
    check_copy(lang, &config.admin_file()).await?;
    let audit = audit_files(lang, &config.sessions_dir());
    let audit = audit.map_err(|error| io_failure(lang, target, &error))?;
    fs::remove_file(target.join(INCOMPLETE)).map_err(|error| io_failure(lang, target, &error))?;
    report(
        app,
        target,
        &manifest,
        args.json,
        lang.restored(target.display()),
    )?;
    if audit.damaged + audit.failed > 0 {
        let said = lang.verified(audit.sound, audit.damaged, audit.failed);
        app.warn(&format!("{said}; {}", lang.see_verify_all()));
    }
    Ok(Outcome::Done)
}

/// Refuses a data directory whose restore was interrupted.
pub(crate) fn must_be_complete(lang: Lang, config: &Config) -> Result<()> {
    let marker = config.data_dir.join(INCOMPLETE);
    match marker.exists() {
        true => Err(Failure::new(
            config.data_dir.to_string_lossy(),
            lang.restore_incomplete(),
            lang.restore_again(),
        )),
        false => Ok(()),
    }
}

fn read_manifest(lang: Lang, source: &Path) -> Result<Manifest> {
    let shown = || source.to_string_lossy().into_owned();
    let text = fs::read(source.join(MANIFEST)).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            Failure::new(shown(), lang.no_manifest(), lang.choose_complete_backup())
        }
        _ => io_failure(lang, source, &error),
    })?;
    let broken = |why: String| Failure::new(shown(), why, lang.choose_complete_backup());
    let format = serde_json::from_slice::<serde_json::Value>(&text);
    let format = format.map_err(|error| broken(lang.manifest_unreadable(error)))?;
    let format = format["format"].as_u64().unwrap_or_default();
    if format != u64::from(FORMAT) {
        let why = lang.manifest_of_other_format(format, FORMAT);
        return Err(Failure::new(shown(), why, lang.use_newer_netaclaw()));
    }
    let manifest: Manifest =
        serde_json::from_slice(&text).map_err(|error| broken(lang.manifest_unreadable(error)))?;
    match manifest.files.iter().find(|item| !item.is_safe()) {
        Some(item) => Err(broken(lang.manifest_unsafe(&item.path))),
        None => Ok(manifest),
    }
}

/// Compares every file with the manifest.
fn verify(lang: Lang, source: &Path, manifest: &Manifest) -> Result<()> {
    let mut bad = Vec::new();
    for item in &manifest.files {
        match checksum(&source.join(&item.path)) {
            Ok(found) if found == (item.bytes, item.sha256.clone()) => {}
            Ok(_) => bad.push(item.path.as_str()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => bad.push(&item.path),
            Err(error) => return Err(io_failure(lang, &source.join(&item.path), &error)),
        }
    }
    match bad.as_slice() {
        [] => Ok(()),
        [first, ..] => {
            let why = lang.checksums_differ(bad.len(), first);
            let todo = lang.choose_complete_backup();
            Err(Failure::new(source.to_string_lossy(), why, todo))
        }
    }
}

async fn check_copy(lang: Lang, file: &Path) -> Result<()> {
    let checked = check_database(file).await;
    match checked.map_err(|error| crate::admin::failure(lang, error))? {
        Integrity::Sound => Ok(()),
        Integrity::Damaged(why) => Err(Failure::new(
            file.to_string_lossy(),
            lang.database_damaged(why),
            lang.choose_complete_backup(),
        )),
    }
}

fn write_all(lang: Lang, source: &Path, target: &Path, manifest: &Manifest) -> Result<()> {
    let failed = |path: &Path, error: io::Error| io_failure(lang, path, &error);
    private::create_dir_all(target)
        .and_then(|()| private::write(&target.join(INCOMPLETE), b""))
        .map_err(|error| failed(target, error))?;
    for item in &manifest.files {
        let path = target.join(&item.path);
        let same = restore_file(&source.join(&item.path), &path, item);
        if !same.map_err(|error| failed(&path, error))? {
            let why = lang.checksums_differ(1, &item.path);
            let todo = lang.choose_complete_backup();
            return Err(Failure::new(source.to_string_lossy(), why, todo));
        }
    }
    let sync = File::open(target).and_then(|dir| Ok(rustix::fs::syncfs(dir)?));
    sync.map_err(|error| failed(target, error))
}

fn restore_file(from: &Path, to: &Path, item: &Item) -> io::Result<bool> {
    if let Some(parent) = to.parent() {
        private::create_dir_all(parent)?;
    }
    let (bytes, sha256) = copy(File::open(from)?, to)?;
    let mode = item.mode().unwrap_or(0o600) & 0o700;
    fs::set_permissions(to, Permissions::from_mode(mode))?;
    Ok((bytes, sha256) == (item.bytes, item.sha256.clone()))
}

fn io_failure(lang: Lang, path: &Path, error: &io::Error) -> Failure {
    Failure::io(lang, path.to_string_lossy(), error)
}

fn report(
    app: &mut App,
    dir: &Path,
    manifest: &Manifest,
    json: bool,
    headline: String,
) -> Result<()> {
    let (sessions, bytes) = (manifest.sessions(), manifest.bytes());
    if json {
        let text = serde_json::json!({
            "dir": dir, "files": manifest.files.len(), "bytes": bytes, "sessions": sessions,
            "created": manifest.created, "netaclaw": manifest.netaclaw,
            "adminStore": manifest.admin_store, "mysqlConfigured": manifest.mysql_configured,
            "secretKey": manifest.secret_key,
        });
        return Ok(writeln!(app.out, "{text}")?);
    }
    let lang = app.lang;
    let files = grouped(manifest.files.len() as u64);
    let (version, created) = (&manifest.netaclaw, &manifest.created);
    writeln!(app.out, "{headline}")?;
    writeln!(
        app.out,
        "{}",
        lang.backup_contents(created, version, grouped(sessions), files, grouped(bytes))
    )?;
    if manifest.secret_key != "file" {
        writeln!(app.out, "{}", lang.provide_key())?;
    }
    if manifest.mysql_configured {
        writeln!(app.out, "{}", lang.restore_mysql())?;
    }
    if headline == lang.restored(dir.display()) {
        writeln!(app.out, "{}", lang.start_server())?;
    }
    Ok(())
}
