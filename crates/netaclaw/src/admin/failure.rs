//! What the admin store refused, in the words of the person in front of the terminal.

use crate::error::Failure;
use crate::text::Lang;
use netaclaw_admin::{AdminError, Invalid, ModelChoiceError, Problem, UsedBy};
use netaclaw_engine::EngineError;
use netaclaw_protocol::RecordKind;

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
                let todo = lang.see_list_of(kind.as_str());
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

/// The same for what went through the engine, which passes on what the store said.
pub(crate) fn engine_failure(lang: Lang, error: EngineError) -> Failure {
    match error {
        EngineError::Internal(cause) => match cause.downcast::<AdminError>() {
            Ok(error) => failure(lang, *error),
            Err(cause) => Failure::plain(lang.tools_word(), cause.to_string()),
        },
        other => Failure::plain(lang.tools_word(), other.to_string()),
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
    }
}

fn user_of(lang: Lang, by: &UsedBy) -> String {
    match by {
        UsedBy::Agent { name } => format!("{} {name:?}", lang.agent()),
        UsedBy::DictEntry { group, name } => format!("{} {group}.{name}", lang.dict_entry()),
    }
}

fn explain(lang: Lang, problem: &Problem) -> String {
    if lang == Lang::En {
        return problem.to_string();
    }
    match problem {
        Problem::Empty => "不能为空".to_owned(),
        Problem::TooLong { chars_max } => format!("不能超过 {chars_max} 个字符"),
        Problem::TooShort { chars_min } => format!("至少要有 {chars_min} 个字符"),
        Problem::NotAName => {
            "首尾须为字母或数字，中间只能有字母、数字、空格、“.”、“_”和“-”".to_owned()
        }
        Problem::OutOfRange { min, max } => format!("须在 {min} 到 {max} 之间"),
        Problem::Twice(value) => format!("{value:?} 出现了两次"),
        Problem::OnAndOff(tool) => format!("{tool:?} 既启用又停用"),
        Problem::NoSuchChannel(id) => format!("没有渠道 {id:?}"),
        Problem::NoSuchUser(id) => format!("没有用户 {id:?}"),
        Problem::NoSuchAgent(id) => format!("没有智能体 {id:?}"),
        Problem::NotAnAddress => "须为以 http:// 或 https:// 开头的地址".to_owned(),
        Problem::SecretInAddress => "不能含有用户名或密码；请用 API 密钥".to_owned(),
        Problem::AddressNeeded => "该供应商没有固定地址，请给出地址".to_owned(),
        Problem::NotAbsolute => "须为绝对路径".to_owned(),
        Problem::NoSuchField { nearest: None } => "没有这个字段".to_owned(),
        Problem::NoSuchField {
            nearest: Some(name),
        } => format!("没有这个字段；是否指 {name:?}？"),
        Problem::Unreadable(error) => format!("无法读取：{error}"),
        Problem::DefaultNeeded => "必须有一个默认智能体；请把另一个设为默认".to_owned(),
        Problem::LastAdmin => "至少要保留一个管理员".to_owned(),
        Problem::InThePast => "须在将来".to_owned(),
        Problem::NotAVariable => {
            "名称只能有字母、数字、“_”和“-”，且不能以 LD_、DYLD_ 或 NETACLAW_ 开头".to_owned()
        }
        Problem::NotOneLine => "只能有一行".to_owned(),
        Problem::NothingToKeep => "还没有值，请给出".to_owned(),
        Problem::TooMany { max } => format!("已有 {max} 条；请先删除一些"),
    }
}

pub(crate) fn explain_choice(lang: Lang, error: &ModelChoiceError) -> String {
    if lang == Lang::En {
        return error.to_string();
    }
    match error {
        ModelChoiceError::NoChannel => "没有可用的渠道；请添加或启用一个".to_owned(),
        ModelChoiceError::ChannelMissing { id, .. } => {
            format!("渠道 {:?} 不存在；请另选一个", id.as_str())
        }
        ModelChoiceError::ChannelDisabled { name, .. } => {
            format!("渠道 {name:?} 已停用；请启用或另选一个")
        }
        ModelChoiceError::NoModel { name, .. } => {
            format!("渠道 {name:?} 没有模型；请为它添加模型，或指定模型")
        }
    }
}
