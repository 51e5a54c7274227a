//! The commands of `/netaclaw`: one table with the name, the type and the answer of each.

use crate::{
    AcceptEdits, ApprovalResponse, Chat, ChatAck, ClarifyResponse, Compact, CompactAck,
    DismissCompaction, Fork, Forked, Nothing, Opened, Ping, QueueEdit, QueueEdited, Rename,
    Renamed, Retried, Retry, RevokeApproval, SessionClose, SessionId, SessionList, SessionOpen,
    SessionsWatch, SetLabel, SetModel, SetThinkingLevel, Stop, Stopped, SwitchLeaf, SwitchLeafAck,
};
use serde::{Deserialize, Deserializer, Serialize};

/// A command of a client.
pub trait Command: Serialize + Sized + Send + Sync + 'static {
    /// The event's name on `/netaclaw`.
    const NAME: &'static str;
    /// The fields of the acknowledgement besides `ok` and `deduped`.
    type Answer: Serialize + Send + 'static;

    /// The session whose commands stay in order with this one.
    fn session_id(&self) -> Option<&SessionId> {
        None
    }

    /// The client's id of the request: the same id with the same content has one effect.
    fn request_id(&self) -> Option<&str> {
        None
    }
}

/// The answer to a command that was executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ack<T> {
    #[serde(flatten)]
    pub answer: T,
    /// An earlier request with the same id was executed, and this one was not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deduped: bool,
}

impl<T> Ack<T> {
    pub fn new(answer: T) -> Self {
        let deduped = false;
        Self { answer, deduped }
    }

    /// The answer to a request that was executed before.
    pub fn deduped(answer: T) -> Self {
        let deduped = true;
        Self { answer, deduped }
    }

    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Ack<U> {
        Ack {
            answer: change(self.answer),
            deduped: self.deduped,
        }
    }
}

/// Calls a macro with the table of all commands: `"name" => Type -> Answer [fields]`, in two groups.
/// The engine executes `session` commands. `connection` commands concern the client's own
/// subscriptions and change no stored data.
#[macro_export]
macro_rules! commands {
    ($with:ident) => {
        $with! {
            session {
                "chat" => Chat -> ChatAck [session_if_known, request],
                "stop" => Stop -> Stopped [session_if_known],
                "set_thinking_level" => SetThinkingLevel -> Nothing [session, request],
                "set_model" => SetModel -> Nothing [session, request],
                // Its `requestId` names the question, not this request.
                "clarify_response" => ClarifyResponse -> Nothing [session],
                "approval_response" => ApprovalResponse -> Nothing [session],
                "accept_edits" => AcceptEdits -> Nothing [session, request],
                "revoke_approval" => RevokeApproval -> Nothing [session, request],
                "compact" => Compact -> CompactAck [session, request],
                "dismiss_compaction" => DismissCompaction -> Nothing [session],
                "switch_leaf" => SwitchLeaf -> SwitchLeafAck [session, request],
                "label" => SetLabel -> Nothing [session, request],
                "rename" => Rename -> Renamed [session, request],
                "retry" => Retry -> Retried [session, request],
                "fork" => Fork -> Forked [session, request],
                "queue_edit" => QueueEdit -> QueueEdited [session, request],
            }
            connection {
                "ping" => Ping -> Nothing [],
                "session_open" => SessionOpen -> Opened [session],
                "session_close" => SessionClose -> Nothing [session],
                "sessions_watch" => SessionsWatch -> SessionList [],
            }
        }
    };
}

macro_rules! field {
    (session) => {
        fn session_id(&self) -> Option<&SessionId> {
            Some(&self.session_id)
        }
    };
    (session_if_known) => {
        fn session_id(&self) -> Option<&SessionId> {
            self.session_id.as_ref()
        }
    };
    (request) => {
        fn request_id(&self) -> Option<&str> {
            self.request_id.as_deref()
        }
    };
}

macro_rules! define {
    ($($group:ident {
        $($name:literal => $command:ident -> $answer:ident [$($field:ident),*],)*
    })*) => {
        $($(
            impl Command for $command {
                const NAME: &'static str = $name;
                type Answer = $answer;
                $(field!($field);)*
            }
        )*)*

        /// A command as it arrives from a client.
        #[derive(Clone, Debug, PartialEq)]
        pub enum ClientCommand {
            $($($command($command),)*)*
        }

        impl ClientCommand {
            /// The names of all commands.
            pub const NAMES: &'static [&'static str] = &[$($($name,)*)*];

            /// Reads the payload of an event; `None` if no command has this name.
            pub fn read<'de, D: Deserializer<'de>>(
                name: &str,
                payload: D,
            ) -> Option<Result<Self, D::Error>> {
                Some(match name {
                    $($($name => $command::deserialize(payload).map(Self::$command),)*)*
                    _ => return None,
                })
            }

            pub fn name(&self) -> &'static str {
                match self {
                    $($(Self::$command(_) => $name,)*)*
                }
            }

            pub fn session_id(&self) -> Option<&SessionId> {
                match self {
                    $($(Self::$command(command) => command.session_id(),)*)*
                }
            }

            /// Whether a read-only credential is sufficient.
            pub fn only_reads(&self) -> bool {
                match self {
                    $($(Self::$command(_) => stringify!($group) == "connection",)*)*
                }
            }
        }
    };
}

commands!(define);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Disposition;
    use serde_json::json;

    #[test]
    fn every_command_is_read_by_its_name() {
        let payload = json!({
            "sessionId": "s", "entryId": "e", "content": "hi", "level": "high", "title": "t",
            "channelId": "c", "modelId": "m", "requestId": "r", "answer": "yes", "leafEntryId": null,
            "approvalId": "a", "decision": "allow", "action": "resume", "enabled": true,
        });
        for name in ClientCommand::NAMES {
            let read = ClientCommand::read(name, &payload).unwrap();
            assert_eq!(read.unwrap().name(), *name);
        }
        assert!(ClientCommand::read("dance", &payload).is_none());
    }

    #[test]
    fn an_acknowledgement_is_flat_and_says_only_if_it_repeats() {
        let answer = ChatAck {
            session_id: "s".into(),
            entry_id: None,
            run_id: None,
            item_id: None,
            disposition: Disposition::Started,
            compaction: None,
            feed: None,
        };
        let flat = json!({"sessionId": "s", "disposition": "started"});
        assert_eq!(json!(Ack::new(answer)), flat);
        assert_eq!(json!(Ack::deduped(Nothing {})), json!({"deduped": true}));
    }
}
