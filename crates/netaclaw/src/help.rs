//! The help in Chinese. The English one is next to the arguments.

use clap::{Arg, ArgAction, Command};

const PROGRAM: &str = "自托管的智能体引擎";

/// Commands by their name, or by the command above and name where one name means two things.
const COMMANDS: &[(&str, &str)] = &[
    ("session", "查看、导出、导入和复制会话"),
    ("list", "列出会话，最新的在前"),
    ("show", "显示会话及其当前路径"),
    ("tree", "把整个会话画成树"),
    ("context", "显示模型会看到的内容"),
    ("compact", "压缩会话的上下文，或显示将会如何压缩"),
    ("export", "把会话写成 JSON 行、Markdown 或网页"),
    ("import", "把 Pi 或 NetaClaw 的会话文件收入存储"),
    ("copy", "在文件和 MySQL 之间复制会话"),
    ("delete", "删除会话，一段时间内可恢复"),
    ("undelete", "恢复已删除的会话"),
    ("verify", "检查损坏，不作任何更改"),
    ("channel", "设置通往模型的渠道"),
    ("add", "添加渠道，或修改同名渠道"),
    ("channel list", "列出渠道"),
    ("test", "询问供应商，检查渠道是否可用"),
    ("remove", "删除没有被使用的渠道"),
    ("mcp", "设置 MCP 服务器，供智能体使用其工具"),
    ("mcp add", "添加 MCP 服务器，或修改同名服务器"),
    ("mcp list", "列出 MCP 服务器"),
    ("mcp test", "连接 MCP 服务器并列出其工具"),
    ("mcp enable", "重新使用 MCP 服务器"),
    ("mcp disable", "保留 MCP 服务器，但暂不使用"),
    ("mcp remove", "删除 MCP 服务器"),
    ("mcp serve", "作为 MCP 服务器，向其他程序提供智能体的工具"),
    ("skill", "编写、检查和运行技能"),
    ("skill list", "列出智能体找到的技能，以及为何有些不能使用"),
    ("new", "新建一个可运行的示例技能"),
    ("check", "检查技能文件夹，并说明要改正什么"),
    ("run", "运行技能并显示进度"),
    ("serve", "启动服务（不带命令时的默认行为）"),
    ("link", "打印让浏览器以首位管理员身份登录的链接"),
    ("chat", "在终端中与智能体对话"),
    ("agent", "查看和修改智能体"),
    ("agent list", "列出智能体"),
    ("agent show", "显示智能体"),
    ("tool", "查看工具，并为所有人启用或停用"),
    ("tool list", "列出工具"),
    ("tool show", "显示工具，以及哪些智能体拥有它或为何没有"),
    ("enable", "为所有人启用工具"),
    ("disable", "为所有人停用工具，任何智能体都不能再启用"),
    ("reset", "恢复工具的默认状态，由智能体决定"),
    ("backup", "备份数据目录，服务运行时也可以"),
    ("restore", "校验备份，并写入空的数据目录"),
    ("doctor", "检查服务所需的一切，并说明如何处理"),
    ("edit", "修改智能体：逐个字段，或在编辑器中"),
];

/// Arguments by their name, or by command and name where one name means two things.
const ARGUMENTS: &[(&str, &str)] = &[
    (
        "data_dir",
        "会话和设置所在的目录 [NETACLAW_DATA_DIR；默认 ~/.netaclaw]",
    ),
    (
        "config",
        "配置文件 [NETACLAW_CONFIG；默认为数据目录中的 config.toml]",
    ),
    ("lang", "消息的语言，默认随系统"),
    ("help", "显示帮助"),
    ("version", "显示版本"),
    ("finder", "由哪个智能体来查找（名称）"),
    ("new name", "技能的名称"),
    ("new dir", "在哪里创建其文件夹，默认在数据目录的 skills 中"),
    ("new description", "它做什么，何时使用"),
    ("check dir", "技能文件夹"),
    ("run skill", "技能的名称或其文件夹"),
    ("run input", "它需要的输入，JSON 格式；- 表示从标准输入读取"),
    ("run workspace", "在哪个目录中工作，默认为当前目录"),
    ("run agent", "使用哪个智能体的技能和限制（名称）"),
    ("json", "输出 JSON"),
    ("provider", "存储：file 或 mysql"),
    ("list user", "只列出该用户的会话"),
    ("list agent", "只列出该智能体的会话"),
    (
        "list text",
        "只列出标题、首条消息、目录或编号含此文字的会话",
    ),
    ("list status", "只列出此状态的会话；默认为未删除的"),
    ("list page", "第几页，从 1 开始"),
    ("list size", "每页会话数"),
    (
        "listen",
        "监听的地址；端口 0 为自动选择 [NETACLAW_LISTEN；默认 127.0.0.1:7300]",
    ),
    ("link listen", "服务监听的地址，默认取自配置"),
    ("chat session", "继续该会话，可只给出编号的开头"),
    ("chat agent", "对话的智能体名称"),
    ("session", "会话文件，或会话编号（或其开头）"),
    ("sessions", "会话文件，或会话编号（或其开头），可给出多个"),
    ("tree full", "显示每个条目，不折叠"),
    (
        "context leaf",
        "从哪个条目看，默认为当前位置；null 为第一个条目之前；可给出多次",
    ),
    ("compact session", "会话编号或其开头"),
    ("compact dry_run", "只显示将压缩和保留的内容，不作任何更改"),
    ("compact focus", "摘要应特别关注的内容"),
    (
        "export format",
        "jsonl：整个会话，供 Pi 和 NetaClaw 使用；md：当前路径；html：整棵树的网页",
    ),
    ("export output", "写入文件，而不是标准输出"),
    ("export force", "覆盖已有文件"),
    ("import file", "Pi 或 NetaClaw 的会话文件，版本 1 至 3"),
    ("import id", "以此编号保存，而不用其自己的编号"),
    ("import new_id", "以新编号保存"),
    ("import rescue", "为没有可读会话头的文件补上会话头"),
    ("copy session", "会话编号或其开头"),
    ("copy to", "复制到哪里"),
    ("copy from", "从哪里复制，默认为另一处"),
    (
        "delete session",
        "会话编号或其开头；已删除的会话须用完整编号",
    ),
    ("delete now", "立即彻底删除会话及其日志，无法恢复"),
    ("undelete session", "已删除会话的完整编号"),
    ("verify all", "检查存储中的所有会话"),
    ("backup target", "要创建的目录，须在数据目录之外"),
    ("restore source", "备份所在的目录"),
    ("restore check", "只校验备份，不写入"),
    ("offline", "不询问渠道的供应商"),
    ("channel", "渠道名称"),
    ("agent", "智能体名称"),
    ("tool", "工具名称"),
    ("yes", "同意每一个需要审批的调用"),
    ("supplier", "模型的供应商"),
    ("base_url", "API 地址，默认为供应商的地址"),
    ("api_key_env", "保存 API 密钥的环境变量的名称"),
    (
        "models",
        "模型，可附上下文窗口的词元数；可给出多次，智能体未指定时用第一个",
    ),
    ("no_tools", "这些模型不能使用工具"),
    ("auxiliary", "用于摘要和标题"),
    ("server", "MCP 服务器名称，也是其工具名称的一部分"),
    ("url", "通过 HTTP 访问的服务器地址"),
    (
        "variables",
        "程序的环境变量，值取自同名变量或所指定的变量；可给出多次",
    ),
    ("headers", "请求头，及保存其值的变量；可给出多次"),
    ("roots", "程序可写入的目录，可给出多次；在第一个目录中运行"),
    ("network", "允许程序使用网络"),
    ("without_sandbox", "在不支持沙箱的机器上也启动程序"),
    (
        "tools",
        "只提供此工具；以 * 结尾则为以此开头的工具；可给出多次",
    ),
    ("timeout", "一次调用最长的秒数"),
    ("disabled", "保留，但暂不使用"),
    ("program", "程序及其参数"),
    ("default", "让默认智能体使用它"),
    (
        "assignments",
        "设置字段，如 modelConfig.temperature=0.3；JSON 或文本，留空为默认值；不给出则打开编辑器",
    ),
];

const TEMPLATE: &str = "{about-with-newline}\n用法：{usage}\n\n{all-args}{after-help}";

/// The same command line with its help in Chinese.
pub(crate) fn in_chinese(command: Command) -> Command {
    translated(command.about(PROGRAM))
        .disable_version_flag(true)
        .arg(
            Arg::new("version")
                .short('V')
                .long("version")
                .action(ArgAction::Version)
                .help_heading("选项")
                .help("显示版本"),
        )
}

fn translated(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let help = Arg::new("help")
        .short('h')
        .long("help")
        .action(ArgAction::Help)
        .help("显示帮助");
    let command = command
        .help_template(TEMPLATE)
        .subcommand_help_heading("命令")
        .disable_help_flag(true)
        .arg(help)
        .mut_args(|argument| {
            let heading = if argument.is_positional() {
                "参数"
            } else {
                "选项"
            };
            let text = text_of(ARGUMENTS, &name, argument.get_id().as_str());
            let argument = argument.help_heading(heading);
            match text {
                Some(text) => argument.help(text),
                None => argument,
            }
        });
    command.mut_subcommands(|inner| match text_of(COMMANDS, &name, inner.get_name()) {
        Some(text) => translated(inner.about(text)),
        None => translated(inner),
    })
}

/// The text for a name below a command, else for the name at any level.
fn text_of(texts: &'static [(&str, &str)], command: &str, name: &str) -> Option<&'static str> {
    let own = format!("{command} {name}");
    let find = |name: &str| texts.iter().find(|(key, _)| *key == name);
    find(&own).or_else(|| find(name)).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    fn is_chinese(text: Option<String>) -> bool {
        text.is_some_and(|text| {
            text.chars()
                .any(|char| ('\u{4e00}'..'\u{9fff}').contains(&char))
        })
    }

    #[test]
    fn every_command_and_argument_has_its_text() {
        let mut waiting = vec![in_chinese(Cli::command())];
        while let Some(command) = waiting.pop() {
            let name = command.get_name().to_owned();
            assert!(
                is_chinese(command.get_about().map(ToString::to_string)),
                "{name}"
            );
            for argument in command.get_arguments() {
                let text = argument.get_help().map(ToString::to_string);
                assert!(is_chinese(text), "{name} {}", argument.get_id());
            }
            waiting.extend(command.get_subcommands().cloned());
        }
    }
}
