//! The findings of a verification, for people and for programs.

use crate::terminal::one_line;
use crate::text::Lang;
use netaclaw_session::EntryId;
use serde::Serialize;

/// How many places a finding names; the count is always whole.
const PLACES_MAX: usize = 5;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    Empty,
    NoHeader,
    UnreadableLines(Vec<u64>),
    /// Invalid UTF-8, in lines that can be read nonetheless.
    InvalidUtf8(Vec<u64>),
    /// The last line was cut off: unreadable, and without a line break.
    TornTail,
    Orphans(Vec<EntryId>),
    DuplicateIds(Vec<EntryId>),
    Circles(Vec<EntryId>),
    MissingFirstKept(Vec<EntryId>),
    MissingMessage(Vec<EntryId>),
    MissingLeaf(EntryId),
    ResultsWithoutCall(Vec<EntryId>),
    /// Readable, and the next append mends it.
    NoLastLineBreak,
    OldVersion(u32),
    NewerVersion(u32),
}

impl Finding {
    /// Whether something was lost or cannot be used as it is.
    pub(crate) fn is_damage(&self) -> bool {
        !matches!(
            self,
            Self::NoLastLineBreak | Self::OldVersion(_) | Self::NewerVersion(_)
        )
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::NoHeader => "no_header",
            Self::UnreadableLines(_) => "unreadable_lines",
            Self::InvalidUtf8(_) => "invalid_utf8",
            Self::TornTail => "torn_tail",
            Self::Orphans(_) => "orphans",
            Self::DuplicateIds(_) => "duplicate_ids",
            Self::Circles(_) => "circles",
            Self::MissingFirstKept(_) => "missing_first_kept",
            Self::MissingMessage(_) => "missing_message",
            Self::MissingLeaf(_) => "missing_leaf",
            Self::ResultsWithoutCall(_) => "results_without_call",
            Self::NoLastLineBreak => "no_last_line_break",
            Self::OldVersion(_) => "old_version",
            Self::NewerVersion(_) => "newer_version",
        }
    }

    /// How many, and where: line numbers or entry ids.
    fn places(&self) -> (u64, Vec<String>) {
        match self {
            Self::UnreadableLines(lines) | Self::InvalidUtf8(lines) => named(lines),
            Self::Orphans(ids)
            | Self::DuplicateIds(ids)
            | Self::Circles(ids)
            | Self::MissingFirstKept(ids)
            | Self::MissingMessage(ids)
            | Self::ResultsWithoutCall(ids) => named(ids),
            Self::MissingLeaf(id) => (1, vec![id.to_string()]),
            _ => (1, Vec::new()),
        }
    }

    pub(crate) fn text(&self, lang: Lang) -> String {
        let (count, places) = self.places();
        let mut at = places
            .iter()
            .map(|place| one_line(place, 40))
            .collect::<Vec<_>>()
            .join(", ");
        if count > places.len() as u64 {
            at.push_str(", …");
        }
        match self {
            Self::Empty => lang.found_empty(),
            Self::NoHeader => lang.found_no_header(),
            Self::UnreadableLines(_) => lang.found_unreadable(count, at),
            Self::InvalidUtf8(_) => lang.found_invalid_utf8(count, at),
            Self::TornTail => lang.found_torn_tail(),
            Self::Orphans(_) => lang.found_orphans(count, at),
            Self::DuplicateIds(_) => lang.found_duplicates(count, at),
            Self::Circles(_) => lang.found_circles(count, at),
            Self::MissingFirstKept(_) => lang.found_missing_first_kept(count, at),
            Self::MissingMessage(_) => lang.found_missing_message(count, at),
            Self::MissingLeaf(_) => lang.found_missing_leaf(at),
            Self::ResultsWithoutCall(_) => lang.found_results_without_call(count, at),
            Self::NoLastLineBreak => lang.found_no_line_break(),
            Self::OldVersion(version) => lang.found_old_version(version),
            Self::NewerVersion(version) => lang.found_newer_version(version),
        }
    }
}

fn named(places: &[impl ToString]) -> (u64, Vec<String>) {
    let shown = places.iter().take(PLACES_MAX).map(ToString::to_string);
    (places.len() as u64, shown.collect())
}

#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) session_id: Option<String>,
    pub(crate) version: Option<u32>,
    pub(crate) entries: u64,
    pub(crate) findings: Vec<Finding>,
}

impl Report {
    pub(crate) fn is_sound(&self) -> bool {
        !self.findings.iter().any(Finding::is_damage)
    }

    pub(crate) fn json_form<'a>(&'a self, name: &'a str) -> impl Serialize + 'a {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Form<'a> {
            session: &'a str,
            session_id: Option<&'a str>,
            version: Option<u32>,
            entries: u64,
            sound: bool,
            findings: Vec<FoundForm>,
        }
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct FoundForm {
            kind: &'static str,
            is_damage: bool,
            count: u64,
            places: Vec<String>,
        }
        let found = self.findings.iter().map(|finding| {
            let (count, places) = finding.places();
            FoundForm {
                kind: finding.kind(),
                is_damage: finding.is_damage(),
                count,
                places,
            }
        });
        Form {
            session: name,
            session_id: self.session_id.as_deref(),
            version: self.version,
            entries: self.entries,
            sound: self.is_sound(),
            findings: found.collect(),
        }
    }
}
