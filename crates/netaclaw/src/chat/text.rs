//! Texts of the terminal chat.

use crate::text::{Lang, texts};
use netaclaw_protocol::ThinkingLevel;
use std::fmt::Display;

texts! {
    chat_word() { "chat" "对话" }
    chat_welcome(agent, model) { "Chatting with {agent} ({model}). Type /help for commands." "正在与 {agent}（{model}）对话。输入 /help 查看可用命令。" }
    chat_welcome_bare(agent) { "Chatting with {agent}. Type /help for commands." "正在与 {agent} 对话。输入 /help 查看可用命令。" }
    chat_no_session() { "the session has no messages yet" "会话中还没有消息" }
    chat_new() { "the next message starts a new session" "下一条消息将开始新的会话" }
    chat_branched(entry) { "the next message continues from {entry}" "下一条消息将从 {entry} 继续" }
    chat_branch_usage() { "/branch needs the id of an entry, or the start of one; see /tree" "/branch 需要条目的编号或其开头；用 /tree 查看" }
    chat_no_entry(entry) { "this session has no entry {entry}; see /tree" "此会话中没有条目 {entry}；用 /tree 查看" }
    chat_many_entries(entry) { "several entries start with {entry}; enter more characters of the id" "有多个条目以 {entry} 开头；请给出更长的编号" }
    chat_elsewhere() { "another process, such as a server or another chat, has this session open" "该会话已在另一个进程中打开，例如服务或另一个对话" }
    chat_unknown_near(command, meant) { "unknown command {command}; did you mean {meant}? Start with two slashes to send a message that starts with one" "未知命令 {command}；您要找的是 {meant} 吗？要发送以斜杠开头的消息，请写两个斜杠" }
    chat_unknown_command(command) { "unknown command {command}; type /help for commands, or start with two slashes to send a message that starts with one" "未知命令 {command}；输入 /help 查看命令。要发送以斜杠开头的消息，请写两个斜杠" }
    chat_stopping() { "stopping" "正在停止" }
    chat_stopped() { "stopped" "已停止" }
    chat_interrupted() { "interrupted" "已中断" }
    chat_session(id) { "to continue: netaclaw chat --session {id}" "继续对话：netaclaw chat --session {id}" }
    chat_leave_hint() { "press Ctrl-C again or type /quit to leave" "再按一次 Ctrl-C 或输入 /quit 退出" }
    chat_queued() { "queued until the current answer is complete" "已排队，等待当前回答完成" }
    chat_more_lines(count) { "… {count} more lines" "…… 还有 {count} 行" }
    chat_thinking() { "thinking" "思考" }
    chat_consent(tool) { "Allow {tool} to run?" "是否允许运行 {tool}？" }
    chat_consent_foreign(sources) { "this session has read external content: {sources}" "本会话读取过外部内容：{sources}" }
    chat_consent_goes_to(address) { "sends data to: {address}" "发往：{address}" }
    chat_foreign_mcp(name) { "MCP server {name}" "MCP 服务器 {name}" }
    chat_foreign_file(name) { "file {name}" "文件 {name}" }
    chat_foreign_image() { "an attached file" "附件" }
    chat_foreign_program(name) { "output of {name}" "{name} 的输出" }
    chat_consent_hint(choices) { "{choices}; text after n tells the agent why" "{choices}；n 后面可写理由告诉智能体" }
    chat_choice(key, label) { "{key}: {label}" "{key}：{label}" }
    chat_allow_once() { "allow once" "允许一次" }
    chat_allow_session() { "allow for this session" "本会话内允许" }
    chat_allow_more() { "allow more…" "允许更多…" }
    chat_allow_numbers(last) { "1–{last}: allow more" "1–{last}：允许更多" }
    chat_grant(what, within) { "{what} – {within}" "{what} – {within}" }
    chat_scope_hint() { "Esc: back" "Esc：返回" }
    chat_deny() { "deny" "拒绝" }
    chat_deny_with_reason() { "deny with a reason" "拒绝并说明理由" }
    chat_approval_without_terminal(tool) { "{tool} needs approval, and there is no terminal to ask; start with --yes to approve all calls" "{tool} 需要审批，但没有可供询问的终端；加 --yes 可批准所有调用" }
    chat_tools_changed(changes) { "available tools have changed: {changes}" "可用工具有变化：{changes}" }
    chat_answer_hint() { "enter a number or type an answer" "请输入编号或直接回答" }
    chat_answer_words() { "type an answer" "请输入回答" }
    chat_answer_keys(last) { "[1–{last}] choose an option, or type an answer" "[1–{last}] 选择选项，或直接输入回答" }
    chat_reason_hint() { "Why? The agent reads it. Enter: deny · Esc: back" "请写明理由，智能体会看到。Enter：拒绝 · Esc：返回" }
    chat_placeholder() { "Message, or / for commands" "输入消息，或用 / 查看命令" }
    chat_search(wanted) { "search \"{wanted}\": " "搜索“{wanted}”：" }
    chat_status_context(percent, max) { "{percent}% of {max}" "{percent}%（{max}）" }
    chat_status_queued(count) { "{count} queued" "排队 {count}" }
    chat_status_todo(done, all) { "to-do {done}/{all}" "待办 {done}/{all}" }
    chat_doing_waiting() { "waiting for the model" "等待模型" }
    chat_doing_answering() { "answering" "正在回答" }
    chat_doing_tools() { "running tools" "正在运行工具" }
    chat_doing_user() { "waiting for you" "等待您的回答" }
    chat_doing_compacting() { "compacting" "正在压缩" }
    chat_compacting() { "compacting the context" "正在压缩上下文" }
    chat_compact_queued() { "the context will be compacted before the next model call, or after this run" "将在下次模型调用之前或本次运行之后压缩上下文" }
    chat_compact_already() { "a compaction is already running or queued" "压缩已在进行或排队" }
    chat_compacted(count, before, after) { "compacted {count} messages: {before} → {after} tokens" "已压缩 {count} 条消息：{before} → {after} Token" }
    chat_not_compacted(why) { "not compacted: {why}" "未压缩：{why}" }
    chat_no_models() { "no channel lists a model; see `netaclaw channel list`" "没有渠道列出模型；用 `netaclaw channel list` 查看" }
    chat_no_model(name) { "no channel lists the model {name}; see /model" "没有渠道列出模型 {name}；用 /model 查看" }
    chat_no_model_near(name, meant) { "no channel lists the model {name}; did you mean {meant}?" "没有渠道列出模型 {name}；您要找的是 {meant} 吗？" }
    chat_many_models(name) { "several channels list {name}; write CHANNEL/MODEL as in /model" "有多个渠道列出 {name}；请按 /model 中的形式写 渠道/模型" }
    chat_model_set(name) { "the next answers come from {name}" "后续回答使用 {name}" }
    chat_no_level(name, levels) { "unknown thinking level {name}; use one of: {levels}" "未知的思考强度 {name}；可用：{levels}" }
    chat_level_set(level) { "thinking level: {level}" "思考强度：{level}" }
    chat_agent_set(name) { "the next message starts a session with {name}" "下一条消息将与 {name} 开始新会话" }
    chat_agent_switched(name) { "{name} answers from the next message on" "从下一条消息起由 {name} 回答" }
    chat_agent(name) { "agent: {name}" "智能体：{name}" }
    tool_timed_out() { "timed out" "超时" }
    tool_blocked() { "blocked" "已阻止" }
    tool_denied() { "denied" "已拒绝" }
    tool_undecided() { "not run: no approval" "未运行：未获审批" }
    tool_expired() { "expired" "已过期" }
    tool_dismissed() { "closed, no answer" "已关闭，未回答" }
    tool_not_run() { "not run" "未运行" }
    chat_tool_waits() { "waiting for approval" "等待审批" }
    chat_fallback(channel) { "Using the fallback channel “{channel}”." "改用备用渠道“{channel}”。" }
    chat_retry_in(seconds) { "Retrying in {seconds} s." "{seconds} 秒后重试。" }
    chat_retry_now() { "Retrying now…" "正在重试…" }
    chat_edits_on() { "edits of files in the workspace need no approval in this session; /edits ends that" "本会话内修改工作区的文件不再需要审批；再次输入 /edits 结束" }
    chat_edits_off() { "edits need approval again" "修改文件重新需要审批" }
    chat_status_edits() { "accepts edits" "已允许修改" }
    chat_no_standing() { "this session has no standing approvals" "此会话没有长期审批" }
    chat_standing_usage() { "use /approvals or /approvals revoke NUMBER" "请使用 /approvals 或 /approvals revoke 序号" }
    chat_standing_revoked() { "standing approval revoked" "已吊销长期审批" }
    chat_queue_empty() { "the queue is empty" "队列为空" }
    chat_queue_held() { "on hold" "已暂停" }
    chat_queue_changed() { "queue changed" "队列已更新" }
    chat_queue_usage() { "use /queue, /queue drop NUMBER or /queue resume" "请使用 /queue、/queue drop 序号 或 /queue resume" }
    chat_nothing_runs() { "nothing is running" "没有正在进行的运行" }
    chat_help_slashes() { "//TEXT" "//文字" }
    chat_help_slashes_means() { "send a message that starts with a slash" "发送以斜杠开头的消息" }
    chat_help_interrupt() { "stop the run; press it twice on an empty line to leave" "停止运行；空行时连按两次退出" }
    chat_help_line_break() { "insert a line break" "换行" }
    chat_help_complete() { "complete a command or a name" "补全命令或名称" }
    chat_help_search() { "search what was typed before" "搜索输入历史" }
}

impl Lang {
    pub(crate) fn chat_level(self, level: ThinkingLevel) -> String {
        let words = match (self, level) {
            (Self::En, ThinkingLevel::Off) => "no thinking",
            (Self::Zh, ThinkingLevel::Off) => "不思考",
            _ => "",
        };
        words.to_owned()
    }
}
