//! `session export`: the session as a file for other programs, or for people.

mod html;
mod jsonl;
mod markdown;
mod sanitize;

use super::source;
use crate::app::App;
use crate::error::{Failure, Result};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
pub(crate) struct ExportArgs {
    /// Session file, or session id or the start of one
    #[arg(value_name = "FILE|ID")]
    session: OsString,
    /// Format of the export
    ///
    /// jsonl: the whole session, for Pi and NetaClaw; md: the active path; html: the whole tree as
    /// one page
    #[arg(long, value_enum)]
    format: Format,
    /// Write to a file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long, requires = "output")]
    force: bool,
    /// Storage to search first: file or mysql
    #[arg(long)]
    provider: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Jsonl,
    Md,
    Html,
}

pub(crate) async fn run(args: ExportArgs, app: &mut App) -> Result<()> {
    let loaded = source::load(app, &args.session, args.provider.as_deref()).await?;
    let lang = app.lang;
    let skipped = loaded.tree.skipped_lines();
    if skipped > 0 {
        app.warn(&lang.left_out(skipped.into()));
    }
    let write = |out: &mut dyn Write| match args.format {
        Format::Jsonl => jsonl::write(out, &loaded.tree),
        Format::Md => markdown::write(out, &loaded, lang),
        Format::Html => html::write(out, &loaded, lang),
    };
    match &args.output {
        None => Ok(write(&mut app.out)?),
        Some(path) => write_file(path, args.force, write)
            .map_err(|error| Failure::io(lang, path.display().to_string(), &error)),
    }
}

/// Writes a file that is there as a whole or not at all.
fn write_file(
    path: &Path,
    may_replace: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if !may_replace && path.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    // A link stays one: what it leads to is replaced.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    match path.metadata() {
        Ok(about) if about.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        // A device or a pipe is written to; putting a file in its place would break it.
        Ok(about) if !about.is_file() => {
            return write_all(OpenOptions::new().write(true).open(path)?, write);
        }
        _ => {}
    }
    let mut temporary = OsString::from(path);
    temporary.push(format!(".{}.tmp", std::process::id()));
    let temporary = PathBuf::from(temporary);
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&temporary)?;
    let done = write_all(file, write).and_then(|()| match may_replace {
        true => std::fs::rename(&temporary, path),
        false => move_to_free_name(&temporary, path),
    });
    done.inspect_err(|_| std::fs::remove_file(&temporary).unwrap_or_default())
}

fn write_all(file: File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, file);
    write(&mut out)?;
    out.flush()
}

/// Unlike a rename, a link does not replace a file that was created in the meantime. Not every file
/// system has links.
fn move_to_free_name(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::hard_link(from, to) {
        Ok(()) => std::fs::remove_file(from),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(_) => std::fs::rename(from, to),
    }
}
