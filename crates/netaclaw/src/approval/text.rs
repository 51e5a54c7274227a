//! Words about standing approvals.

use crate::text::{Lang, texts};
use std::fmt::Display;

texts! {
    standing_approval() { "standing approval" "长期审批" }
    no_approvals() { "no standing approvals" "没有长期审批" }
    approval_id() { "id" "编号" }
    approval_user() { "granted by" "授予者" }
    approval_covers() { "covers" "范围" }
    approval_where() { "valid in" "有效范围" }
    approval_agent(agent) { "agent {agent}" "智能体 {agent}" }
    approval_revoke_there() { "revoke it there: on the settings page, or with /approvals in the chat" "请在该处吊销：在设置页，或在对话中用 /approvals" }
    scope_call() { "this exact call" "这一次调用（参数相同）" }
    scope_call_of(tool, sample) { "{tool}, this exact call: {sample}" "{tool}，参数相同的调用：{sample}" }
    scope_tool(tool) { "every call of {tool}" "{tool}的所有调用" }
    scope_workspace() { "all edits in the workspace" "修改工作区内的所有文件" }
    scope_folder(folder) { "edits of files below {folder}" "修改 {folder} 下的文件" }
    scope_question() { "What to allow" "允许的范围" }
    within_session() { "This session" "本会话" }
    within_agent() { "All your sessions with this agent" "您与此智能体的所有会话" }
    approvals_revoked(count) { "standing approvals revoked: {count}" "已吊销 {count} 项长期审批" }
}
