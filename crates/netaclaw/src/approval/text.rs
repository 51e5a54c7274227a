//! Words about standing approvals.

use crate::text::{Lang, texts};
use std::fmt::Display;

texts! {
    standing_approval() { "standing approval" "长期审批" }
    no_approvals() { "no standing approvals for agents" "没有智能体的长期审批" }
    approval_id() { "id" "编号" }
    approval_user() { "granted by" "授予者" }
    approval_covers() { "covers" "范围" }
    approval_call(tool, sample) { "{tool}, this call only: {sample}" "{tool}，仅此调用：{sample}" }
    approval_tool(tool) { "every call of {tool}" "{tool} 的所有调用" }
    approval_edits(folder) { "edits of files below {folder}" "修改 {folder} 下的文件" }
    approvals_revoked(count) { "standing approvals revoked: {count}" "已吊销 {count} 项长期审批" }
}
