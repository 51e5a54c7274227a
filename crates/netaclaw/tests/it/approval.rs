//! Standing approvals on the command line.

use crate::support::Workspace;

#[test]
fn there_are_none_at_first_and_an_unknown_one_is_not_revoked() {
    let workspace = Workspace::new();
    assert_eq!(workspace.out("approval list"), "no standing approvals\n");
    assert_eq!(
        workspace.json("approval list --json"),
        serde_json::json!([])
    );
    assert_eq!(
        workspace.out("approval revoke --all"),
        "standing approvals revoked: 0\n"
    );
    let refused = workspace.run("approval revoke nothing");
    assert_eq!(refused.code, 1);
    assert!(
        refused.err.contains("standing approval") && refused.err.contains("approval list"),
        "{}",
        refused.err
    );
    assert_eq!(workspace.run("approval revoke").code, 2);
}
