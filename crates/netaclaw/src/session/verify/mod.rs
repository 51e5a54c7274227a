//! `session verify`: looks for damage and changes nothing. Ends with 0 if all is sound, 2 if
//! damage was found, 1 if something could not be looked at.

mod audit;
mod finding;

use super::source::{self, Source};
use super::stores::Stores;
use crate::app::{App, Outcome};
use crate::error::{Failure, Result};
use crate::terminal::{harmless, one_line};
use crate::text::Lang;
use audit::Audit;
use clap::Args;
use finding::{Finding, Report};
use netaclaw_session::{
    LogError, PageRequest, ProviderKind, SessionFilter, SessionLog, SessionStatus,
};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    /// Session files, or session ids or the start of them
    #[arg(value_name = "FILE|ID", required_unless_present = "all")]
    sessions: Vec<OsString>,
    /// Check every session in the storage
    #[arg(long)]
    all: bool,
    /// Storage to search first: file or mysql
    #[arg(long)]
    provider: Option<String>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: VerifyArgs, app: &mut App) -> Result<Outcome> {
    let mut work: Vec<Source> = args.sessions.iter().map(|arg| Source::of(arg)).collect();
    // Files need no settings, and a database is connected to once.
    let needs_stores = args.all || work.iter().any(|source| matches!(source, Source::Id(_)));
    let stores = match needs_stores {
        true => Some(Stores::new(app, args.provider.as_deref())?),
        false => None,
    };
    if let (Some(stores), true) = (&stores, args.all) {
        work.extend(all_sessions(app.lang, stores).await?);
    }

    let mut tally = Tally::default();
    if args.json {
        write!(app.out, r#"{{"sessions":["#)?;
    }
    for source in work {
        let report = match (&source, &stores) {
            (Source::File(path), _) => verify_file(app.lang, path),
            (Source::Id(id), Some(stores)) => verify_id(app.lang, stores, id).await,
            (Source::Id(_), None) => unreachable!("an id needs the stores"),
        };
        tally.take(app, args.json, &source.to_string(), report)?;
    }
    let Tally {
        sound,
        damaged,
        failed,
    } = tally;
    match args.json {
        true => writeln!(
            app.out,
            r#"],"sound":{sound},"damaged":{damaged},"failed":{failed}}}"#
        )?,
        // The report of a single one is complete.
        false if tally.seen() == 1 => {}
        false => writeln!(app.out, "{}", app.lang.verified(sound, damaged, failed))?,
    }
    Ok(match (failed, damaged) {
        (1.., _) => Outcome::Failed,
        (0, 1..) => Outcome::Damaged,
        (0, 0) => Outcome::Done,
    })
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) sound: u64,
    pub(crate) damaged: u64,
    /// Not even looked at, as it could not be read.
    pub(crate) failed: u64,
}

impl Tally {
    fn seen(&self) -> u64 {
        self.sound + self.damaged + self.failed
    }

    /// Counts and prints one report. A session that cannot be read is reported and does not stop
    /// the rest.
    fn take(
        &mut self,
        app: &mut App,
        json: bool,
        name: &str,
        report: Result<Report>,
    ) -> Result<()> {
        let comma = if self.seen() == 0 { "" } else { "," };
        match report {
            Ok(report) => {
                match report.is_sound() {
                    true => self.sound += 1,
                    false => self.damaged += 1,
                }
                match json {
                    true => {
                        write!(app.out, "{comma}")?;
                        let form = report.json_form(name);
                        serde_json::to_writer(&mut app.out, &form).map_err(io::Error::from)?;
                    }
                    false => write_report(app, name, &report)?,
                }
            }
            Err(Failure::ReaderGone) => return Err(Failure::ReaderGone),
            Err(failure) => {
                self.failed += 1;
                if json {
                    let error =
                        serde_json::json!({ "session": name, "error": failure.to_string() });
                    write!(app.out, "{comma}{error}")?;
                }
                app.warn(&failure.to_string());
            }
        }
        Ok(())
    }
}

fn write_report(app: &mut App, name: &str, report: &Report) -> Result<()> {
    let name = one_line(name, 200);
    let (mark, word) = match report.is_sound() {
        true => (app.paint.good("✓"), app.lang.sound()),
        false => (app.paint.bad("✗"), app.lang.damaged()),
    };
    let version = report.version.map_or(String::new(), |v| format!(", v{v}"));
    let entries = app.lang.entries(report.entries);
    writeln!(app.out, "{mark} {name}: {word} ({entries}{version})")?;
    for finding in &report.findings {
        let text = finding.text(app.lang);
        let text = harmless(&text);
        match finding.is_damage() {
            true => writeln!(app.out, "  {}", app.paint.warning(&text))?,
            false => writeln!(app.out, "  {}", app.paint.dim(&text))?,
        }
    }
    Ok(())
}

fn verify_file(lang: Lang, path: &Path) -> Result<Report> {
    let bytes = std::fs::read(path)
        .map_err(|error| Failure::io(lang, path.display().to_string(), &error))?;
    let audit = Audit::of_bytes(&bytes);
    match SessionLog::parse(bytes) {
        Ok(log) => Ok(audit.with_log(log)),
        Err(LogError::Empty) => Ok(audit.without_session(Finding::Empty)),
        Err(LogError::NoHeader { .. }) => Ok(audit.without_session(Finding::NoHeader)),
    }
}

/// A session stored in a file is verified as that file, since its bytes reveal more.
async fn verify_id(lang: Lang, stores: &Stores, id: &str) -> Result<Report> {
    let found = source::find(lang, stores, id).await?;
    match &found.meta.session_file {
        Some(file) => verify_file(lang, Path::new(file)),
        None => {
            let loaded = found.load(lang).await?;
            Ok(Audit::default().with_log(loaded.tree.to_log()))
        }
    }
}

async fn all_sessions(lang: Lang, stores: &Stores) -> Result<Vec<Source>> {
    match stores.config.provider {
        // The directory and not the list: a file too damaged to be listed matters most here.
        ProviderKind::File => {
            let dir = stores.config.sessions_dir();
            let files = files_below(&dir, "jsonl");
            let files =
                files.map_err(|error| Failure::io(lang, dir.display().to_string(), &error))?;
            Ok(files.into_iter().map(Source::File).collect())
        }
        ProviderKind::Mysql => Ok(all_ids(lang, stores)
            .await?
            .into_iter()
            .map(Source::Id)
            .collect()),
    }
}

/// How many session files below a directory are sound, and how many are not.
pub(crate) fn audit_files(lang: Lang, dir: &Path) -> io::Result<Tally> {
    let mut tally = Tally::default();
    for file in files_below(dir, "jsonl")? {
        match verify_file(lang, &file) {
            Ok(report) if report.is_sound() => tally.sound += 1,
            Ok(_) => tally.damaged += 1,
            Err(_) => tally.failed += 1,
        }
    }
    Ok(tally)
}

/// Every file with this ending below a directory, sorted. A directory that does not exist holds
/// none.
pub(crate) fn files_below(dir: &Path, ending: &str) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut waiting = vec![dir.to_owned()];
    while let Some(dir) = waiting.pop() {
        let listed = match std::fs::read_dir(&dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            listed => listed?,
        };
        for item in listed {
            let item = item?;
            // Links are not followed: they could lead in a circle.
            match item.file_type()? {
                kind if kind.is_dir() => waiting.push(item.path()),
                _ if item.path().extension().is_some_and(|end| end == ending) => {
                    files.push(item.path())
                }
                _ => {}
            }
        }
    }
    files.sort();
    Ok(files)
}

async fn all_ids(lang: Lang, stores: &Stores) -> Result<Vec<String>> {
    let provider = stores.chosen().await?;
    let mut ids = Vec::new();
    for status in [None, Some(SessionStatus::Deleted)] {
        let filter = SessionFilter {
            status,
            ..SessionFilter::default()
        };
        for page in 1.. {
            let request = PageRequest { page, size: 500 };
            let listed = provider.list_sessions(&filter, request).await;
            let listed = listed.map_err(|error| Failure::session(lang, error))?;
            if listed.items.is_empty() {
                break;
            }
            ids.extend(
                listed
                    .items
                    .into_iter()
                    .map(|meta| meta.session_id.to_string()),
            );
        }
    }
    Ok(ids)
}
