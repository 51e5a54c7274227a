//! What a standing approval covers, in the same words as in the web app.

use crate::text::Lang;
use netaclaw_protocol::{ApprovalScope, ApprovalWithin};

/// The folder that is the workspace.
const WORKSPACE: &str = ".";

/// What a scope covers. `sample` is the beginning of the call that it was granted for, if there is
/// room for it.
pub(crate) fn scope_text(lang: Lang, scope: &ApprovalScope, tool: &str, sample: &str) -> String {
    match scope {
        ApprovalScope::Call { .. } if sample.is_empty() => lang.scope_call(),
        ApprovalScope::Call { .. } => lang.scope_call_of(tool, sample),
        ApprovalScope::Tool => lang.scope_tool(tool),
        ApprovalScope::Edits { .. } if is_workspace(scope) => lang.scope_workspace(),
        ApprovalScope::Edits { folder } => lang.scope_folder(format!("{folder}/")),
        ApprovalScope::Commands { patterns } => patterns.join(" · "),
    }
}

/// All edits in the workspace.
pub(crate) fn is_workspace(scope: &ApprovalScope) -> bool {
    matches!(scope, ApprovalScope::Edits { folder } if folder == WORKSPACE)
}

pub(crate) fn within_text(lang: Lang, within: ApprovalWithin) -> String {
    match within {
        ApprovalWithin::Session => lang.within_session(),
        ApprovalWithin::Agent => lang.within_agent(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_named_as_in_the_web_app() {
        let english = include_str!("../../../../web/src/i18n/en/ui.ts");
        let chinese = include_str!("../../../../web/src/i18n/zh/ui.ts");
        for (lang, web) in [(Lang::En, english), (Lang::Zh, chinese)] {
            for (key, text) in [
                ("call", lang.scope_call()),
                ("callOf", lang.scope_call_of("{tool}", "{sample}")),
                ("tool", lang.scope_tool("{tool}")),
                ("workspace", lang.scope_workspace()),
                ("folder", lang.scope_folder("{what}")),
                ("what", lang.scope_question()),
                ("more", lang.chat_allow_more()),
            ] {
                let line = format!("{key}: '{text}',");
                let same = |line: &str, text: &str| line.trim().eq_ignore_ascii_case(text);
                assert!(web.lines().any(|known| same(known, &line)), "{line}");
            }
            let [session, agent] =
                [ApprovalWithin::Session, ApprovalWithin::Agent].map(|w| within_text(lang, w));
            let line = format!("within: {{ session: '{session}', agent: '{agent}' }},");
            assert!(web.contains(&line), "{line}");
        }
    }

    #[test]
    fn a_folder_is_written_as_one_and_the_workspace_by_name() {
        let edits = |folder: &str| ApprovalScope::Edits {
            folder: folder.to_owned(),
        };
        let text = |scope| scope_text(Lang::En, &scope, "Edit file", "");
        assert_eq!(text(edits("notes")), "edits of files below notes/");
        assert_eq!(text(edits(".")), "all edits in the workspace");
    }
}
