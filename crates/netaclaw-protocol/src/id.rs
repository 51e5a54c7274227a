//! Ids as newtypes, so that a session id can never be passed for an entry id.

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use std::fmt;
use utoipa::ToSchema;

macro_rules! string_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "string"))]
        #[serde(transparent)]
        #[schema(value_type = String)]
        pub struct $name(SmolStr);

        impl $name {
            pub fn new(id: impl AsRef<str>) -> Self {
                Self(SmolStr::new(id))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", self.as_str())
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self::new(id)
            }
        }
    };
}

string_id! {
    /// Names an MCP server.
    McpServerId
}

string_id! {
    /// Names a session. NetaClaw makes UUID v7; files of other programs may carry any text,
    /// so check [`SessionId::is_safe`] before a file name is made from one.
    SessionId
}

string_id! {
    /// Names an entry within its session. Eight hex digits when NetaClaw makes it; ids of other
    /// lengths come from older or foreign files and are accepted.
    EntryId
}

string_id! {
    /// Names one run of an agent.
    RunId
}

string_id! {
    AgentId
}

string_id! {
    MemoryId
}

string_id! {
    ChannelId
}

string_id! {
    UserId
}

string_id! {
    TokenId
}

string_id! {
    DictTypeId
}

string_id! {
    DictInfoId
}

impl SessionId {
    /// Whether the id can stand in a file name or a URL as it is: letters and digits at both
    /// ends, and only letters, digits, `.`, `_`, `-` between.
    pub fn is_safe(&self) -> bool {
        let bytes = self.as_str().as_bytes();
        let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
            return false;
        };
        bytes.len() <= 128
            && first.is_ascii_alphanumeric()
            && last.is_ascii_alphanumeric()
            && bytes
                .iter()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_could_leave_a_directory_are_not_safe() {
        for good in ["a", "0195f2d1-7c1a-7b3e-8f00-1234567890ab", "my_session.v2"] {
            assert!(SessionId::new(good).is_safe(), "{good}");
        }
        for bad in [
            "", ".", "..", "../x", "a/b", "a\\b", "-a", "a.", "é", "a b", "a\0b",
        ] {
            assert!(!SessionId::new(bad).is_safe(), "{bad}");
        }
        assert!(!SessionId::new("a".repeat(129)).is_safe());
    }
}
