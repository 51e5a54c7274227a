use super::ContractHarness;
use super::subject::{assert_not_found, by, new_agent, seeded};
use crate::{AdminStore, FIRST_USER};
use netaclaw_protocol::{
    ApprovalScope, ApprovalWithin, AuditAction, NewUser, RecordKind, Role, StandingApproval,
    ToolLabel, User, UserSpec, UserStatus,
};

fn commands(id: &str, user: &User, agent: &str, pattern: &str) -> StandingApproval {
    StandingApproval {
        id: id.to_owned(),
        tool_name: "bash".to_owned(),
        tool_label: ToolLabel {
            zh: "运行命令".to_owned(),
            en: "Run command".to_owned(),
        },
        scope: ApprovalScope::Commands {
            patterns: vec![pattern.to_owned()],
        },
        within: ApprovalWithin::Agent,
        sample: "git 状态 🍵".to_owned(),
        user_id: user.id.clone(),
        agent_id: Some(agent.to_owned()),
        session_id: None,
        granted_by: user.spec.name.clone(),
        granted_at: 1_795_000_000_000,
        tools: [("bash".to_owned(), "hash".to_owned())].into(),
    }
}

async fn users(store: &dyn AdminStore) -> (User, User) {
    let new = NewUser {
        spec: UserSpec {
            name: "other".to_owned(),
            label: String::new(),
            role: Role::User,
            status: UserStatus::Enabled,
        },
        password: None,
    };
    let first = store.user_named(FIRST_USER).await.unwrap();
    (first, store.create_user(by(), new).await.unwrap())
}

pub(super) async fn an_approval_is_of_one_user_and_agent(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let (user, other) = users(&*store).await;
    let one = new_agent(&*store, "one").await.id.to_string();
    let two = new_agent(&*store, "two").await.id.to_string();
    let git = commands("a", &user, &one, "git *");
    for new in [
        git.clone(),
        commands("b", &user, &two, "ls *"),
        commands("c", &other, &one, "ls *"),
    ] {
        store.grant_approval(by(), new).await.unwrap();
    }
    // As another process sees it.
    let store = harness.open().await;
    assert_eq!(store.approvals_for(&user.id, &one).await.unwrap(), [git]);
    let ids =
        |found: Vec<StandingApproval>| found.into_iter().map(|one| one.id).collect::<Vec<_>>();
    assert_eq!(
        ids(store.approvals(Some(&user.id)).await.unwrap()),
        ["a", "b"]
    );
    assert_eq!(ids(store.approvals(None).await.unwrap()), ["a", "b", "c"]);
    assert!(
        store
            .approvals_for(&other.id, &two)
            .await
            .unwrap()
            .is_empty()
    );
}

pub(super) async fn an_approval_is_granted_once(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let (user, _) = users(&*store).await;
    let agent = new_agent(&*store, "one").await.id.to_string();
    store
        .grant_approval(by(), commands("a", &user, &agent, "git *"))
        .await
        .unwrap();
    let again = StandingApproval {
        tools: [("bash".to_owned(), "changed".to_owned())].into(),
        ..commands("b", &user, &agent, "git *")
    };
    store.grant_approval(by(), again.clone()).await.unwrap();
    assert_eq!(store.approvals(None).await.unwrap(), [again]);
}

pub(super) async fn a_revoked_approval_is_gone_and_audited(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let (user, other) = users(&*store).await;
    let agent = new_agent(&*store, "one").await.id.to_string();
    store
        .grant_approval(by(), commands("a", &user, &agent, "git *"))
        .await
        .unwrap();
    assert_not_found(store.revoke_approval(by(), Some(&other.id), "a").await);
    assert_eq!(store.approvals(None).await.unwrap().len(), 1);
    store
        .revoke_approval(by(), Some(&user.id), "a")
        .await
        .unwrap();
    assert!(
        harness
            .open()
            .await
            .approvals(None)
            .await
            .unwrap()
            .is_empty()
    );
    assert_not_found(store.revoke_approval(by(), None, "a").await);
    let audit = store.audit(1, 10).await.unwrap().items;
    let mut acts = audit.iter().filter(|act| act.kind == RecordKind::Approval);
    let (revoked, granted) = (acts.next().unwrap(), acts.next().unwrap());
    assert_eq!(
        (revoked.action, granted.action),
        (AuditAction::Revoke, AuditAction::Create)
    );
    assert!(
        granted.fields.contains(&"commands:git *".to_owned()),
        "{granted:?}"
    );
    assert_eq!(granted.who, by().as_str());
}

pub(super) async fn approvals_go_with_their_agent(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let (user, _) = users(&*store).await;
    let agent = new_agent(&*store, "one").await;
    let id = agent.id.to_string();
    store
        .grant_approval(by(), commands("a", &user, &id, "git *"))
        .await
        .unwrap();
    let deleted = store.delete_agent(by(), &agent.id, crate::Expect::Any);
    deleted.await.unwrap();
    assert!(store.approvals(None).await.unwrap().is_empty());
}
