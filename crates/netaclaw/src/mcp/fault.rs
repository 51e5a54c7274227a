//! Faults of MCP servers, in both languages.

use crate::text::Lang;
use netaclaw_protocol::{McpFault, McpFaultCode};
use netaclaw_tools::mcp::explain_fault;

pub(crate) fn explain(lang: Lang, fault: &McpFault) -> String {
    if lang == Lang::En {
        return explain_fault(fault);
    }
    let what = match fault.code {
        McpFaultCode::NotStarted => "程序无法启动",
        McpFaultCode::Silent => "没有及时应答",
        McpFaultCode::BadAddress => "地址或请求头无效",
        McpFaultCode::NotUnderstood => "没有使用 MCP 协议",
        McpFaultCode::Unreachable => "无法连接",
        McpFaultCode::Ended => "程序已退出",
        McpFaultCode::NoTools => "没有列出工具",
        McpFaultCode::Lost => "连接已断开",
        McpFaultCode::TooBig => "单条消息过大",
        McpFaultCode::Sealed => "密钥无法解密",
    };
    match fault.detail.is_empty() {
        true => what.to_owned(),
        false => format!("{what}：{}", fault.detail),
    }
}
