//! All texts for users, in English and Chinese.

use clap::ValueEnum;
use std::fmt::Display;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Lang {
    En,
    Zh,
}

impl Lang {
    /// The language a locale such as `zh_CN.UTF-8` asks for.
    pub(crate) fn of_locale(locale: Option<&str>) -> Self {
        match locale {
            Some(locale) if locale.to_ascii_lowercase().starts_with("zh") => Self::Zh,
            _ => Self::En,
        }
    }

    /// As HTML names it.
    pub(crate) fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh-CN",
        }
    }
}

/// One method for each text. Counted nouns have a form for one and a form for more.
macro_rules! texts {
    ($($name:ident($($arg:ident),*) { $en:literal $zh:literal })*) => {
        impl Lang {
            $(pub(crate) fn $name(self $(, $arg: impl Display)*) -> String {
                match self {
                    Self::En => format!($en),
                    Self::Zh => format!($zh),
                }
            })*
        }
    };
}

pub(crate) use texts;

macro_rules! counts {
    ($($name:ident(count $(, $arg:ident)*) { $one:literal $many:literal $zh:literal })*) => {
        impl Lang {
            $(pub(crate) fn $name(self, count: u64 $(, $arg: impl Display)*) -> String {
                let shown = crate::terminal::grouped(count);
                match (self, count) {
                    (Self::En, 1) => format!($one),
                    (Self::En, _) => format!($many, count = shown),
                    (Self::Zh, _) => format!($zh, count = shown),
                }
            })*
        }
    };
}

// Authors, and kinds of entries.
texts! {
    user() { "user" "用户" }
    assistant() { "assistant" "助手" }
    system() { "system" "系统" }
    shell() { "shell" "命令行" }
    extension() { "extension" "扩展" }
    tool_result() { "tool result" "工具结果" }
    compaction() { "compaction" "压缩" }
    branch_summary() { "branch summary" "分支摘要" }
    model() { "model" "模型" }
    thinking() { "thinking" "思考" }
    thinking_of(text) { "thinking: {text}" "思考：{text}" }
    thinking_level() { "thinking level" "思考强度" }
    label() { "label" "标签" }
    label_set(target, label) { "{target} is labeled \"{label}\"" "{target} 为“{label}”" }
    label_cleared(target) { "{target} has no label" "{target} 已清除" }
    name() { "name" "名称" }
    name_cleared() { "none" "无" }
    context_edit() { "context edit" "上下文修改" }
    edit_omits(target) { "{target} is omitted" "略去 {target}" }
    edit_replaces(target) { "{target} is replaced" "替换 {target}" }
    image(mime) { "image ({mime})" "图片（{mime}）" }
    no_message() { "entry without a message" "没有消息的条目" }
    damaged() { "damaged" "损坏" }
    sound() { "ok" "完好" }
    error() { "error" "错误" }
    failed() { "failed" "失败" }
    cancelled() { "cancelled" "已取消" }
    exit_code(code) { "exit code {code}" "退出码 {code}" }
    answer_stopped() { "stopped" "已停止" }
    answer_interrupted() { "interrupted" "已中断" }
    answer_cut_off() { "cut off: output limit reached" "已截断：达到输出上限" }
    tokens(tokens) { "{tokens} tokens" "{tokens} Token" }
    tokens_before(tokens) { "{tokens} tokens before" "压缩前 {tokens} Token" }
    usage(total, input, output) { "{total} tokens ({input} in, {output} out)" "{total} Token（输入 {input}，输出 {output}）" }
    cost(cost) { "cost {cost}" "费用 {cost}" }
    cached(read, written) { "cache {read} read, {written} written" "缓存读 {read}，写 {written}" }
}

// What a session is.
texts! {
    session_word() { "session" "会话" }
    session_named(id) { "session {id}" "会话 {id}" }
    id() { "id" "编号" }
    title() { "title" "标题" }
    file() { "file" "文件" }
    provider() { "storage" "存储" }
    status() { "status" "状态" }
    created() { "created" "创建" }
    updated() { "updated" "更新" }
    updated_utc() { "updated (UTC)" "更新（UTC）" }
    directory() { "directory" "目录" }
    messages() { "messages" "消息" }
    content() { "content" "内容" }
    context() { "context" "上下文" }
    context_at(leaf) { "context at {leaf}" "{leaf} 处的上下文" }
    model_and_level(model, level) { "{model}, thinking {level}" "{model}，思考强度 {level}" }
    before_first() { "the start" "起点" }
    leaf() { "leaf" "叶节点" }
    leaf_before_first() { "the leaf is before the first entry" "叶节点在第一个条目之前" }
    current_leaf() { "current leaf" "当前叶节点" }
    active_path() { "Active path" "活动路径" }
    branch_number(number) { "Branch {number}" "分支 {number}" }
    branches_from() { "branches from" "分自" }
    outline() { "Outline" "目录" }
    made_by() { "Exported by NetaClaw. This page contains the whole session tree, needs no network and runs no scripts." "由 NetaClaw 导出。本页包含完整的会话树，无需网络，不含脚本。" }
    warning() { "warning" "警告" }
    no_sessions() { "no sessions" "没有会话" }
    empty_session() { "no entries yet" "还没有条目" }
    empty_path() { "no entries on the active path" "活动路径为空" }
    page_of(first, last, total) { "{first}–{last} of {total}; use --page for more" "第 {first} 至 {last} 个，共 {total} 个；用 --page 翻页" }
    answer_in_flight() { "an answer is in progress or was interrupted" "有一个回答正在生成，或已被中断" }
    keeps_nothing(id) { "compaction {id} drops everything before it: its first kept entry is not on its path" "压缩 {id} 未保留之前的任何内容：其首个保留条目不在路径上" }
    path_damaged(error) { "the active path cannot be read: {error}" "无法读取活动路径：{error}" }
}

counts! {
    entries(count) { "1 entry" "{count} entries" "{count} 个条目" }
    tips(count) { "1 tip" "{count} tips" " {count} 个末端" }
    lines(count) { "1 line" "{count} lines" "{count} 行" }
    unreadable_lines(count) { "skipped 1 unreadable line" "skipped {count} unreadable lines" "有 {count} 行无法读取，已跳过" }
    left_out(count) { "1 unreadable line is omitted" "{count} unreadable lines are omitted" "略去 {count} 行无法读取的内容" }
    context_size(count, tokens) { "1 message, about {tokens} tokens" "{count} messages, about {tokens} tokens" "{count} 条消息，约 {tokens} Token" }
}

// What `verify` finds.
texts! {
    found_empty() { "the file is empty" "文件为空" }
    found_no_header() { "the first readable line is not a session header; `session import --rescue` can read the rest" "首个可读行不是会话头；可用 `session import --rescue` 读取其余内容" }
    found_torn_tail() { "the last line is truncated" "最后一行被截断" }
    found_no_line_break() { "the last line has no line break; the next append adds one" "最后一行缺少换行；下次写入会补上" }
    found_old_version(version) { "version {version}: the next append migrates the file and keeps a backup" "版本 {version}：下次写入时迁移，并保留备份" }
    found_newer_version(version) { "version {version} is newer than this program supports" "版本 {version} 高于本程序支持的版本" }
    found_missing_leaf(at) { "the leaf {at} is not in the session" "叶节点 {at} 不在会话中" }
    verified(sound, damaged, failed) { "{sound} ok, {damaged} damaged, {failed} unreadable" "{sound} 个完好，{damaged} 个损坏，{failed} 个无法读取" }
}

counts! {
    found_unreadable(count, at) { "1 unreadable line: {at}" "{count} unreadable lines: {at}" "{count} 行无法读取：{at}" }
    found_invalid_utf8(count, at) { "1 line that is not valid UTF-8: {at}" "{count} lines that are not valid UTF-8: {at}" "{count} 行不是有效的 UTF-8：{at}" }
    found_orphans(count, at) { "1 entry whose parent is missing: {at}" "{count} entries whose parent is missing: {at}" "{count} 个条目缺少父条目：{at}" }
    found_duplicates(count, at) { "1 duplicate id: {at}" "{count} duplicate ids: {at}" "{count} 个编号重复：{at}" }
    found_circles(count, at) { "1 entry that is its own parent: {at}" "{count} entries whose parents form a cycle: {at}" "{count} 个条目的父条目形成循环：{at}" }
    found_missing_first_kept(count, at) { "1 compaction whose first kept entry is not on its path: {at}" "{count} compactions whose first kept entry is not on their path: {at}" "{count} 个压缩的首个保留条目不在路径上：{at}" }
    found_missing_message(count, at) { "1 message entry without a message: {at}" "{count} message entries without a message: {at}" "{count} 个消息条目没有消息：{at}" }
    found_results_without_call(count, at) { "1 tool result without its call on the active path: {at}" "{count} tool results without their call on the active path: {at}" "活动路径上 {count} 个工具结果没有对应的工具调用：{at}" }
}

// Why something was not done, and what helps.
texts! {
    file_not_found() { "it does not exist" "不存在" }
    permission_denied() { "permission denied" "没有权限" }
    is_directory() { "it is a directory" "这是目录" }
    not_directory() { "a part of the path is not a directory" "路径中有一部分不是目录" }
    file_exists() { "it already exists" "已存在" }
    check_path() { "check the path" "请检查路径" }
    check_permission() { "run the command as a user with access" "请用有权限的用户运行" }
    give_file() { "specify a file" "请指定文件" }
    use_force() { "choose another name, or replace it with --force" "请换一个名称，或用 --force 覆盖" }
    not_a_session(error) { "not a session: {error}" "不是会话：{error}" }
    see_rescue() { "see `netaclaw session verify` for details; `session import --rescue` imports what is readable" "用 `netaclaw session verify` 查看详情；用 `session import --rescue` 导入可读的部分" }
    nothing_to_rescue() { "it contains no readable entry" "其中没有可读的条目" }
    session_not_found() { "session not found" "找不到该会话" }
    see_list() { "see `netaclaw session list` for the ids" "用 `netaclaw session list` 查看编号" }
    session_exists() { "it already exists" "已存在" }
    use_other_id() { "use --id to choose another id, or --new-id" "请用 --id 指定其他编号，或用 --new-id" }
    session_busy(owner) { "another process is writing to it ({owner})" "另一个进程正在写入（{owner}）" }
    newer_session(found, supported) { "it was written by a newer version (format {found}; this program writes {supported}); it can be read but not changed" "由更新的版本写入（格式 {found}，本程序写入 {supported}）；只能读取，不能修改" }
    update_netaclaw() { "update NetaClaw to change it" "请更新 NetaClaw 后再修改" }
    try_later() { "try again when that process has ended" "请待该进程结束后再试" }
    see_verify() { "see `netaclaw session verify` for details" "用 `netaclaw session verify` 查看详情" }
    see_tree() { "see `netaclaw session tree --full` for all entries" "用 `netaclaw session tree --full` 查看所有条目" }
    no_such_entry(session) { "session {session} has no such entry" "会话 {session} 中没有这个条目" }
    ambiguous(count, ids) { "{count} sessions start with this id: {ids}" "有 {count} 个会话以此开头：{ids}" }
    give_more_of_id() { "enter more characters of the id" "请给出更长的编号" }
    no_database() { "no database is configured" "没有配置数据库" }
    set_mysql_url() { "set NETACLAW_MYSQL_URL, or `url` under [mysql] in the configuration file" "请设置 NETACLAW_MYSQL_URL，或配置文件 [mysql] 中的 url" }
    database_unreachable(why) { "the database cannot be used: {why}" "无法使用数据库：{why}" }
    check_database() { "check that the database is running and that NETACLAW_MYSQL_URL is correct" "请检查数据库是否在运行，以及 NETACLAW_MYSQL_URL 是否正确" }
    same_place() { "source and target are the same" "来源与目标相同" }
    choose_other_place() { "choose another target with --to" "请用 --to 指定其他目标" }
    copied(id, from, to) { "{id}: copied from {from} to {to}" "{id}：已从 {from} 复制到 {to}" }
    copy_verified(done, entries, tips) { "{done}; verified: {entries} and the contexts at {tips} are identical" "{done}；校验通过：{entries}以及{tips}的上下文逐字节相同" }
    some_tips(some, all) { "{some} of {all} tips" "{all} 个末端中 {some} 个" }
    copy_differs(place) { "the copy differs at {place}" "副本在 {place} 处与原件不同" }
    session_is_deleted() { "the session is deleted" "该会话已删除" }
    see_undelete(id) { "restore it with `netaclaw session undelete {id}`" "可用 `netaclaw session undelete {id}` 恢复" }
    session_deleted(id) { "session {id}: deleted; restore it with `netaclaw session undelete {id}`" "会话 {id}：已删除；可用 `netaclaw session undelete {id}` 恢复" }
    session_purged(id) { "session {id}: deleted permanently" "会话 {id}：已彻底删除" }
    session_undeleted(id) { "session {id}: restored" "会话 {id}：已恢复" }
    keep_deleted_values() { "enter a number of days up to 36500 (0 deletes permanently at once), or unlimited" "请填写不超过 36500 的天数（0 表示立即彻底删除），或 unlimited" }
    source_untouched() { "the original was not changed; delete the copy" "原件未改动；请删除副本" }
    data_dir() { "data directory" "数据目录" }
    no_home() { "the home directory is unknown" "找不到主目录" }
    set_data_dir() { "set --data-dir or NETACLAW_DATA_DIR" "请设置 --data-dir 或 NETACLAW_DATA_DIR" }
    config_file(path) { "configuration {path}" "配置文件 {path}" }
    config_line(line, error) { "line {line}: {error}" "第 {line} 行：{error}" }
    fix_config() { "correct the configuration file" "请改正配置文件" }
    unknown_provider(name) { "unknown session provider {name}; using file" "未知的会话存储 {name}；改用 file" }
    unknown_value() { "unknown value" "未知的值" }
    fsync_values() { "use always, turn or off" "请使用 always、turn 或 off" }
    namespaces_values() { "use auto or off" "请使用 auto 或 off" }
    origin_values() { "write an origin such as https://example.org or https://example.org:8443, without a path" "请填写来源，如 https://example.org 或 https://example.org:8443，不带路径" }
    proxy_values() { "write an address or a network such as 10.0.0.0/8; a network of all addresses is not allowed" "请填写地址或网段，如 10.0.0.0/8；不允许包含所有地址的网段" }
    true_or_false() { "use true or false" "请使用 true 或 false" }
    drain_values() { "enter a number of seconds, at most 3600" "请填写秒数，不超过 3600" }
    log_values() { "use off, error, warn, info, debug or trace, optionally per module: warn,netaclaw_engine=debug" "可用 off、error、warn、info、debug 或 trace，也可按模块指定：warn,netaclaw_engine=debug" }
    log_format_values() { "use text or json" "请使用 text 或 json" }
    otlp_values() { "enter the address of a collector, such as http://127.0.0.1:4318" "请填写收集器的地址，例如 http://127.0.0.1:4318" }
    see_help(command) { "see `{command} --help`" "请运行 `{command} --help` 查看帮助" }
}

impl Lang {
    /// How much there is in a session.
    pub(crate) fn counts(self, entries: u64, messages: u64, branches: u64) -> String {
        match self {
            Self::En => {
                let plural = |count: u64, one: &str, many: &str| {
                    format!(
                        "{} {}",
                        crate::terminal::grouped(count),
                        if count == 1 { one } else { many }
                    )
                };
                let messages = plural(messages, "message", "messages");
                let branches = plural(branches, "branch", "branches");
                format!("{}, {messages}, {branches}", self.entries(entries))
            }
            Self::Zh => format!("{entries} 个条目，{messages} 条消息，{branches} 个分支"),
        }
    }

    /// What a line leaves out; nothing for nothing.
    pub(crate) fn more_lines(self, count: u64) -> String {
        match (self, count) {
            (_, 0) => String::new(),
            (Self::En, 1) => "+1 line".to_owned(),
            (Self::En, count) => format!("+{count} lines"),
            (Self::Zh, count) => format!("另 {count} 行"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locale_chooses_the_language() {
        assert_eq!(Lang::of_locale(Some("zh_CN.UTF-8")), Lang::Zh);
        assert_eq!(Lang::of_locale(Some("ZH")), Lang::Zh);
        assert_eq!(Lang::of_locale(Some("en_GB")), Lang::En);
        assert_eq!(Lang::of_locale(None), Lang::En);
    }

    #[test]
    fn one_and_many_are_distinguished() {
        assert_eq!(Lang::En.entries(1), "1 entry");
        assert_eq!(Lang::En.entries(12_000), "12,000 entries");
        assert_eq!(Lang::Zh.entries(1), "1 个条目");
        assert_eq!(Lang::En.counts(2, 1, 1), "2 entries, 1 message, 1 branch");
    }
}
