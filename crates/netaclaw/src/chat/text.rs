//! Words of the terminal chat.

use crate::text::{Lang, texts};
use std::fmt::Display;

texts! {
    chat_word() { "chat" "对话" }
    chat_welcome(agent, model) { "Chatting with {agent} ({model}). /help tells what else can be said." "正在与 {agent}（{model}）对话。输入 /help 查看可用命令。" }
    chat_welcome_bare(agent) { "Chatting with {agent}. /help tells what else can be said." "正在与 {agent} 对话。输入 /help 查看可用命令。" }
    chat_help() {
        "/tree            the session as a tree\n/branch ENTRY    go on from an earlier entry\n/new             begin another session\n/skill NAME      run a skill, with its input as JSON behind the name\n//TEXT           a message that begins with a slash\n/quit            leave, as does Ctrl-D\nCtrl-C           stop an answer; twice, leave"
        "/tree            以树的形式显示会话\n/branch 条目     从较早的条目继续\n/new             开始新的会话\n/skill 名称      运行技能，名称后可写 JSON 输入\n//文字           以斜杠开头的消息\n/quit            退出，也可按 Ctrl-D\nCtrl-C           停止回答；连按两次退出"
    }
    chat_no_session() { "nothing has been said yet" "还没有对话" }
    chat_new() { "a new session begins with the next message" "下一条消息将开始新的会话" }
    chat_branched(entry) { "the next message goes on from {entry}" "下一条消息将从 {entry} 继续" }
    chat_branch_usage() { "/branch needs the id of an entry, or its beginning; /tree shows them" "/branch 需要条目的编号或其开头；用 /tree 查看" }
    chat_no_entry(entry) { "there is no entry {entry} in this session; /tree shows them" "此会话中没有条目 {entry}；用 /tree 查看" }
    chat_many_entries(entry) { "several entries begin with {entry}; give more of the id" "有多个条目以 {entry} 开头；请给出更长的编号" }
    chat_elsewhere() { "the session is open in another process, perhaps a server or another chat" "该会话已在另一个进程中打开，可能是服务或另一个对话" }
    chat_unknown_command(command) { "{command} is no command; /help lists them, and a message that begins with a slash is sent with two" "没有命令 {command}；输入 /help 查看。要发送以斜杠开头的消息，请写两个斜杠" }
    chat_stopping() { "stopping" "正在停止" }
    chat_stopped() { "stopped" "已停止" }
    chat_interrupted() { "interrupted" "已中断" }
    chat_session(id) { "to go on: netaclaw chat --session {id}" "继续对话：netaclaw chat --session {id}" }
    chat_leave_hint() { "Ctrl-C once more, or /quit, to leave" "再按一次 Ctrl-C 或输入 /quit 退出" }
    chat_queued() { "waits for the answer before it" "等待上一条回答" }
    chat_more_lines(count) { "… {count} more lines" "…… 还有 {count} 行" }
    chat_thinking() { "thinking" "思考" }
    chat_consent(tool) { "May {tool} run?" "是否允许运行 {tool}？" }
    chat_consent_foreign(sources) { "this session has read content from outside: {sources}" "本会话读取过外部内容：{sources}" }
    chat_consent_goes_to(address) { "goes to: {address}" "发往：{address}" }
    chat_foreign_mcp(name) { "MCP server {name}" "MCP 服务器 {name}" }
    chat_foreign_file(name) { "file {name}" "文件 {name}" }
    chat_foreign_image() { "an attached file" "附件" }
    chat_foreign_program(name) { "output of {name}" "{name} 的输出" }
    chat_consent_hint() { "y: yes · a: yes, and the same call for the rest of this session · n: no, n and a reason tells the agent why" "y：允许 · a：允许，本会话内相同的调用不再询问 · n：拒绝，后面可写理由告诉智能体" }
    chat_consent_nobody(tool) { "{tool} needs consent, and nobody can be asked here; start with --yes to agree" "{tool} 需要审批，而此处无人可问；如同意请加 --yes" }
    chat_tools_changed(changes) { "the tools have changed: {changes}" "工具有变化：{changes}" }
    chat_answer_hint() { "answer with a number or in your own words" "请输入编号或直接回答" }
}
