//! Faults of a server, as text.

use netaclaw_protocol::{McpFault, McpFaultCode};

/// A longer error message of a server does not help.
const DETAIL_CHARS_MAX: usize = 400;

pub(super) fn fault(code: McpFaultCode, detail: impl std::fmt::Display) -> McpFault {
    let detail = detail.to_string();
    let detail = detail.chars().map(|char| match char.is_control() {
        true => ' ',
        false => char,
    });
    McpFault {
        code,
        detail: detail.take(DETAIL_CHARS_MAX).collect(),
    }
}

/// For models, and for users in English.
pub fn explain_fault(fault: &McpFault) -> String {
    let what = match fault.code {
        McpFaultCode::NotStarted => "its program could not be started",
        McpFaultCode::Silent => "it did not respond in time",
        McpFaultCode::BadAddress => "its address or a header is not valid",
        McpFaultCode::NotUnderstood => "it does not speak the Model Context Protocol",
        McpFaultCode::Unreachable => "it could not be reached",
        McpFaultCode::Ended => "its program exited",
        McpFaultCode::NoTools => "it does not list its tools",
        McpFaultCode::Lost => "the connection to it was lost",
        McpFaultCode::TooBig => "it sent a message that is too large",
        McpFaultCode::Sealed => "its secrets cannot be decrypted",
    };
    match fault.detail.is_empty() {
        true => what.to_owned(),
        false => format!("{what}: {}", fault.detail),
    }
}
