//! Keys are nowhere to be found, and what was tampered with is an error.

use super::{KEY, Place, new_channel};
use netaclaw_admin::{
    Actor, AdminError, AdminStore, ChannelStore, Expect, FirstStart, IssuedToken, TokenStore,
    UserStore,
};
use netaclaw_protocol::{
    ChannelId, KeyChange, NewUser, Role, TokenScope, TokenSpec, UserSpec, UserStatus,
};
use netaclaw_store::SqlAdminStore;
use secrecy::ExposeSecret;
use sqlx::Executor;
use std::os::unix::fs::PermissionsExt;

async fn assert_sealed(store: &SqlAdminStore, id: &ChannelId, name: &str) {
    let error = store.open_channel(id).await.unwrap_err();
    assert!(matches!(error, AdminError::Sealed { .. }), "{error}");
    assert!(error.to_string().contains(name), "{error}");
}

#[tokio::test]
async fn no_file_of_the_database_holds_a_secret() {
    let place = Place::sqlite();
    let store = place.store().await;
    store.seed(FirstStart::default()).await.unwrap();
    let by = Actor::command_line();
    let channel = new_channel(&store, "c").await;
    let key = KeyChange::Set(format!("{KEY}-second").into());
    let renewed = store.update_channel(&by, &channel.id, Expect::Any, channel.spec, key);
    renewed.await.unwrap();
    let user = NewUser {
        spec: UserSpec {
            name: "ana".to_owned(),
            label: String::new(),
            role: Role::User,
            status: UserStatus::Enabled,
        },
        password: Some("marker-password-1".into()),
    };
    let user = store.create_user(&by, user).await.unwrap();
    let spec = TokenSpec {
        user_id: user.id,
        label: "l".to_owned(),
        scope: TokenScope::Full,
        expires_at: None,
    };
    let IssuedToken { secret, .. } = store.issue_token(&by, spec).await.unwrap();
    let secret = secret
        .expose_secret()
        .rsplit('_')
        .next()
        .unwrap()
        .to_owned();

    // While it is open the newest rows are in the write-ahead log.
    let mut names = Vec::new();
    for round in ["open", "closed"] {
        for entry in std::fs::read_dir(place.file().parent().unwrap()).unwrap() {
            let entry = entry.unwrap();
            let bytes = std::fs::read(entry.path()).unwrap();
            for needle in ["marker", secret.as_str()] {
                let found = bytes.windows(needle.len()).any(|w| w == needle.as_bytes());
                assert!(!found, "{needle} in {:?} while {round}", entry.file_name());
            }
            let mode = entry.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{:?}", entry.file_name());
            names.push(format!("{round} {}", entry.file_name().display()));
        }
        store.close().await;
    }
    assert!(
        names.contains(&"open netaclaw.db-wal".to_owned()),
        "{names:?}"
    );
    assert!(
        names.contains(&"closed netaclaw.db".to_owned()),
        "{names:?}"
    );
}

#[tokio::test]
async fn a_database_others_could_read_is_closed_to_them() {
    let place = Place::sqlite();
    std::fs::write(place.file(), "").unwrap();
    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(place.file(), open).unwrap();
    place.store().await;
    let mode = std::fs::metadata(place.file())
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

async fn another_key_opens_nothing(place: Place) {
    let id = new_channel(&place.store().await, "mine").await.id;
    let other = place.open_with("01").await;
    assert_sealed(&other, &id, "mine").await;
    // The channel itself is there, and can be given its key again.
    let view = other.channel(&id).await.unwrap();
    assert!(view.api_key_set);
    let key = KeyChange::Set(KEY.into());
    let by = Actor::command_line();
    other
        .update_channel(&by, &id, Expect::Any, view.spec, key)
        .await
        .unwrap();
    let opened = other.open_channel(&id).await.unwrap();
    assert_eq!(opened.api_key.unwrap().expose_secret(), KEY);
}

#[tokio::test]
async fn another_key_opens_nothing_in_sqlite() {
    another_key_opens_nothing(Place::sqlite()).await;
}

#[tokio::test]
async fn another_key_opens_nothing_in_mysql() {
    another_key_opens_nothing(Place::mysql()).await;
}

async fn a_row_that_was_tampered_with_is_not_opened(place: Place) {
    let store = place.store().await;
    let one = new_channel(&store, "one").await.id;
    let two = new_channel(&store, "two").await.id;
    let mut sql = place.sql().await;
    let set = "UPDATE netaclaw_channel SET sealedKey = ? WHERE id = ?";
    let sealed: Vec<u8> = sqlx::query_scalar("SELECT sealedKey FROM netaclaw_channel WHERE id = ?")
        .bind(one.as_str())
        .fetch_one(&mut sql)
        .await
        .unwrap();
    let mut bent = sealed.clone();
    *bent.last_mut().unwrap() ^= 1;
    // One channel's key in another's row, a changed byte, the key itself, and nothing.
    for (id, name, bytes) in [
        (&two, "two", sealed.clone()),
        (&one, "one", bent),
        (&one, "one", KEY.as_bytes().to_vec()),
        (&one, "one", Vec::new()),
    ] {
        let write = sqlx::query(set).bind(bytes).bind(id.as_str());
        write.execute(&mut sql).await.unwrap();
        assert_sealed(&store, id, name).await;
    }
    let write = sqlx::query(set).bind(sealed).bind(one.as_str());
    write.execute(&mut sql).await.unwrap();
    store.open_channel(&one).await.unwrap();
}

#[tokio::test]
async fn a_row_that_was_tampered_with_is_not_opened_in_sqlite() {
    a_row_that_was_tampered_with_is_not_opened(Place::sqlite()).await;
}

#[tokio::test]
async fn a_row_that_was_tampered_with_is_not_opened_in_mysql() {
    a_row_that_was_tampered_with_is_not_opened(Place::mysql()).await;
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_reported_with_its_name() {
    let place = Place::sqlite();
    let store = place.store().await;
    new_channel(&store, "broken").await;
    let mut sql = place.sql().await;
    sql.execute("UPDATE netaclaw_channel SET data = '{'")
        .await
        .unwrap();
    let error = store.channels().await.unwrap_err().to_string();
    assert!(error.contains("broken"), "{error}");
}
