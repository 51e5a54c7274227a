//! The help in Chinese. The English one is next to the arguments.

use clap::builder::Resettable;
use clap::{Arg, ArgAction, Command};

const PROGRAM: &str = "运行自托管的智能体引擎";

/// Commands by their name, or by the command above and name if the name is used more than once.
const COMMANDS: &[(&str, &str)] = &[
    ("session", "列出、查看、导出、导入、复制和删除会话"),
    ("list", "列出会话，最新的在前"),
    ("show", "显示会话及其活动路径"),
    ("tree", "显示会话树"),
    ("context", "显示模型将收到的上下文"),
    ("compact", "压缩会话的上下文，或预览压缩结果"),
    ("export", "将会话导出为 JSON 行、Markdown 或网页"),
    ("import", "导入 Pi 或 NetaClaw 的会话文件"),
    ("copy", "在文件和 MySQL 之间复制会话"),
    ("delete", "删除会话，保留期内可恢复"),
    ("undelete", "恢复已删除的会话"),
    ("verify", "检查会话是否损坏，不作任何更改"),
    ("channel", "管理连接模型供应商的渠道"),
    ("add", "添加渠道，或修改已有渠道"),
    ("channel list", "列出渠道"),
    ("test", "测试渠道与供应商的连接"),
    ("remove", "删除未被使用的渠道"),
    ("mcp", "管理 MCP 服务器，或作为 MCP 服务器提供工具"),
    ("approval", "列出和吊销长期审批"),
    ("approval list", "列出智能体和会话的长期审批"),
    ("revoke", "吊销智能体和会话的长期审批"),
    ("mcp add", "添加 MCP 服务器，或修改已有服务器"),
    ("mcp list", "列出 MCP 服务器"),
    ("mcp test", "连接 MCP 服务器并列出其工具"),
    ("mcp enable", "启用 MCP 服务器"),
    ("mcp disable", "停用 MCP 服务器，但不删除"),
    ("mcp remove", "删除 MCP 服务器"),
    ("mcp serve", "作为 MCP 服务器运行，提供智能体的工具"),
    ("skill", "创建、检查和运行技能"),
    ("skill list", "列出智能体的技能，以及不可用的原因"),
    ("new", "从可运行的示例创建新技能"),
    ("check", "检查技能文件夹，并列出需要修正的内容"),
    ("run", "运行技能并显示进度"),
    ("serve", "启动服务（默认命令）"),
    ("link", "打印首位管理员的登录链接"),
    ("chat", "在终端中与智能体对话"),
    ("agent", "查看和修改智能体"),
    ("agent list", "列出智能体"),
    ("agent show", "显示智能体的设置"),
    ("tool", "查看工具，并为所有智能体启用或停用"),
    ("tool list", "列出工具"),
    (
        "tool show",
        "显示工具、拥有它的智能体，以及其他智能体没有它的原因",
    ),
    ("enable", "为所有智能体启用工具"),
    ("disable", "为所有智能体停用工具，智能体无法再启用"),
    ("reset", "将工具恢复默认，由智能体决定是否启用"),
    ("backup", "备份数据目录，服务运行时也可以"),
    ("restore", "校验备份，并恢复到空的数据目录"),
    ("doctor", "检查安装和运行环境，并给出修复建议"),
    ("edit", "逐个字段或在编辑器中修改智能体"),
];

/// Arguments by their name, or by command and name if the name is used more than once. A second
/// paragraph is shown by `--help`, but not by `-h`.
const ARGUMENTS: &[(&str, &str)] = &[
    ("data_dir", "数据目录 [NETACLAW_DATA_DIR；默认 ~/.netaclaw]"),
    (
        "config",
        "配置文件 [NETACLAW_CONFIG；默认为数据目录中的 config.toml]",
    ),
    ("lang", "消息的语言，默认跟随系统"),
    ("help", "显示帮助"),
    ("version", "显示版本"),
    ("finder", "列出哪个智能体的技能（名称）"),
    ("new name", "技能的名称"),
    ("new dir", "技能文件夹所在的目录，默认为数据目录中的 skills"),
    ("new description", "技能做什么，何时使用"),
    ("check dir", "技能文件夹"),
    ("run skill", "技能的名称或文件夹"),
    ("run input", "技能的输入，JSON 格式；- 表示从标准输入读取"),
    ("run workspace", "工作区，默认为当前目录"),
    ("run agent", "使用哪个智能体的技能和限制（名称）"),
    ("json", "输出 JSON"),
    ("provider", "会话存储：file 或 mysql"),
    ("list user", "只列出该用户的会话或审批"),
    ("revoke id", "审批的编号；见 `netaclaw approval list`"),
    ("revoke all", "吊销所有长期审批"),
    ("revoke user", "只吊销该用户的审批"),
    ("list agent", "只列出该智能体的会话"),
    (
        "list text",
        "只列出含此文字的会话\n\n在标题、首条消息、目录和编号中查找",
    ),
    ("list status", "只列出此状态的会话，默认为未删除的"),
    ("list page", "页码，从 1 开始"),
    ("list size", "每页的会话数"),
    (
        "listen",
        "监听地址 [NETACLAW_LISTEN；默认 127.0.0.1:7300]\n\n端口 0 表示自动选择空闲端口",
    ),
    ("link listen", "服务的监听地址，默认取自配置"),
    ("chat session", "继续此会话，可只写编号的开头"),
    ("chat agent", "对话的智能体名称"),
    ("session", "会话文件，或会话编号（或其开头）"),
    ("sessions", "会话文件，或会话编号（或其开头），可给出多个"),
    ("tree full", "显示每个条目，包括没有分支的长段"),
    (
        "context leaf",
        "显示此条目处的上下文，默认为叶节点；可重复\n\nnull 表示第一个条目之前",
    ),
    ("compact session", "会话编号或其开头"),
    ("compact dry_run", "只显示将压缩和保留的内容，不作任何更改"),
    ("compact focus", "摘要应关注的主题"),
    (
        "export format",
        "导出格式\n\njsonl：整个会话，供 Pi 和 NetaClaw 使用；md：活动路径；html：整棵会话树的网页",
    ),
    ("export output", "写入文件，而不是标准输出"),
    ("export force", "覆盖已有文件"),
    ("import file", "Pi 或 NetaClaw 的会话文件，版本 1 至 3"),
    ("import id", "以此编号保存，而不用文件中的编号"),
    ("import new_id", "以新编号保存"),
    ("import rescue", "如果没有可读的会话头，则创建一个"),
    ("copy session", "会话编号或其开头"),
    ("copy to", "复制到哪个存储"),
    ("copy from", "从哪个存储复制，默认为另一个"),
    (
        "delete session",
        "会话编号或其开头；已删除的会话须写完整编号",
    ),
    ("delete now", "立即彻底删除会话及其日志，无法恢复"),
    ("undelete session", "已删除会话的完整编号"),
    ("verify all", "检查存储中的所有会话"),
    ("backup target", "要创建的目录，须在数据目录之外"),
    ("restore source", "备份所在的目录"),
    ("restore check", "只校验备份，不写入"),
    ("offline", "不连接供应商和 MCP 服务器"),
    ("channel", "渠道名称"),
    ("agent", "智能体名称"),
    ("tool", "工具名称"),
    ("yes", "批准每一个需要审批的调用"),
    ("supplier", "模型的供应商"),
    ("base_url", "API 地址，默认为供应商的地址"),
    ("api_key_env", "保存 API 密钥的环境变量"),
    (
        "models",
        "模型，如果未知则附上下文窗口的 Token 数；可重复\n\n智能体未指定模型时使用第一个",
    ),
    ("no_tools", "将这些模型标记为不支持工具"),
    ("auxiliary", "用此渠道生成摘要和标题"),
    ("server", "MCP 服务器名称，也是其工具名称的一部分"),
    ("url", "HTTP 服务器的地址"),
    (
        "variables",
        "传给程序的环境变量，可重复\n\n值取自同名变量，或取自 VARIABLE",
    ),
    ("headers", "发送请求头，值取自 VARIABLE；可重复"),
    (
        "roots",
        "允许程序写入的目录，可重复\n\n程序在第一个目录中运行",
    ),
    ("network", "允许程序使用网络"),
    ("without_sandbox", "即使机器不支持沙箱也启动程序"),
    ("tools", "只提供此工具；以 * 结尾表示以此开头的工具；可重复"),
    ("timeout", "工具调用的超时时间"),
    ("disabled", "添加后暂不启用"),
    ("program", "本地服务器的程序及其参数"),
    ("default", "让默认智能体使用此渠道"),
    (
        "assignments",
        "设置字段，如 modelConfig.temperature=0.3；可重复\n\n值为 JSON 或文本，留空恢复默认值；不给出此选项则打开编辑器",
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
            let heading = match (argument.is_positional(), argument.is_global_set()) {
                (true, _) => "参数",
                (false, true) => "全局选项",
                (false, false) => "选项",
            };
            let text = text_of(ARGUMENTS, &name, argument.get_id().as_str());
            let argument = argument.help_heading(heading);
            match text {
                Some(text) => with_help(argument, text),
                None => argument,
            }
        });
    command.mut_subcommands(|inner| match text_of(COMMANDS, &name, inner.get_name()) {
        Some(text) => translated(inner.about(text)),
        None => translated(inner),
    })
}

/// What the parser itself adds to a help, in Chinese.
const NOTES: &[(&str, &str)] = &[
    ("[OPTIONS]", "[选项]"),
    ("[COMMAND]", "[命令]"),
    ("<COMMAND>", "<命令>"),
    ("[possible values: ", "[可选值："),
    ("Possible values:", "可选值："),
    ("[default: ", "[默认："),
    ("命令:", "命令："),
    ("参数:", "参数："),
    ("选项:", "选项："),
];

/// A page of help in Chinese, with what the parser has added to it in Chinese as well.
pub(crate) fn chinese_notes(page: &str) -> String {
    let replace = |page: String, (english, chinese): &(&str, &str)| page.replace(english, chinese);
    NOTES.iter().fold(page.to_owned(), replace)
}

/// Replaces the English help, and its longer form as well.
fn with_help(argument: Arg, text: &'static str) -> Arg {
    match text.split_once("\n\n") {
        Some((first, _)) => argument.help(first).long_help(text),
        None => argument.help(text).long_help(Resettable::Reset),
    }
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
    use unicode_width::UnicodeWidthStr;

    /// Columns of the first line of a help.
    const MAX_COLUMNS: usize = 72;

    struct Help {
        of: String,
        first_line: String,
        whole: String,
    }

    /// The help of every command and argument.
    fn helps(root: Command) -> Vec<Help> {
        let mut helps = Vec::new();
        let mut waiting = vec![(root.get_name().to_owned(), root)];
        while let Some((path, command)) = waiting.pop() {
            let about = command.get_about().map(ToString::to_string);
            let long = command.get_long_about().map(ToString::to_string);
            helps.push(help(path.clone(), about, long));
            for argument in command.get_arguments() {
                let of = format!("{path} [{}]", argument.get_id());
                let short = argument.get_help().map(ToString::to_string);
                let long = argument.get_long_help().map(ToString::to_string);
                helps.push(help(of, short, long));
            }
            for inner in command.get_subcommands() {
                waiting.push((format!("{path} {}", inner.get_name()), inner.clone()));
            }
        }
        helps
    }

    fn help(of: String, short: Option<String>, long: Option<String>) -> Help {
        let first_line = short.unwrap_or_default();
        let whole = long.unwrap_or_else(|| first_line.clone());
        Help {
            of,
            first_line,
            whole,
        }
    }

    fn is_chinese(text: &str) -> bool {
        text.chars()
            .any(|char| ('\u{4e00}'..='\u{9fff}').contains(&char))
    }

    fn both_languages() -> (Vec<Help>, Vec<Help>) {
        (helps(Cli::command()), helps(in_chinese(Cli::command())))
    }

    #[test]
    fn every_help_exists_in_both_languages() {
        let (english, chinese) = both_languages();
        assert!(english.len() > 100, "{} helps", english.len());
        for help in &english {
            assert!(!help.first_line.is_empty(), "{}", help.of);
            assert!(!is_chinese(&help.whole), "{}: {}", help.of, help.whole);
            let counterpart = chinese.iter().find(|chinese| chinese.of == help.of);
            let counterpart = counterpart.unwrap_or_else(|| panic!("{}", help.of));
            let paragraphs = |help: &Help| help.whole.split("\n\n").count();
            assert_eq!(paragraphs(help), paragraphs(counterpart), "{}", help.of);
        }
        for help in &chinese {
            for paragraph in help.whole.split("\n\n") {
                assert!(is_chinese(paragraph), "{}: {paragraph}", help.of);
            }
        }
    }

    /// Two words of English beside each other, outside of names and examples.
    fn english_in(page: &str) -> Option<String> {
        let quoted = page.split('`').step_by(2).collect::<Vec<_>>().join(" ");
        let lines = quoted.lines().filter(|line| !line.starts_with("用法"));
        let is_word =
            |word: &&str| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_lowercase());
        let mut words = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
        let found = words.find(|words| words.windows(2).any(|two| two.iter().all(is_word)));
        found.map(|words| words.join(" "))
    }

    #[test]
    fn every_page_is_chinese_as_it_is_shown() {
        let mut root = in_chinese(Cli::command());
        root.build();
        let mut waiting = vec![root];
        let mut pages = 0;
        while let Some(mut command) = waiting.pop() {
            for page in [command.render_help(), command.render_long_help()] {
                let page = chinese_notes(&page.to_string());
                assert_eq!(english_in(&page), None, "{page}");
                for note in [
                    "OPTIONS", "COMMAND", "values", "default:", "Usage", "Options:",
                ] {
                    assert!(!page.contains(note), "{note} in\n{page}");
                }
                pages += 1;
            }
            waiting.extend(command.get_subcommands().cloned());
        }
        assert!(pages > 80, "{pages}");
        assert!(english_in("  显示 the page").is_some());
    }

    #[test]
    fn the_first_line_is_short_and_has_no_period() {
        let (english, chinese) = both_languages();
        for help in english.iter().chain(&chinese) {
            let line = &help.first_line;
            let columns = line.width();
            assert!(columns <= MAX_COLUMNS, "{}: {columns}: {line}", help.of);
            assert!(!line.contains('\n'), "{}: {line}", help.of);
            let ends_in_period = line.ends_with('.') || line.ends_with('。');
            assert!(!ends_in_period, "{}: {line}", help.of);
        }
    }
}
