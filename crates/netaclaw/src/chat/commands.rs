//! The commands of the chat: one table for reading them, for `/help` and for their completion.

use crate::text::Lang;
use netaclaw_admin::nearest;

/// What a command takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    None,
    Words,
    Agent,
    Model,
    Session,
    Skill,
    Level,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Help,
    Compact,
    Model,
    Thinking,
    Agent,
    Tree,
    Branch,
    Sessions,
    New,
    Queue,
    Stop,
    Edits,
    Approvals,
    Skill,
    Exit,
}

#[derive(Debug)]
pub(super) struct Command {
    pub(super) name: &'static str,
    pub(super) verb: Verb,
    pub(super) argument: Argument,
    /// As it is written in the help: what follows the name, and what the command does.
    english: (&'static str, &'static str),
    chinese: (&'static str, &'static str),
}

const fn command(
    name: &'static str,
    verb: Verb,
    argument: Argument,
    english: (&'static str, &'static str),
    chinese: (&'static str, &'static str),
) -> Command {
    Command {
        name,
        verb,
        argument,
        english,
        chinese,
    }
}

pub(super) const COMMANDS: &[Command] = &[
    command(
        "/help",
        Verb::Help,
        Argument::None,
        ("", "list the commands"),
        ("", "列出命令"),
    ),
    command(
        "/model",
        Verb::Model,
        Argument::Model,
        (" [NAME]", "list the models, or use another one"),
        (" [名称]", "列出模型，或改用其他模型"),
    ),
    command(
        "/thinking",
        Verb::Thinking,
        Argument::Level,
        (" [LEVEL]", "show or set the thinking level"),
        (" [强度]", "查看或设置思考强度"),
    ),
    command(
        "/agent",
        Verb::Agent,
        Argument::Agent,
        (
            " [NAME]",
            "list the agents, or let another one answer from the next message on",
        ),
        (" [名称]", "列出智能体，或从下一条消息起由其他智能体回答"),
    ),
    command(
        "/sessions",
        Verb::Sessions,
        Argument::Session,
        (" [ID]", "list the latest sessions, or open one"),
        (" [编号]", "列出最近的会话，或打开其中一个"),
    ),
    command(
        "/new",
        Verb::New,
        Argument::None,
        ("", "start a new session"),
        ("", "开始新会话"),
    ),
    command(
        "/tree",
        Verb::Tree,
        Argument::None,
        ("", "show the session tree"),
        ("", "显示会话树"),
    ),
    command(
        "/branch",
        Verb::Branch,
        Argument::Words,
        (" ENTRY", "continue from an earlier entry"),
        (" 条目", "从较早的条目继续"),
    ),
    command(
        "/compact",
        Verb::Compact,
        Argument::Words,
        (
            " [FOCUS]",
            "compact the context; the summary keeps to FOCUS",
        ),
        (" [主题]", "压缩上下文，摘要侧重所给主题"),
    ),
    command(
        "/queue",
        Verb::Queue,
        Argument::Words,
        (
            " [drop N|resume]",
            "show the queue, drop a message, or resume",
        ),
        (" [drop N|resume]", "查看队列，移除一条消息，或继续"),
    ),
    command(
        "/stop",
        Verb::Stop,
        Argument::None,
        ("", "stop the run (or Ctrl-C)"),
        ("", "停止运行（或按 Ctrl-C）"),
    ),
    command(
        "/edits",
        Verb::Edits,
        Argument::None,
        (
            "",
            "accept all edits in the workspace for this session, or end that",
        ),
        ("", "本会话内允许修改工作区的文件，再次输入则结束"),
    ),
    command(
        "/approvals",
        Verb::Approvals,
        Argument::Words,
        (
            " [revoke N]",
            "list the standing approvals of this session, or revoke one",
        ),
        (" [revoke N]", "列出此会话的长期审批，或吊销其中一个"),
    ),
    command(
        "/skill",
        Verb::Skill,
        Argument::Skill,
        (" NAME", "run a skill; its input follows the name as JSON"),
        (" 名称", "运行技能，名称后可写 JSON 输入"),
    ),
    command(
        "/exit",
        Verb::Exit,
        Argument::None,
        ("", "leave (also /quit or Ctrl-D)"),
        ("", "退出（也可用 /quit 或 Ctrl-D）"),
    ),
];

/// Another name for `/exit`.
const QUIT: &str = "/quit";

impl Command {
    pub(super) fn usage(&self, lang: Lang) -> String {
        format!("{}{}", self.name, self.words(lang).0)
    }

    pub(super) fn hint(&self, lang: Lang) -> String {
        self.words(lang).1.to_owned()
    }

    fn words(&self, lang: Lang) -> (&'static str, &'static str) {
        match lang {
            Lang::En => self.english,
            Lang::Zh => self.chinese,
        }
    }
}

/// The command of this name. The case of letters does not matter.
pub(super) fn find_command(name: &str) -> Option<&'static Command> {
    let name = name.to_lowercase();
    let name = match name.as_str() {
        QUIT => "/exit",
        name => name,
    };
    COMMANDS.iter().find(|command| command.name == name)
}

/// The command that may have been meant.
pub(super) fn nearest_command(name: &str) -> Option<&'static str> {
    let names = COMMANDS.iter().map(|command| command.name);
    nearest(name, names.chain([QUIT]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_in_any_case_and_mistakes_have_suggestions() {
        assert_eq!(find_command("/Compact").unwrap().verb, Verb::Compact);
        assert_eq!(find_command("/QUIT").unwrap().verb, Verb::Exit);
        assert!(find_command("/compacts").is_none());
        assert_eq!(nearest_command("/modle"), Some("/model"));
        assert_eq!(nearest_command("/etc/hosts"), None);
    }
}
