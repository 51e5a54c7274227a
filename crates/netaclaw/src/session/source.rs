//! `FILE|ID`: finding the session an argument means, and reading it without changing anything.

use super::stores::{Provider, Stores};
use crate::app::App;
use crate::error::{Failure, Result};
use crate::text::Lang;
use netaclaw_session::{
    Entry, LogError, PageRequest, SessionError, SessionFilter, SessionId, SessionLog, SessionMeta,
    SessionStatus, SessionTree,
};
use netaclaw_store::{ReadFileError, read_session_file};
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Shorter beginnings of ids would match by accident.
const PREFIX_MIN: usize = 4;
/// How many matches an error names.
const MATCHES_SHOWN_MAX: usize = 8;

/// What an argument means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Source {
    File(PathBuf),
    Id(String),
}

impl Source {
    /// An existing file, a name that ends in `.jsonl` and anything with a path separator is a
    /// file; everything else is an id or the beginning of one.
    pub(crate) fn of(argument: &OsStr) -> Self {
        let path = Path::new(argument);
        let is_file = path.is_file()
            || path.extension().is_some_and(|end| end == "jsonl")
            || path.components().count() > 1
            || argument.to_string_lossy().contains(std::path::is_separator);
        match argument.to_str() {
            Some(id) if !is_file => Self::Id(id.to_owned()),
            _ => Self::File(path.to_owned()),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Id(id) => f.write_str(id),
        }
    }
}

/// A session that was read.
pub(crate) struct Loaded {
    pub(crate) tree: Arc<SessionTree>,
    /// What the provider knows about it; `None` for a file that was named by its path.
    pub(crate) meta: Option<SessionMeta>,
    pub(crate) in_flight: Option<Entry>,
    pub(crate) file: Option<PathBuf>,
}

/// Reads the session that `argument` means.
pub(crate) async fn load(app: &App, argument: &OsStr, provider: Option<&str>) -> Result<Loaded> {
    match Source::of(argument) {
        Source::File(path) => {
            let log = read_file(app.lang, &path)?;
            Ok(Loaded {
                tree: Arc::new(SessionTree::new(log)),
                meta: None,
                in_flight: None,
                file: Some(path),
            })
        }
        Source::Id(id) => {
            let stores = Stores::new(app, provider)?;
            let found = find(app.lang, &stores, &id).await?;
            found.load(app.lang).await
        }
    }
}

pub(crate) fn read_file(lang: Lang, path: &Path) -> Result<SessionLog> {
    let shown = || path.display().to_string();
    read_session_file(path).map_err(|error| match error {
        ReadFileError::Io(error) => Failure::io(lang, shown(), &error),
        ReadFileError::Log(error) => no_session(lang, shown(), &error),
    })
}

/// A file that holds no session. From an empty one nothing can be rescued.
pub(crate) fn no_session(lang: Lang, what: String, error: &LogError) -> Failure {
    match error {
        LogError::Empty => Failure::plain(what, lang.not_a_session(error)),
        LogError::NoHeader { .. } => {
            Failure::new(what, lang.not_a_session(error), lang.see_rescue())
        }
    }
}

/// The session that an id or its beginning means.
pub(crate) async fn find_meta(app: &App, id: &str) -> Result<SessionMeta> {
    let stores = Stores::new(app, None)?;
    Ok(find(app.lang, &stores, id).await?.meta)
}

/// A session and the provider that keeps it.
pub(crate) struct Found {
    pub(crate) provider: Provider,
    pub(crate) meta: SessionMeta,
}

impl Found {
    pub(crate) fn id(&self) -> &SessionId {
        &self.meta.session_id
    }

    pub(crate) async fn load(self, lang: Lang) -> Result<Loaded> {
        let failed = |error| Failure::session(lang, error);
        let id = self.id();
        Ok(Loaded {
            tree: self.provider.load_tree(id).await.map_err(failed)?,
            in_flight: self.provider.in_flight_entry(id).await.map_err(failed)?,
            file: self.meta.session_file.as_ref().map(PathBuf::from),
            meta: Some(self.meta),
        })
    }
}

/// Finds a session by its id or the beginning of it, in every provider that is configured.
pub(crate) async fn find(lang: Lang, stores: &Stores, id: &str) -> Result<Found> {
    let mut providers = Vec::new();
    // The second place is opened only if the first does not know the id.
    for kind in stores.places() {
        let provider = stores.open(kind).await?;
        match exactly(lang, &provider, id).await? {
            Some(found) => return Ok(found),
            None => providers.push(provider),
        }
    }
    by_prefix(lang, &providers, id).await
}

/// Finds a session in one provider.
pub(crate) async fn find_in(lang: Lang, provider: Provider, id: &str) -> Result<Found> {
    match exactly(lang, &provider, id).await? {
        Some(found) => Ok(found),
        None => by_prefix(lang, &[provider], id).await,
    }
}

/// Finds a deleted session by its whole id.
pub(super) async fn find_deleted(lang: Lang, stores: &Stores, id: &str) -> Result<Option<Found>> {
    for kind in stores.places() {
        let provider = stores.open(kind).await?;
        match provider.get_session(&SessionId::new(id)).await {
            Ok(meta) if meta.status == SessionStatus::Deleted => {
                return Ok(Some(Found { provider, meta }));
            }
            Ok(_) | Err(SessionError::NotFound(_)) => {}
            Err(error) => return Err(Failure::session(lang, error)),
        }
    }
    Ok(None)
}

async fn exactly(lang: Lang, provider: &Provider, id: &str) -> Result<Option<Found>> {
    match provider.get_session(&SessionId::new(id)).await {
        Ok(meta) if meta.status == SessionStatus::Deleted => Err(Failure::new(
            lang.session_named(id),
            lang.session_is_deleted(),
            lang.see_undelete(id),
        )),
        Ok(meta) => Ok(Some(Found {
            provider: Arc::clone(provider),
            meta,
        })),
        Err(SessionError::NotFound(_)) => Ok(None),
        Err(error) => Err(Failure::session(lang, error)),
    }
}

async fn by_prefix(lang: Lang, providers: &[Provider], prefix: &str) -> Result<Found> {
    let mut matches = Vec::new();
    if prefix.len() >= PREFIX_MIN {
        for provider in providers {
            matches.extend(with_prefix(lang, provider, prefix).await?);
        }
    }
    match matches.len() {
        0 => Err(Failure::session(
            lang,
            SessionError::NotFound(SessionId::new(prefix)),
        )),
        1 => Ok(matches.remove(0)),
        count => Err(ambiguous(lang, prefix, count, &matches)),
    }
}

async fn with_prefix(lang: Lang, provider: &Provider, prefix: &str) -> Result<Vec<Found>> {
    let filter = SessionFilter {
        text: Some(prefix.to_owned()),
        ..SessionFilter::default()
    };
    let mut found = Vec::new();
    for page in 1.. {
        let request = PageRequest { page, size: 500 };
        let listed = provider.list_sessions(&filter, request).await;
        let listed = listed.map_err(|error| Failure::session(lang, error))?;
        let is_last = u64::from(page) * 500 >= listed.total || listed.items.is_empty();
        let hits = listed
            .items
            .into_iter()
            .filter(|meta| meta.session_id.as_str().starts_with(prefix));
        found.extend(hits.map(|meta| Found {
            provider: Arc::clone(provider),
            meta,
        }));
        if is_last {
            break;
        }
    }
    Ok(found)
}

fn ambiguous(lang: Lang, prefix: &str, count: usize, matches: &[Found]) -> Failure {
    let shown = matches
        .iter()
        .take(MATCHES_SHOWN_MAX)
        .map(|found| format!("{} ({})", found.id(), found.provider.kind().as_str()));
    let mut shown = shown.collect::<Vec<_>>().join(", ");
    if count > MATCHES_SHOWN_MAX {
        shown.push_str(", …");
    }
    Failure::new(
        lang.session_named(prefix),
        lang.ambiguous(count, shown),
        lang.give_more_of_id(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_ids_are_distinguished() {
        let file = |text: &str| Source::File(text.into());
        let id = |text: &str| Source::Id(text.to_owned());
        for (argument, expected) in [
            ("0195f2d1", id("0195f2d1")),
            ("my.session", id("my.session")),
            ("gone.jsonl", file("gone.jsonl")),
            ("./0195f2d1", file("./0195f2d1")),
            ("a/b", file("a/b")),
            ("/", file("/")),
            ("Cargo.toml", file("Cargo.toml")),
            ("src", id("src")),
        ] {
            assert_eq!(Source::of(OsStr::new(argument)), expected, "{argument}");
        }
    }
}
