//! The first line of a session file.

use crate::json;
use bytestring::ByteString;
use netaclaw_protocol::SessionId;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::ops::Range;

/// The version NetaClaw writes; files of version 1 and 2 are read as well.
pub const FORMAT_VERSION: u32 = 3;

/// A session's header, kept as the text it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    raw: ByteString,
    id: SessionId,
    /// The positions of the members that callers read: every access to a session does, and the text
    /// is parsed once.
    places: [Option<Range<usize>>; NAMES.len()],
}

/// The members that callers read, by their position in [`NAMES`].
#[derive(Clone, Copy)]
enum Member {
    Version,
    Timestamp,
    Cwd,
    ParentSession,
    ParentSessionId,
    AgentId,
    UserId,
    Metadata,
}

const NAMES: [&str; 8] = [
    "version",
    "timestamp",
    "cwd",
    "parentSession",
    "parentSessionId",
    "agentId",
    "userId",
    "metadata",
];

impl Header {
    /// Reads a header line; `None` unless it is an object of type `session` with a text id.
    pub fn parse(raw: impl Into<ByteString>) -> Option<Self> {
        let raw = raw.into();
        let [kind, id] = json::pick(&raw, ["type", "id"]);
        if json::string(kind?)? != "session" {
            return None;
        }
        let id = SessionId::new(json::string(id?)?);
        Some(Self::new(raw, id))
    }

    fn new(raw: ByteString, id: SessionId) -> Self {
        let places = json::pick(&raw, NAMES);
        let places = places.map(|found| found.map(|value| json::range_within(&raw, value)));
        Self { raw, id, places }
    }

    pub fn id(&self) -> &SessionId {
        &self.id
    }

    pub fn json(&self) -> &str {
        &self.raw
    }

    /// The declared version; a header without one is of version 1. A version that is not a number
    /// of the kind known here counts as newer than all of them.
    pub fn version(&self) -> u32 {
        match self.member(Member::Version) {
            None | Some("null") => 1,
            Some(version) => version.parse().unwrap_or(u32::MAX),
        }
    }

    pub fn timestamp(&self) -> Cow<'_, str> {
        self.text(Member::Timestamp).unwrap_or_default()
    }

    pub fn cwd(&self) -> Option<Cow<'_, str>> {
        self.text(Member::Cwd)
    }

    /// Path of the file this session was forked from.
    pub fn parent_session(&self) -> Option<Cow<'_, str>> {
        self.text(Member::ParentSession)
    }

    pub fn parent_session_id(&self) -> Option<SessionId> {
        self.text(Member::ParentSessionId).map(SessionId::new)
    }

    pub fn agent_id(&self) -> Option<Cow<'_, str>> {
        self.text(Member::AgentId)
    }

    pub fn user_id(&self) -> Option<Cow<'_, str>> {
        self.text(Member::UserId)
    }

    pub fn metadata(&self) -> Map<String, Value> {
        self.member(Member::Metadata)
            .and_then(|m| serde_json::from_str(m).ok())
            .unwrap_or_default()
    }

    /// The same header at the version NetaClaw writes; unknown fields stay.
    pub(crate) fn upgraded(&self) -> Self {
        let raw = json::with_member(&self.raw, "version", Some(&FORMAT_VERSION.to_string()));
        Self::new(raw.into(), self.id.clone())
    }

    /// The same header for a copy under another id.
    pub fn renamed(&self, id: &SessionId) -> Self {
        let quoted = Value::from(id.as_str()).to_string();
        let raw = json::with_member(&self.raw, "id", Some(&quoted));
        Self::new(raw.into(), id.clone())
    }

    /// The same header for a reader on another machine: without the paths of this one. Pi then
    /// works where it is started.
    pub fn without_paths(&self) -> Self {
        let raw = ["cwd", "parentSession"]
            .iter()
            .fold(self.raw.to_string(), |raw, name| {
                json::with_member(&raw, name, None)
            });
        Self::new(raw.into(), self.id.clone())
    }

    fn text(&self, member: Member) -> Option<Cow<'_, str>> {
        self.member(member).and_then(json::string)
    }

    fn member(&self, member: Member) -> Option<&str> {
        let place = self.places[member as usize].clone()?;
        self.raw.get(place)
    }
}

impl Serialize for Header {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.raw).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// What a new header says. Pi reads the first six fields and keeps the rest.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewHeader<'a> {
    pub id: &'a SessionId,
    pub timestamp: &'a str,
    pub cwd: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_session_id: Option<&'a SessionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// Makes a header in the form Pi writes.
pub fn encode_header(new: &NewHeader<'_>) -> Header {
    #[derive(Serialize)]
    struct Line<'a> {
        r#type: &'static str,
        version: u32,
        #[serde(flatten)]
        new: &'a NewHeader<'a>,
    }
    let line = Line {
        r#type: "session",
        version: FORMAT_VERSION,
        new,
    };
    let raw = serde_json::to_string(&line).expect("a header is plain data");
    Header::new(raw.into(), new.id.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_header_is_what_pi_writes() {
        let id = SessionId::new("s1");
        let header = encode_header(&NewHeader {
            id: &id,
            timestamp: "2026-01-01T00:00:00.000Z",
            cwd: "/srv/app",
            parent_session: None,
            parent_session_id: None,
            agent_id: None,
            user_id: None,
            metadata: Map::new(),
        });
        assert_eq!(
            header.json(),
            r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/srv/app"}"#
        );
        assert_eq!(Header::parse(header.json().to_owned()), Some(header));
    }

    #[test]
    fn every_member_is_found_by_its_name() {
        let raw = r#"{"type":"session","userId":"u","cwd":"old","agentId":"a","version":2,"id":"s",
            "metadata":{"version":9,"cwd":"inner"},"parentSessionId":"p","parentSession":"f",
            "timestamp":"T","cwd":"new\u0021"}"#;
        let header = Header::parse(raw).unwrap();
        assert_eq!(header.version(), 2);
        assert_eq!(header.timestamp(), "T");
        assert_eq!(header.cwd().as_deref(), Some("new!"), "the last one counts");
        assert_eq!(header.parent_session().as_deref(), Some("f"));
        assert_eq!(header.parent_session_id(), Some(SessionId::new("p")));
        assert_eq!(header.agent_id().as_deref(), Some("a"));
        assert_eq!(header.user_id().as_deref(), Some("u"));
        assert_eq!(header.metadata()["cwd"], "inner");
        let renamed = header.renamed(&SessionId::new("a much longer id"));
        assert_eq!(renamed.cwd(), header.cwd());
        let bare = Header::parse(r#"{"type":"session","id":"s"}"#).unwrap();
        assert!(bare.cwd().is_none() && bare.timestamp().is_empty() && bare.metadata().is_empty());
    }

    #[test]
    fn upgrading_keeps_what_an_old_header_carried() {
        let old = Header::parse(r#"{"type":"session","id":"s","provider":"x"}"#).unwrap();
        assert_eq!(old.version(), 1);
        let odd = Header::parse(r#"{"type":"session","id":"s","version":"4-beta"}"#).unwrap();
        assert_eq!(odd.version(), u32::MAX);
        assert_eq!(
            old.upgraded().json(),
            r#"{"type":"session","id":"s","provider":"x","version":3}"#
        );
    }
}
