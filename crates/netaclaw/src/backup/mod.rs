//! `netaclaw backup`: a copy of the data directory that can be restored, made while the server
//! runs.
//!
//! Everything that was acknowledged before the backup began is in it. The order of the copies keeps
//! references whole: a journal comes before its session, and sessions come before what they refer
//! to, which are uploads, agents and users. What is created in the meantime may be in it or not.

mod copy;
mod manifest;
pub(crate) mod restore;
mod text;

use crate::app::{App, Outcome};
use crate::config::{AdminStoreKind, Config};
use crate::error::{Failure, Result};
use crate::terminal::grouped;
use clap::Args;
use copy::{Copier, Extent, names};
use manifest::{FORMAT, Item, MANIFEST, Manifest};
use netaclaw_store::{copy_database, private};
use rustix::fs::syncfs;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Top-level names that a backup does not need: they are made anew.
const MADE_ANEW: [&str; 2] = ["running", "shipped-skills"];

#[derive(Args, Debug)]
pub(crate) struct BackupArgs {
    /// Directory to create, outside the data directory
    #[arg(value_name = "DIR")]
    target: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: BackupArgs, app: &mut App) -> Result<Outcome> {
    let config = app.config(None)?;
    let target = checked_target(app, &config, &args.target)?;
    let partial = beside(&target, ".partial");
    let lang = app.lang;
    fs::create_dir_all(target.parent().unwrap_or(Path::new(".")))
        .and_then(|()| make_partial(&partial))
        .map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                let todo = lang.remove_partial();
                Failure::new(partial.to_string_lossy(), lang.partial_exists(), todo)
            }
            _ => Failure::io(lang, partial.to_string_lossy(), &error),
        })?;
    let made = make(app, &config, &partial).await;
    let made = made.and_then(|manifest| {
        finish(&partial, &target, &manifest)
            .map_err(|error| Failure::io(lang, target.to_string_lossy(), &error))?;
        Ok(manifest)
    });
    let manifest = made.inspect_err(|_| {
        // Only a directory with a manifest is a backup; this one would be in the way of the next.
        if let Err(error) = fs::remove_dir_all(&partial) {
            tracing::debug!(%error, "failed to remove an incomplete backup");
        }
    })?;
    report(app, &target, &manifest, args.json)?;
    Ok(Outcome::Done)
}

/// Refuses a target that is in use, and one in the data directory, which would copy itself.
fn checked_target(app: &App, config: &Config, target: &Path) -> Result<PathBuf> {
    let lang = app.lang;
    let failed = |path: &Path, error: io::Error| Failure::io(lang, path.to_string_lossy(), &error);
    let data = fs::canonicalize(&config.data_dir);
    let data = data.map_err(|error| failed(&config.data_dir, error))?;
    let target = std::path::absolute(target).map_err(|error| failed(target, error))?;
    let there = target
        .ancestors()
        .find_map(|dir| fs::canonicalize(dir).ok());
    if there.is_some_and(|there| there.starts_with(&data)) {
        let why = lang.backup_inside();
        return Err(Failure::new(
            target.to_string_lossy(),
            why,
            lang.choose_other_dir(),
        ));
    }
    match is_free(&target) {
        Ok(true) => Ok(target),
        Ok(false) => Err(Failure::new(
            target.to_string_lossy(),
            lang.dir_not_empty(),
            lang.choose_other_dir(),
        )),
        Err(error) => Err(failed(&target, error)),
    }
}

/// Whether a directory is empty or does not exist.
fn is_free(dir: &Path) -> io::Result<bool> {
    match fs::read_dir(dir) {
        Ok(mut items) => Ok(items.next().is_none()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

fn make_partial(partial: &Path) -> io::Result<()> {
    match partial.exists() {
        true => Err(io::ErrorKind::AlreadyExists.into()),
        false => private::create_dir_all(partial),
    }
}

async fn make(app: &App, config: &Config, partial: &Path) -> Result<Manifest> {
    let lang = app.lang;
    let failed = |error: io::Error| Failure::io(lang, partial.to_string_lossy(), &error);
    let mut copier = Copier {
        from: &config.data_dir,
        to: partial,
        items: Vec::new(),
    };
    copy_files(&mut copier).map_err(failed)?;
    let mut items = copier.items;
    let is_sqlite = config.admin_store == AdminStoreKind::Sqlite;
    let database = config.admin_file();
    if is_sqlite && database.exists() {
        let name = "netaclaw.db";
        let copied = copy_database(&database, &partial.join(name)).await;
        copied.map_err(|error| crate::admin::failure(lang, error))?;
        items.push(item(partial, name).map_err(failed)?);
    }
    items.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Manifest {
        format: FORMAT,
        netaclaw: env!("CARGO_PKG_VERSION").to_owned(),
        created: jiff::Timestamp::now().to_string(),
        admin_store: if is_sqlite { "sqlite" } else { "mysql" }.to_owned(),
        mysql_configured: config.mysql_url.is_some(),
        secret_key: match app.env.secret_key {
            Some(_) => "environment".to_owned(),
            None => "file".to_owned(),
        },
        left_out: left_out(config).map_err(failed)?,
        files: items,
    })
}

fn copy_files(copier: &mut Copier<'_>) -> io::Result<()> {
    copy_sessions(copier)?;
    copier.tree("process-logs", &|name| {
        name.ends_with(".jsonl").then_some(Extent::Lines)
    })?;
    for (owner, kind) in names(&copier.from.join("attachments"))? {
        if kind.is_dir() {
            copy_uploads(copier, &format!("attachments/{owner}"))?;
        }
    }
    copier.tree("skills", &|_| Some(Extent::Whole))?;
    for name in ["config.toml", "access.token", "secret.key"] {
        copier.file(name, Extent::Whole)?;
    }
    Ok(())
}

/// Each session after its journal: an answer that is completed in between is in both, and the next
/// start drops the journal.
fn copy_sessions(copier: &mut Copier<'_>) -> io::Result<()> {
    let journal = |name: &str| name.ends_with(".jsonl.inflight").then_some(Extent::Lines);
    copier.tree("sessions", &journal)?;
    copier.tree("sessions", &|name| match name.ends_with(".jsonl") {
        true => Some(Extent::Lines),
        // What was before a migration.
        false => name.contains(".jsonl.v").then_some(Extent::Whole),
    })?;
    Ok(())
}

/// The uploads of one user. One that is taken back meanwhile is left out as a whole.
fn copy_uploads(copier: &mut Copier<'_>, dir: &str) -> io::Result<()> {
    for (name, kind) in names(&copier.from.join(dir))? {
        // Those with a dot are not complete yet.
        if !kind.is_dir() || name.starts_with('.') {
            continue;
        }
        let upload = format!("{dir}/{name}");
        let complete = copier.tree(&upload, &|_| Some(Extent::Whole))?;
        if !complete || !copier.from.join(&upload).exists() {
            copier.drop_tree(&upload)?;
        }
    }
    Ok(())
}

fn item(dir: &Path, name: &str) -> io::Result<Item> {
    let (bytes, sha256) = copy::checksum(&dir.join(name))?;
    Ok(Item {
        path: name.to_owned(),
        bytes,
        sha256,
        mode: "600".to_owned(),
    })
}

/// What lies in the data directory and is not NetaClaw's.
fn left_out(config: &Config) -> io::Result<Vec<String>> {
    const COPIED: [&str; 4] = ["sessions", "process-logs", "attachments", "skills"];
    const FILES: [&str; 3] = ["config.toml", "access.token", "secret.key"];
    let is_known = |name: &str| {
        let dirs = COPIED.iter().chain(&FILES).chain(&MADE_ANEW);
        dirs.into_iter().any(|known| *known == name) || name.starts_with("netaclaw.db")
    };
    let found = names(&config.data_dir)?.into_iter().map(|(name, _)| name);
    Ok(found.filter(|name| !is_known(name)).collect())
}

/// Makes everything durable, then gives the backup its name.
fn finish(partial: &Path, target: &Path, manifest: &Manifest) -> io::Result<()> {
    let text = serde_json::to_vec_pretty(manifest)?;
    syncfs(File::open(partial)?)?;
    let path = partial.join(MANIFEST);
    private::write(&path, &text)?;
    File::open(&path)?.sync_all()?;
    File::open(partial)?.sync_all()?;
    fs::rename(partial, target)?;
    let parent = target.parent().unwrap_or(Path::new("."));
    File::open(parent)?.sync_all()
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn report(app: &mut App, target: &Path, manifest: &Manifest, json: bool) -> Result<()> {
    let (sessions, bytes) = (manifest.sessions(), manifest.bytes());
    if json {
        let text = serde_json::json!({
            "dir": target, "files": manifest.files.len(), "bytes": bytes, "sessions": sessions,
            "adminStore": manifest.admin_store, "mysqlConfigured": manifest.mysql_configured,
            "secretKey": manifest.secret_key, "leftOut": manifest.left_out,
        });
        return Ok(writeln!(app.out, "{text}")?);
    }
    let lang = app.lang;
    let (files, bytes) = (grouped(manifest.files.len() as u64), grouped(bytes));
    let shown = target.display();
    writeln!(
        app.out,
        "{}",
        lang.backed_up(shown, grouped(sessions), files, bytes)
    )?;
    if manifest.secret_key == "file" {
        writeln!(app.out, "{}", lang.backup_holds_key())?;
    } else {
        writeln!(app.out, "{}", lang.backup_without_key())?;
    }
    if manifest.mysql_configured {
        writeln!(app.out, "{}", lang.backup_without_mysql())?;
    }
    if !manifest.left_out.is_empty() {
        writeln!(
            app.out,
            "{}",
            lang.backup_left_out(manifest.left_out.join(", "))
        )?;
    }
    Ok(())
}
