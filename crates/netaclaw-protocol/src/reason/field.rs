//! What can be wrong with a value, and what it is called.

use super::reasons;
use crate::RecordKind;
use serde::{Deserialize, Serialize};

reasons! {
    /// What is wrong with the value of a field.
    FieldProblem {
        Empty => {
            zh("不能为空"),
            en("must not be empty"),
        }
        TooLong { chars_max: usize } => {
            zh("不能超过 {chars_max} 个字符"),
            en("must not be longer than {chars_max} characters"),
        }
        TooShort { chars_min: usize } => {
            zh("至少要有 {chars_min} 个字符"),
            en("must have at least {chars_min} characters"),
        }
        /// Names are letters, digits, and `.`, `_`, `-` or a space between them.
        NotAName => {
            zh("首尾须为字母或数字，中间只能有字母、数字、空格、“.”、“_”和“-”"),
            en("must start and end with a letter or digit, with only letters, digits, spaces, '.', '_' and '-' in between"),
        }
        OutOfRange { min: i64, max: i64 } => {
            zh("须在 {min} 到 {max} 之间"),
            en("must be from {min} to {max}"),
        }
        /// The same thing twice in a list.
        Twice { value: String } => {
            zh("{value:?} 出现了两次"),
            en("contains {value:?} twice"),
        }
        /// A tool that is both enabled and disabled.
        OnAndOff { tool: String } => {
            zh("{tool:?} 既启用又停用"),
            en("{tool:?} is both enabled and disabled"),
        }
        NoSuchChannel { id: String } => {
            zh("没有渠道 {id:?}"),
            en("there is no channel {id:?}"),
        }
        NoSuchUser { id: String } => {
            zh("没有用户 {id:?}"),
            en("there is no user {id:?}"),
        }
        NoSuchAgent { id: String } => {
            zh("没有智能体 {id:?}"),
            en("there is no agent {id:?}"),
        }
        NotAnAddress => {
            zh("须为以 http:// 或 https:// 开头的地址"),
            en("must be an address that starts with http:// or https://"),
        }
        /// An address must not contain a user and password: it is shown to users.
        SecretInAddress => {
            zh("不能含有用户名或密码；请用 API 密钥"),
            en("must not contain a user or password; use the API key instead"),
        }
        /// The supplier has no address of its own.
        AddressNeeded => {
            zh("此供应商没有默认地址，请填写"),
            en("this supplier has no default address; specify one"),
        }
        NotAbsolute => {
            zh("须为绝对路径"),
            en("must be an absolute path"),
        }
        /// A line of an agent's allowed hosts that does not name a host.
        NotAHost { rule: String } => {
            zh("{rule:?} 不是主机；请写成 example.com、*.example.com 或 http://example.com:8080"),
            en("{rule:?} is not a host; use the form example.com, *.example.com or http://example.com:8080"),
        }
        /// Keys and the sessions of all users are kept in the data directory.
        AtDataDirectory => {
            zh("不能包含服务器的数据目录，也不能位于其中，因为密钥和所有用户的会话都保存在那里；请选择其他目录"),
            en("must not contain the data directory of the server or be inside it, because keys and the sessions of all users are stored there; choose another directory"),
        }
        NoSuchField { nearest: Option<String> } => {
            zh("没有这个字段{}", meant_zh(nearest)),
            en("there is no such field{}", meant_en(nearest)),
        }
        /// `detail` is the parser's own text, in English.
        Unreadable { detail: String } => {
            zh("无法读取：`{detail}`"),
            en("{detail}"),
        }
        /// The default agent stays the default until another one is.
        DefaultNeeded => {
            zh("必须有一个默认智能体；请把另一个设为默认"),
            en("one agent must be the default; make another agent the default instead"),
        }
        /// An administrator is needed to configure the server.
        LastAdmin => {
            zh("至少要保留一个管理员"),
            en("at least one administrator must remain"),
        }
        InThePast => {
            zh("须在将来"),
            en("must be in the future"),
        }
        /// Environment and headers: letters, digits, `_` and `-`, and no variable that controls how
        /// programs are loaded.
        NotAVariable => {
            zh("名称只能有字母、数字、“_”和“-”，且不能以 LD_、DYLD_ 或 NETACLAW_ 开头"),
            en("must consist of letters, digits, '_' and '-', and must not start with LD_, DYLD_ or NETACLAW_"),
        }
        NotOneLine => {
            zh("只能有一行"),
            en("must be a single line"),
        }
        /// A secret that was to stay as it is, and is not there.
        NothingToKeep => {
            zh("尚未设置，请填写"),
            en("has no value yet; enter one"),
        }
        /// There is no room for another one.
        TooMany { max: usize } => {
            zh("已有 {max} 条；请先删除一些"),
            en("there are already {max}; delete some first"),
        }
        /// Too many wait for the user already.
        TooManyPending { max: usize } => {
            zh("已有 {max} 条记忆等待确认；请先确认或丢弃一些"),
            en("{max} facts already wait for the user's confirmation; confirm or discard some first"),
        }
        /// A directory of an agent. Only administrators configure agents, so the path is named.
        DirectoryMissing { path: String } => {
            zh("服务器上没有目录“{path}”；请先创建它，或选择其他目录"),
            en("the directory \"{path}\" does not exist on the server; create it, or choose another directory"),
        }
        NotADirectory { path: String } => {
            zh("“{path}”不是目录；请选择一个目录"),
            en("\"{path}\" is not a directory; choose a directory"),
        }
    }
}

reasons! {
    /// What refers to a record, which therefore cannot be deleted.
    UsedBy {
        Agent { name: String } => {
            zh("智能体“{name}”"),
            en("agent {name:?}"),
        }
        DictEntry { group: String, name: String } => {
            zh("字典项 {group}.{name}"),
            en("the dictionary entry {group}.{name}"),
        }
    }
}

/// A text that may have so many characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum LimitedText {
    Title,
    Label,
    RequestId,
}

impl LimitedText {
    pub(super) fn zh(self) -> &'static str {
        match self {
            Self::Title => "标题",
            Self::Label => "标签",
            Self::RequestId => "请求标识",
        }
    }

    pub(super) fn en(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Label => "label",
            Self::RequestId => "request id",
        }
    }
}

pub(super) fn kind_zh(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Agent => "智能体",
        RecordKind::Channel => "渠道",
        RecordKind::DictType => "字典分组",
        RecordKind::DictInfo => "字典项",
        RecordKind::Setting => "设置",
        RecordKind::User => "用户",
        RecordKind::Token => "访问令牌",
        RecordKind::Tool => "工具",
        RecordKind::Memory => "记忆",
        RecordKind::McpServer => "MCP 服务器",
        RecordKind::Approval => "长期审批",
    }
}

pub(super) fn meant_zh(nearest: &Option<String>) -> String {
    let name = nearest.as_ref();
    name.map_or_else(String::new, |name| format!("；是否指“{name}”？"))
}

pub(super) fn meant_en(nearest: &Option<String>) -> String {
    let name = nearest.as_ref();
    name.map_or_else(String::new, |name| format!("; did you mean {name:?}?"))
}

pub(super) fn users_zh(by: &[UsedBy]) -> String {
    let by: Vec<String> = by.iter().map(|by| by.words().zh).collect();
    by.join("、")
}

pub(super) fn users_en(by: &[UsedBy]) -> String {
    let by: Vec<String> = by.iter().map(UsedBy::to_string).collect();
    by.join(", ")
}
