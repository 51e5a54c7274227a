//! Words of the terminal chat.

use crate::text::{Lang, texts};
use std::fmt::Display;

texts! {
    chat_welcome(agent) { "Chatting with {agent}. /help tells what else can be said." "正在与 {agent} 对话。输入 /help 查看可用命令。" }
    chat_help() {
        "/tree            the session as a tree\n/branch ENTRY    go on from an earlier entry\n/new             begin another session\n/quit            leave; Ctrl-C stops an answer"
        "/tree            以树的形式显示会话\n/branch 条目     从较早的条目继续\n/new             开始新的会话\n/quit            退出；Ctrl-C 停止回答"
    }
    chat_no_session() { "nothing has been said yet" "还没有对话" }
    chat_branched(entry) { "the next message goes on from {entry}" "下一条消息将从 {entry} 继续" }
    chat_unknown_command(command) { "{command} is no command; /help lists them" "没有命令 {command}；输入 /help 查看" }
    chat_stopping() { "stopping" "正在停止" }
    chat_stopped() { "stopped" "已停止" }
    chat_interrupted() { "interrupted" "已中断" }
    chat_session(id) { "session {id}" "会话 {id}" }
    chat_queued() { "waits for the answer before it" "等待上一条回答" }
    chat_thinking() { "thinking" "思考" }
    chat_answer_hint() { "answer with a number or in your own words" "请输入编号或直接回答" }
}
