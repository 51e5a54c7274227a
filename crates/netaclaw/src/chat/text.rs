//! Words of the terminal chat.

use crate::text::{Lang, texts};
use std::fmt::Display;

texts! {
    chat_word() { "chat" "对话" }
    chat_welcome(agent, model) { "Chatting with {agent} ({model}). Type /help for commands." "正在与 {agent}（{model}）对话。输入 /help 查看可用命令。" }
    chat_welcome_bare(agent) { "Chatting with {agent}. Type /help for commands." "正在与 {agent} 对话。输入 /help 查看可用命令。" }
    chat_help() {
        "/tree            show the session tree\n/branch ENTRY    continue from an earlier entry\n/new             start a new session\n/skill NAME      run a skill; its input follows the name as JSON\n//TEXT           send a message that starts with a slash\n/quit            leave (or Ctrl-D)\nCtrl-C           stop the answer; press it twice to leave"
        "/tree            显示会话树\n/branch 条目     从较早的条目继续\n/new             开始新会话\n/skill 名称      运行技能，名称后可写 JSON 输入\n//文字           发送以斜杠开头的消息\n/quit            退出（或按 Ctrl-D）\nCtrl-C           停止回答；连按两次退出"
    }
    chat_no_session() { "the session has no messages yet" "会话中还没有消息" }
    chat_new() { "the next message starts a new session" "下一条消息将开始新的会话" }
    chat_branched(entry) { "the next message continues from {entry}" "下一条消息将从 {entry} 继续" }
    chat_branch_usage() { "/branch needs the id of an entry, or the start of one; see /tree" "/branch 需要条目的编号或其开头；用 /tree 查看" }
    chat_no_entry(entry) { "this session has no entry {entry}; see /tree" "此会话中没有条目 {entry}；用 /tree 查看" }
    chat_many_entries(entry) { "several entries start with {entry}; enter more characters of the id" "有多个条目以 {entry} 开头；请给出更长的编号" }
    chat_elsewhere() { "another process, such as a server or another chat, has this session open" "该会话已在另一个进程中打开，例如服务或另一个对话" }
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
    chat_consent_hint() { "y: allow once · a: allow this call for this session · n: deny; text after n tells the agent why" "y：允许一次 · a：本会话内允许相同的调用 · n：拒绝，后面可写理由告诉智能体" }
    chat_consent_nobody(tool) { "{tool} needs approval, and there is no terminal to ask; start with --yes to approve all calls" "{tool} 需要审批，但没有可供询问的终端；加 --yes 可批准所有调用" }
    chat_tools_changed(changes) { "available tools have changed: {changes}" "可用工具有变化：{changes}" }
    chat_answer_hint() { "enter a number or type an answer" "请输入编号或直接回答" }
}
