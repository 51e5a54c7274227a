//! Messages that name a skill, and how their runs start.

use netaclaw_protocol::{ContentBlock, EntryId};
use netaclaw_session::EntryBody;
use serde_json::Value;

/// The `customType` of a message that holds the instructions of a skill the user named.
pub const SKILL_ENTRY: &str = "netaclaw.skill";
/// How a message begins that names a skill.
const COMMAND: &str = "/skill";

/// A message that names a skill: what comes after the name.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillCommand {
    pub name: String,
    pub input: SkillInput,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SkillInput {
    /// For the program, as it is.
    Json(serde_json::Map<String, Value>),
    /// For the model.
    Words,
}

impl SkillCommand {
    pub(crate) fn read(text: &str) -> Option<Self> {
        let rest = text.trim().strip_prefix(COMMAND)?;
        if !rest.starts_with(char::is_whitespace) {
            return None;
        }
        let rest = rest.trim();
        let (name, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let input = match serde_json::from_str(rest.trim()) {
            Ok(Value::Object(input)) => SkillInput::Json(input),
            _ => SkillInput::Words,
        };
        (!name.is_empty()).then(|| Self {
            name: name.to_owned(),
            input,
        })
    }
}

/// How a run begins whose message names a skill.
#[derive(Clone, Debug)]
pub enum SkillOpening {
    /// The instructions, for the model to follow.
    Instructions(EntryBody),
    /// The call, which needs no model.
    Call {
        answer: EntryBody,
        call: ContentBlock,
    },
}

impl SkillOpening {
    /// What the session gets to see before the model.
    pub(crate) fn into_body(self) -> EntryBody {
        match self {
            Self::Instructions(body) | Self::Call { answer: body, .. } => body,
        }
    }
}

/// The call that a message makes which names a skill and its input.
pub fn skill_call_id(message: &EntryId) -> String {
    format!("skill-{message}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_message_names_a_skill_and_maybe_its_input() {
        let read = |text| SkillCommand::read(text).map(|command| (command.name, command.input));
        let input = json!({"path": "."}).as_object().cloned().unwrap();
        for (text, expected) in [
            ("/skill audit", Some(("audit", SkillInput::Words))),
            (
                "  /skill audit of docs please",
                Some(("audit", SkillInput::Words)),
            ),
            (
                "/skill audit {\"path\": \".\"}",
                Some(("audit", SkillInput::Json(input))),
            ),
            ("/skill audit [1]", Some(("audit", SkillInput::Words))),
            ("/skill", None),
            ("/skills audit", None),
            ("use /skill audit", None),
        ] {
            let expected = expected.map(|(name, input)| (name.to_owned(), input));
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
