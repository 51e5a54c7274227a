//! What was refused, for people in both languages. The English words are those of the error itself.

use crate::error::{AdminError, Problem, UsedBy};
use crate::resolve::ModelChoiceError;
use netaclaw_protocol::{RecordKind, Words};

impl AdminError {
    pub fn words(&self) -> Words {
        let zh = match self {
            Self::NotFound {
                kind,
                name,
                nearest,
            } => {
                let nearest = nearest.as_ref();
                let meant =
                    nearest.map_or_else(String::new, |name| format!("；您要找的是“{name}”吗？"));
                format!("没有{}“{name}”{meant}", kind_zh(*kind))
            }
            Self::Conflict {
                kind,
                name,
                expected,
                current,
            } => format!(
                "{}“{name}”已在别处修改，从版本 {expected} 变为 {current}；请刷新后重新修改",
                kind_zh(*kind)
            ),
            Self::Taken { kind, name } => {
                format!("{}“{name}”已存在；请换一个名称", kind_zh(*kind))
            }
            Self::InUse { kind, name, by } => {
                let by: Vec<String> = by.iter().map(used_by_zh).collect();
                format!("{}“{name}”正被使用：{}", kind_zh(*kind), by.join("、"))
            }
            Self::Invalid(invalid) => format!("{}：{}", invalid.field, invalid.problem.zh()),
            Self::Model(error) => error.zh(),
            Self::Sealed { channel } => format!(
                "渠道“{channel}”的 API \
                 密钥无法解密：保存时用的是另一个主密钥，或之后被改动；请恢复原来的主密钥，或重新设置 \
                 API 密钥"
            ),
            Self::McpSealed { server } => format!(
                "MCP \
                 服务器“{server}”的密钥无法解密：保存时用的是另一个主密钥，或之后被改动；请恢复原来的主密钥，或重新设置密钥"
            ),
            Self::Store { .. } => "服务器内部出错，已记入日志".to_owned(),
        };
        Words::new(zh, self.to_string())
    }
}

fn kind_zh(kind: RecordKind) -> &'static str {
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
    }
}

fn used_by_zh(by: &UsedBy) -> String {
    match by {
        UsedBy::Agent { name } => format!("智能体“{name}”"),
        UsedBy::DictEntry { group, name } => format!("字典项 {group}.{name}"),
    }
}

impl Problem {
    /// In Chinese.
    pub fn zh(&self) -> String {
        match self {
            Self::Empty => "不能为空".to_owned(),
            Self::TooLong { chars_max } => format!("不能超过 {chars_max} 个字符"),
            Self::TooShort { chars_min } => format!("至少要有 {chars_min} 个字符"),
            Self::NotAName => {
                "首尾须为字母或数字，中间只能有字母、数字、空格、“.”、“_”和“-”".to_owned()
            }
            Self::OutOfRange { min, max } => format!("须在 {min} 到 {max} 之间"),
            Self::Twice(value) => format!("{value:?} 重复"),
            Self::OnAndOff(tool) => format!("{tool:?} 既启用又停用"),
            Self::NoSuchChannel(id) => format!("没有渠道 {id:?}"),
            Self::NoSuchUser(id) => format!("没有用户 {id:?}"),
            Self::NoSuchAgent(id) => format!("没有智能体 {id:?}"),
            Self::NotAnAddress => "须为以 http:// 或 https:// 开头的地址".to_owned(),
            Self::SecretInAddress => "不能包含用户名或密码；请改用 API 密钥".to_owned(),
            Self::AddressNeeded => "该供应商没有默认地址，请填写地址".to_owned(),
            Self::NotAbsolute => "须为绝对路径".to_owned(),
            Self::NotAHost(rule) => format!(
                "{rule:?} 不是主机；请写成 example.com、*.example.com 或 http://example.com:8080"
            ),
            Self::AtDataDirectory => {
                "不能包含服务器的数据目录，也不能位于其中，因为密钥和所有用户的会话都保存在那里；\
                 请选择其他目录"
                    .to_owned()
            }
            Self::NoSuchField { nearest: None } => "没有此字段".to_owned(),
            Self::NoSuchField {
                nearest: Some(name),
            } => format!("没有此字段；您要找的是 {name:?} 吗？"),
            Self::Unreadable(error) => format!("无法读取：{error}"),
            Self::DefaultNeeded => "必须有一个默认智能体；请把另一个设为默认".to_owned(),
            Self::LastAdmin => "至少要保留一个管理员".to_owned(),
            Self::InThePast => "须在将来".to_owned(),
            Self::NotAVariable => {
                "名称只能有字母、数字、“_”和“-”，且不能以 LD_、DYLD_ 或 NETACLAW_ 开头".to_owned()
            }
            Self::NotOneLine => "只能有一行".to_owned(),
            Self::NothingToKeep => "还没有值，请填写".to_owned(),
            Self::TooManyPending { max } => {
                format!("已有 {max} 条记忆等待确认；请先确认或丢弃一些")
            }
            Self::TooMany { max } => format!("已有 {max} 条；请先删除一些"),
        }
    }
}

impl ModelChoiceError {
    /// In Chinese.
    pub fn zh(&self) -> String {
        match self {
            Self::NoChannel => "没有可用的渠道；请添加或启用一个".to_owned(),
            Self::ChannelMissing { id, .. } => {
                format!("渠道 {:?} 不存在；请另选一个", id.as_str())
            }
            Self::ChannelDisabled { name, .. } => {
                format!("渠道 {name:?} 已停用；请启用或另选一个")
            }
            Self::NoModel { name, .. } => {
                format!("渠道 {name:?} 没有模型；请为它添加模型，或指定模型")
            }
            Self::ModelUnlisted { name, model } => {
                format!("渠道 {name:?} 未列出模型 {model:?}；请选择已列出的模型")
            }
        }
    }
}
