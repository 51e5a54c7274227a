//! Agents that cannot run, and models that cannot be used.

use super::field::FieldProblem;
use super::reasons;
use super::skill::SkillProblem;
use crate::{ChannelId, Language};

reasons! {
    /// Why no model is available.
    ModelChoiceError {
        NoChannel => {
            zh("没有可用的渠道；请添加或启用一个"),
            en("no channel is available: add or enable one"),
        }
        ChannelMissing { id: ChannelId, named_by: NamedBy } => {
            zh("{}中的渠道“{id}”不存在；请另选一个渠道", named_by.words().zh),
            en("the channel {id:?} in {named_by} does not exist: choose another one"),
        }
        ChannelDisabled { name: String, named_by: NamedBy } => {
            zh("{}中的渠道“{name}”已停用；请启用它，或另选一个渠道", named_by.words().zh),
            en("the channel {name:?} in {named_by} is disabled: enable it, or choose another one"),
        }
        ChannelWithoutModels { name: String, named_by: NamedBy } => {
            zh("渠道“{name}”没有模型；请为它添加模型，或在{}中指定模型", named_by.words().zh),
            en("the channel {name:?} has no models: add one to it, or specify the model in {named_by}"),
        }
        ChannelWithoutChatModels { name: String, named_by: NamedBy } => {
            zh("渠道“{name}”的模型都不能用于对话；请为它添加对话模型，或在{}中指定模型", named_by.words().zh),
            en("no model of the channel {name:?} can chat: add one that can, or specify the model in {named_by}"),
        }
        ModelUnlisted { name: String, model: String } => {
            zh("渠道“{name}”未列出模型“{model}”；请选择已列出的模型"),
            en("the channel {name:?} does not list the model {model:?}: choose one that it lists"),
        }
    }
}

reasons! {
    /// The setting that contains a channel or a model.
    NamedBy {
        Agent { agent: String } => {
            zh("智能体“{agent}”"),
            en("agent {agent:?}"),
        }
        FallbackOfAgent { agent: String } => {
            zh("智能体“{agent}”的备用渠道"),
            en("the fallback of agent {agent:?}"),
        }
        AuxiliaryOfAgent { agent: String } => {
            zh("智能体“{agent}”的辅助模型"),
            en("the auxiliary model of agent {agent:?}"),
        }
        Dictionary => {
            zh("字典中的辅助模型"),
            en("the dictionary's auxiliary model"),
        }
        Session => {
            zh("会话"),
            en("the session"),
        }
    }
}

reasons! {
    /// What must be corrected before an agent can run.
    NotReady {
        AgentNotValid { field: String, problem: FieldProblem } => {
            zh("智能体的设置有误：{field}：{}", problem.words().zh),
            en("{field}: {problem}"),
        }
        ChannelSealed { channel: String } => {
            zh("渠道“{channel}”的 API 密钥无法解密：保存时用的是另一把密钥，或内容已被改动；请恢复原来的密钥文件，或重新填写 API 密钥"),
            en("the API key of channel {channel:?} cannot be decrypted: it was stored with another secret key, or modified since; restore the secret key it was stored with, or set the API key again"),
        }
        McpSealed { server: String } => {
            zh("MCP 服务器“{server}”的密文无法解密：保存时用的是另一把密钥，或内容已被改动；请恢复原来的密钥文件，或重新填写"),
            en("the secrets of MCP server {server:?} cannot be decrypted: they were stored with another secret key, or modified since; restore the secret key they were stored with, or set the secrets again"),
        }
        SkillNotUsable { name: String, problems: Vec<SkillProblem> } => {
            zh("技能“{name}”无法使用：{}", joined(problems, "；", Language::Chinese)),
            en("The skill `{name}` cannot be used: {}.", joined(problems, "; ", Language::English)),
        }
        SkillMissing { name: String, ready: Vec<String> } => {
            zh("没有技能“{name}”{}", there_are_zh(ready)),
            en("There is no skill `{name}`{}", there_are_en(ready)),
        }
        /// `error` is a kind of error of the operating system, in English, and without a path.
        WorkspaceNotOpened { error: String } => {
            zh("智能体的工作目录无法打开（`{error}`）。请在智能体设置中改正。"),
            en("The workspace of the agent cannot be opened ({error}). Correct it in the settings of the agent."),
        }
        /// It is inside a directory that is hidden from tools.
        WorkspaceHidden => {
            zh("智能体的工作目录位于存放服务器数据或密钥的位置，工具不能在其中工作。请在智能体设置中选择其他目录，或从其他目录启动服务。"),
            en("The workspace of the agent is in a directory that contains data or keys of the server, where tools are not allowed. Choose another workspace in the settings of the agent, or start the server in another directory."),
        }
        /// Nothing is there. The path is for administrators only.
        WorkspaceMissing => {
            zh("智能体的工作区目录不存在。请创建该目录，或在智能体设置中选择其他目录。"),
            en("The workspace of the agent does not exist. Create the directory, or choose another directory in the settings of the agent."),
        }
    }
}

fn joined(problems: &[SkillProblem], separator: &str, language: Language) -> String {
    let texts = problems
        .iter()
        .map(|problem| problem.words().in_language(language));
    texts.collect::<Vec<_>>().join(separator)
}

fn there_are_zh(ready: &[String]) -> String {
    match ready {
        [] => "，也没有其他技能".to_owned(),
        ready => format!("；可用的有：{}", ready.join("、")),
    }
}

fn there_are_en(ready: &[String]) -> String {
    match ready {
        [] => ". No skills are available.".to_owned(),
        ready => format!(". Available skills: {}.", ready.join(", ")),
    }
}
