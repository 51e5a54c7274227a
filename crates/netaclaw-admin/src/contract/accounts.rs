use super::ContractHarness;
use super::subject::{
    assert_conflict, assert_invalid, assert_not_found, by, seeded, within_a_second,
};
use crate::{
    Access, AdminStore, BROWSER_LABEL, Expect, FIRST_USER, IssuedToken, LoginCheck, PasswordChange,
    TokenCheck,
};
use netaclaw_protocol::{
    AuditAction, NewUser, RecordKind, Role, Token, TokenId, TokenScope, TokenSpec, User, UserSpec,
    UserStatus, now_ms,
};
use secrecy::{ExposeSecret, SecretString};

const PASSWORD: &str = "correct horse 电池";

fn spec(name: &str, role: Role) -> UserSpec {
    UserSpec {
        name: name.to_owned(),
        label: "Ünal".to_owned(),
        role,
        status: UserStatus::Enabled,
    }
}

async fn new_user(store: &dyn AdminStore, name: &str, password: Option<&str>) -> User {
    let new = NewUser {
        spec: spec(name, Role::User),
        password: password.map(SecretString::from),
    };
    store.create_user(by(), new).await.unwrap()
}

async fn logs_in(store: &dyn AdminStore, name: &str, password: &str) -> bool {
    let check = store.check_login(name, &password.into()).await.unwrap();
    matches!(check, LoginCheck::Right(user) if user.spec.name == name)
}

pub(super) async fn a_user_logs_in_with_the_password_and_nothing_else(
    harness: &dyn ContractHarness,
) {
    let store = seeded(harness).await;
    let user = new_user(&*store, "ana", Some(PASSWORD)).await;
    assert!(user.password_set);
    let store = harness.open().await;
    assert_eq!(store.user_named("ana").await.unwrap(), user);
    assert!(logs_in(&*store, "ana", PASSWORD).await);
    assert!(!logs_in(&*store, "ana", "correct horse").await);
    assert!(!logs_in(&*store, "bob", PASSWORD).await);
    // The first user has no password, and so none that fits.
    assert!(!logs_in(&*store, FIRST_USER, "").await);

    let text = format!("{user:?} {}", serde_json::to_string(&user).unwrap());
    assert!(
        !text.contains("argon2") && !text.contains("horse"),
        "{text}"
    );
    let acts = store.audit(1, 4).await.unwrap().items;
    let actions: Vec<AuditAction> = acts.iter().map(|act| act.action).collect();
    use AuditAction::{Login, LoginRefused};
    assert_eq!(actions, [LoginRefused, LoginRefused, LoginRefused, Login]);
    // An unknown name may be a password in the wrong field.
    let names: Vec<&str> = acts.iter().map(|act| act.target_name.as_str()).collect();
    assert_eq!(names, [FIRST_USER, "", "ana", "ana"]);

    let disabled = UserSpec {
        status: UserStatus::Disabled,
        ..user.spec
    };
    let disabled = store.update_user(by(), &user.id, Expect::Any, disabled, PasswordChange::Keep);
    assert!(disabled.await.unwrap().password_set);
    assert!(!logs_in(&*store, "ana", PASSWORD).await);
}

pub(super) async fn a_password_is_replaced_and_cleared(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let user = new_user(&*store, "ana", None).await;
    assert!(!user.password_set);
    let change =
        |password| store.update_user(by(), &user.id, Expect::Any, user.spec.clone(), password);
    let set = change(PasswordChange::Set(PASSWORD.into())).await.unwrap();
    assert_eq!((set.stamp.rev, set.password_set), (2, true));
    assert!(logs_in(&*store, "ana", PASSWORD).await);
    let cleared = change(PasswordChange::Clear).await.unwrap();
    assert!(!cleared.password_set);
    assert!(!logs_in(&*store, "ana", PASSWORD).await);
    store
        .delete_user(by(), &user.id, Expect::Rev(3))
        .await
        .unwrap();
}

pub(super) async fn passwords_have_a_least_length(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let new = NewUser {
        spec: spec("ana", Role::User),
        password: Some("1234567".into()),
    };
    assert_invalid(store.create_user(by(), new).await, "password");
    assert_not_found(store.user_named("ana").await);
}

pub(super) async fn an_administrator_stays(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let admin = store.user_named(FIRST_USER).await.unwrap();
    assert_eq!(admin.spec.role, Role::Admin);
    let change = |spec| store.update_user(by(), &admin.id, Expect::Any, spec, PasswordChange::Keep);
    assert_invalid(
        store.delete_user(by(), &admin.id, Expect::Any).await,
        "role",
    );
    assert_invalid(change(spec(FIRST_USER, Role::User)).await, "role");
    let disabled = UserSpec {
        status: UserStatus::Disabled,
        ..spec(FIRST_USER, Role::Admin)
    };
    assert_invalid(change(disabled.clone()).await, "role");
    assert_eq!(store.user(&admin.id).await.unwrap(), admin);

    let second = NewUser {
        spec: spec("second", Role::Admin),
        password: None,
    };
    store.create_user(by(), second).await.unwrap();
    change(disabled).await.unwrap();
}

pub(super) async fn a_user_is_changed_only_at_the_expected_revision(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let user = new_user(&*store, "ana", None).await;
    let rename = |rev, name: &str| {
        let spec = spec(name, Role::User);
        store.update_user(by(), &user.id, Expect::Rev(rev), spec, PasswordChange::Keep)
    };
    assert_eq!(rename(1, "anna").await.unwrap().stamp.rev, 2);
    assert_conflict(rename(1, "hanna").await, RecordKind::User, 2);
    let gone = store.delete_user(by(), &user.id, Expect::Rev(1)).await;
    assert_conflict(gone, RecordKind::User, 2);
    assert!(rename(2, FIRST_USER).await.is_err());
    assert_eq!(store.user(&user.id).await.unwrap().spec.name, "anna");
}

async fn issue(store: &dyn AdminStore, user: &User) -> IssuedToken {
    let spec = TokenSpec {
        user_id: user.id.clone(),
        label: "脚本".to_owned(),
        scope: TokenScope::Chat,
        expires_at: None,
    };
    store.issue_token(by(), spec).await.unwrap()
}

async fn check(store: &dyn AdminStore, secret: &SecretString) -> TokenCheck {
    store.check_token(secret).await.unwrap()
}

pub(super) async fn a_token_lets_its_user_in(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let user = new_user(&*store, "ana", None).await;
    let IssuedToken { token, secret } = issue(&*store, &user).await;
    assert_eq!(token.last_used_at, None);
    let other = harness.open().await;
    let TokenCheck::Right(access) = check(&*other, &secret).await else {
        panic!("the token was refused");
    };
    let Access {
        user: who,
        token: used,
    } = *access;
    assert_eq!(who, user);
    let expected = Token {
        last_used_at: used.last_used_at,
        ..token
    };
    assert_eq!(used, expected);
    assert!(used.last_used_at.is_some());
    // Uses are written together and later, so another store sees only its own.
    let TokenCheck::Right(again) = check(&*store, &secret).await else {
        panic!("the token was refused the second time");
    };
    assert_eq!(again.user, who);
    assert!(again.token.last_used_at >= used.last_used_at);
    let tokens = std::slice::from_ref(&again.token);
    assert_eq!(store.tokens().await.unwrap(), tokens);
    assert_eq!(store.tokens_of(&user.id).await.unwrap(), tokens);
    let admin = store.user_named(FIRST_USER).await.unwrap();
    assert!(store.tokens_of(&admin.id).await.unwrap().is_empty());

    let half = secret.expose_secret().rsplit('_').next().unwrap();
    let audit = store.audit(1, 100).await.unwrap();
    for text in [
        format!("{secret:?} {used:?} {audit:?}"),
        serde_json::to_string(&(&used, &audit)).unwrap(),
    ] {
        assert!(!text.contains(half), "{text}");
    }
}

pub(super) async fn a_wrong_token_is_refused(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let user = new_user(&*store, "ana", None).await;
    let one = issue(&*store, &user).await.secret;
    let two = issue(&*store, &user).await.secret;
    let one = one.expose_secret();
    let (head, _) = one.rsplit_once('_').unwrap();
    let (_, tail) = two.expose_secret().rsplit_once('_').unwrap();
    let mixed = format!("{head}_{tail}");
    let longer = format!("{one}0");
    let upper = one.to_uppercase();
    for wrong in [
        "",
        "neta_",
        "neta__",
        "x",
        head,
        &one[..one.len() - 1],
        &longer,
        &mixed,
        &upper,
    ] {
        let wrong = SecretString::from(wrong);
        assert_eq!(check(&*store, &wrong).await, TokenCheck::Unknown);
    }
}

pub(super) async fn a_token_ends_when_it_is_revoked_or_its_user_goes(
    harness: &dyn ContractHarness,
) {
    let store = seeded(harness).await;
    let user = new_user(&*store, "ana", None).await;
    let first = issue(&*store, &user).await;
    let second = issue(&*store, &user).await;
    let revoked = store.revoke_token(by(), &first.token.id).await.unwrap();
    assert!(revoked.revoked_at.is_some());
    assert_eq!(revoked.stamp.rev, 2);
    let again = store.revoke_token(by(), &first.token.id).await.unwrap();
    assert_eq!(again, revoked);
    assert_eq!(check(&*store, &first.secret).await, TokenCheck::Revoked);
    assert_not_found(store.revoke_token(by(), &"no".into()).await);

    let disabled = UserSpec {
        status: UserStatus::Disabled,
        ..user.spec.clone()
    };
    let disabled = store.update_user(by(), &user.id, Expect::Any, disabled, PasswordChange::Keep);
    disabled.await.unwrap();
    assert_eq!(
        check(&*store, &second.secret).await,
        TokenCheck::UserDisabled
    );
    store
        .delete_user(by(), &user.id, Expect::Any)
        .await
        .unwrap();
    assert_eq!(check(&*store, &second.secret).await, TokenCheck::Unknown);
    assert!(store.tokens().await.unwrap().is_empty());
}

pub(super) async fn a_token_ends_within_a_second_wherever_it_was_revoked(
    harness: &dyn ContractHarness,
) {
    let store = seeded(harness).await;
    let other = harness.open().await;
    let ann = new_user(&*store, "ann", None).await;
    let (one, two) = (issue(&*store, &ann).await, issue(&*store, &ann).await);
    for token in [&one, &two] {
        let checked = check(&*store, &token.secret).await;
        assert!(matches!(checked, TokenCheck::Right(_)), "{checked:?}");
    }
    other.revoke_token(by(), &one.token.id).await.unwrap();
    within_a_second(async || {
        let checked = check(&*store, &one.secret).await;
        matches!(checked, TokenCheck::Revoked)
    })
    .await;
    let mut disabled = ann.spec;
    disabled.status = UserStatus::Disabled;
    let changed = other.update_user(by(), &ann.id, Expect::Any, disabled, PasswordChange::Keep);
    changed.await.unwrap();
    within_a_second(async || {
        let checked = check(&*store, &two.secret).await;
        matches!(checked, TokenCheck::UserDisabled)
    })
    .await;
}

pub(super) async fn a_browsers_token_ends_with_the_one_it_came_in_with(
    harness: &dyn ContractHarness,
) {
    let store = seeded(harness).await;
    let user = new_user(&*store, "ana", None).await;
    let spec = |expires_at| TokenSpec {
        user_id: user.id.clone(),
        label: String::new(),
        scope: TokenScope::Full,
        expires_at,
    };
    let soon = now_ms() + 3_600_000;
    let with = store.issue_token(by(), spec(Some(soon))).await.unwrap();
    let other = issue(&*store, &user).await;
    let under = async |with: &TokenId, expires_at| {
        let issued = store.issue_token_with(by(), spec(expires_at), with).await;
        issued.unwrap()
    };
    let browser = under(&with.token.id, Some(soon + 1)).await;
    assert_eq!(browser.token.issued_with, Some(with.token.id.clone()));
    assert_eq!(browser.token.spec.expires_at, Some(soon));
    let nested = under(&browser.token.id, None).await;
    assert_eq!(nested.token.spec.expires_at, Some(soon));
    let beside = under(&other.token.id, Some(soon - 1)).await;
    assert_eq!(beside.token.spec.expires_at, Some(soon - 1));
    let listed = store.tokens().await.unwrap();
    assert!(listed.contains(&browser.token), "{listed:?}");

    store.revoke_token(by(), &with.token.id).await.unwrap();
    for ended in [&browser, &nested] {
        assert_eq!(check(&*store, &ended.secret).await, TokenCheck::Revoked);
    }
    for lasting in [&other, &beside] {
        let checked = check(&*store, &lasting.secret).await;
        assert!(matches!(checked, TokenCheck::Right(_)), "{checked:?}");
    }
    let late = store.issue_token_with(by(), spec(None), &with.token.id);
    assert_not_found(late.await);
}

pub(super) async fn a_changed_password_ends_the_browsers_that_came_in_with_it(
    harness: &dyn ContractHarness,
) {
    let store = seeded(harness).await;
    let user = new_user(&*store, "ana", None).await;
    let bob = new_user(&*store, "bob", Some(PASSWORD)).await;
    let program = issue(&*store, &user).await;
    let spec = |user: &User| TokenSpec {
        user_id: user.id.clone(),
        label: BROWSER_LABEL.to_owned(),
        scope: TokenScope::Full,
        expires_at: None,
    };
    let browser = async |user| store.issue_token(by(), spec(user)).await.unwrap();
    let (old, own, bobs) = (
        browser(&user).await,
        browser(&user).await,
        browser(&bob).await,
    );
    let with = &program.token.id;
    let by_token = store
        .issue_token_with(by(), spec(&user), with)
        .await
        .unwrap();
    let here = by().clone().with_token(Some(own.token.id.clone()));
    let change =
        |password| store.update_user(&here, &user.id, Expect::Any, user.spec.clone(), password);
    let lasts = async |issued: &IssuedToken| {
        matches!(check(&*store, &issued.secret).await, TokenCheck::Right(_))
    };

    // No browser can have logged in with a password that did not exist.
    change(PasswordChange::Set(PASSWORD.into())).await.unwrap();
    change(PasswordChange::Keep).await.unwrap();
    assert!(lasts(&old).await);
    change(PasswordChange::Set("another one".into()))
        .await
        .unwrap();
    assert_eq!(check(&*store, &old.secret).await, TokenCheck::Revoked);
    let late = browser(&user).await;
    change(PasswordChange::Clear).await.unwrap();
    assert_eq!(check(&*store, &late.secret).await, TokenCheck::Revoked);
    for lasting in [&own, &bobs, &program, &by_token] {
        assert!(lasts(lasting).await, "{:?}", lasting.token);
    }
}

pub(super) async fn a_token_expires(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let user = new_user(&*store, "ana", None).await;
    let spec = |expires_at| TokenSpec {
        user_id: user.id.clone(),
        label: String::new(),
        scope: TokenScope::Read,
        expires_at: Some(expires_at),
    };
    // On a slow machine the shortest time has passed before the token is made.
    for time in [50, 500, 5_000, 50_000] {
        let expires_at = now_ms() + time;
        let Ok(issued) = store.issue_token(by(), spec(expires_at)).await else {
            continue;
        };
        while now_ms() <= expires_at {
            tokio::task::yield_now().await;
        }
        assert_eq!(check(&*store, &issued.secret).await, TokenCheck::Expired);
        break;
    }
    let lasting = spec(now_ms() + 3_600_000);
    let secret = store.issue_token(by(), lasting).await.unwrap().secret;
    assert!(matches!(
        check(&*store, &secret).await,
        TokenCheck::Right(_)
    ));
}

pub(super) async fn a_token_needs_a_user_and_a_future(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let user = store.user_named(FIRST_USER).await.unwrap();
    let spec = TokenSpec {
        user_id: user.id,
        label: String::new(),
        scope: TokenScope::Full,
        expires_at: Some(now_ms() - 1),
    };
    let late = store.issue_token(by(), spec.clone()).await;
    assert_invalid(late, "expiresAt");
    let nobodys = TokenSpec {
        user_id: "missing".into(),
        expires_at: None,
        ..spec
    };
    assert_invalid(store.issue_token(by(), nobodys).await, "userId");
}

pub(super) async fn dead_tokens_are_forgotten(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let user = new_user(&*store, "ana", None).await;
    let living = issue(&*store, &user).await;
    let revoked = issue(&*store, &user).await;
    let revoked = store.revoke_token(by(), &revoked.token.id).await.unwrap();
    let at = revoked.revoked_at.unwrap();
    store.forget_tokens(at).await.unwrap();
    assert_eq!(store.tokens().await.unwrap().len(), 2);
    store.forget_tokens(at + 1).await.unwrap();
    let left = store.tokens().await.unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].id, living.token.id);
}
