//! Errors of the admin store, as text for the terminal.

use crate::error::{Failure, in_language};
use crate::text::Lang;
use netaclaw_admin::{AdminError, Invalid, ModelChoiceError, Problem, UsedBy};
use netaclaw_engine::EngineError;
use netaclaw_protocol::{NotFound, RecordKind};

pub(crate) fn failure(lang: Lang, error: AdminError) -> Failure {
    let named = |kind: RecordKind, name: &str| format!("{} {name:?}", word(lang, kind));
    match error {
        AdminError::NotFound {
            kind,
            name,
            nearest,
        } => match nearest {
            Some(nearest) => {
                let todo = lang.did_you_mean(nearest);
                Failure::new(named(kind, &name), lang.does_not_exist(), todo)
            }
            None => {
                let command = match kind {
                    RecordKind::McpServer => "mcp",
                    kind => kind.as_str(),
                };
                let todo = lang.see_list_of(command);
                Failure::new(named(kind, &name), lang.does_not_exist(), todo)
            }
        },
        AdminError::Conflict {
            kind,
            name,
            expected,
            current,
        } => {
            let why = lang.changed_meanwhile(expected, current);
            Failure::new(named(kind, &name), why, lang.repeat_change())
        }
        AdminError::Taken { kind, name } => Failure::new(
            named(kind, &name),
            lang.file_exists(),
            lang.choose_other_name(),
        ),
        AdminError::InUse { kind, name, by } => {
            let by: Vec<String> = by.iter().map(|by| user_of(lang, by)).collect();
            let why = lang.in_use_by(by.join(", "));
            Failure::new(named(kind, &name), why, lang.change_users_first())
        }
        AdminError::Invalid(Invalid { field, problem }) => {
            Failure::plain(field, explain(lang, &problem))
        }
        AdminError::Model(error) => Failure::plain(lang.model(), explain_choice(lang, &error)),
        AdminError::Sealed { channel } => Failure::new(
            named(RecordKind::Channel, &channel),
            lang.key_not_opened(),
            lang.restore_secret_key(),
        ),
        AdminError::McpSealed { server } => Failure::new(
            named(RecordKind::McpServer, &server),
            lang.mcp_not_opened(),
            lang.mcp_restore_key(),
        ),
        AdminError::Store { what, source } => Failure::plain(what, source.to_string()),
    }
}

/// The same for a command that sets fields by options: a field that is not valid is named as the
/// option that sets it.
pub(crate) fn option_failure(
    lang: Lang,
    mut error: AdminError,
    options: &[(&str, &str)],
) -> Failure {
    if let AdminError::Invalid(Invalid { field, .. }) = &mut error
        && let Some((_, option)) = options.iter().find(|(known, _)| known == field)
    {
        *field = (*option).to_owned();
    }
    failure(lang, error)
}

/// The same for what went through the engine, which passes on what the store said.
pub(crate) fn engine_failure(lang: Lang, error: EngineError) -> Failure {
    match error {
        EngineError::NotFound(NotFound::NoRecord {
            kind,
            name,
            nearest,
        }) => failure(
            lang,
            AdminError::NotFound {
                kind,
                name,
                nearest,
            },
        ),
        EngineError::Internal(cause) => match cause.downcast::<AdminError>() {
            Ok(error) => failure(lang, *error),
            Err(cause) => Failure::plain(lang.tools_word(), cause.to_string()),
        },
        other => Failure::plain(lang.tools_word(), in_language(lang, other.words())),
    }
}

fn word(lang: Lang, kind: RecordKind) -> String {
    match kind {
        RecordKind::Agent => lang.agent(),
        RecordKind::Channel => lang.channel(),
        RecordKind::DictType => lang.dict_group(),
        RecordKind::DictInfo => lang.dict_entry(),
        RecordKind::Setting => lang.setting(),
        RecordKind::User => lang.user(),
        RecordKind::Token => lang.access_token(),
        RecordKind::Tool => lang.tool(),
        RecordKind::Memory => lang.memory(),
        RecordKind::McpServer => lang.mcp_server(),
        RecordKind::Approval => lang.standing_approval(),
    }
}

fn user_of(lang: Lang, by: &UsedBy) -> String {
    match by {
        UsedBy::Agent { name } => format!("{} {name:?}", lang.agent()),
        UsedBy::DictEntry { group, name } => format!("{} {group}.{name}", lang.dict_entry()),
    }
}

fn explain(lang: Lang, problem: &Problem) -> String {
    in_language(lang, problem.words())
}

pub(crate) fn explain_choice(lang: Lang, error: &ModelChoiceError) -> String {
    in_language(lang, error.words())
}
