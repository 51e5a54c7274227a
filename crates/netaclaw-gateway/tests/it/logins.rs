//! Guessing takes long, and does not lock others out.

use crate::http::{Request, Response, plain};
use crate::server::Server;
use netaclaw_admin::{Actor, UserStore};
use netaclaw_gateway::AuthSettings;
use netaclaw_protocol::{NewUser, Role, UserSpec, UserStatus};
use serde_json::json;

const PASSWORD: &str = "a good password";
const ELSEWHERE: [u8; 4] = [127, 0, 0, 2];

async fn add(server: &Server, name: &str) {
    let new = NewUser {
        spec: UserSpec {
            name: name.to_owned(),
            label: String::new(),
            role: Role::User,
            status: UserStatus::Enabled,
        },
        password: Some(PASSWORD.into()),
    };
    let made = server.admin.create_user(&Actor::system(), new).await;
    made.unwrap();
}

fn login<'a>(server: &Server, name: &str, password: &str) -> Request<'a> {
    plain(server.address, "POST", "/admin/netaclaw/login")
        .json(json!({ "name": name, "password": password }))
}

/// Five wrong passwords, and then the right one.
async fn after_guesses<'a>(login: impl Fn(&str) -> Request<'a>) -> Response {
    for _ in 0..5 {
        assert_eq!(login("wrong").send().await.status, 401);
    }
    login(PASSWORD).send().await
}

#[tokio::test]
async fn guessing_is_slowed_down_and_locks_no_other_address_out() {
    let server = Server::start().await;
    add(&server, "ann").await;
    let right = login(&server, "ann", PASSWORD).send().await;
    assert_eq!((right.status, &right.json()["role"]), (200, &json!("user")));
    assert!(right.header("set-cookie").contains("HttpOnly"));

    let guesser = |password: &str| login(&server, "ann", password).from(ELSEWHERE);
    let waits = after_guesses(guesser).await;
    assert_eq!(waits.status, 429);
    assert_ne!(waits.header("retry-after"), "");
    let right = login(&server, "ann", PASSWORD).send().await;
    assert_eq!(right.status, 200, "Ann is at another address");
}

#[tokio::test]
async fn a_browser_that_logged_in_before_passes_where_others_wait() {
    let server = Server::start().await;
    add(&server, "ann").await;
    add(&server, "bob").await;
    let right = login(&server, "ann", PASSWORD).send().await;
    let proof = right.headers.iter().find_map(|(name, value)| {
        let is_proof = name == "set-cookie" && value.starts_with("netaclaw_known=");
        is_proof.then(|| value.split(';').next().unwrap().to_owned())
    });
    let proof = proof.unwrap();
    let again = login(&server, "ann", PASSWORD).header("cookie", &proof);
    let again = again.send().await;
    assert!(!format!("{:?}", again.headers).contains("netaclaw_known"));

    for name in ["ann", "bob"] {
        let waits = after_guesses(|password| login(&server, name, password)).await;
        assert_eq!(waits.status, 429, "{name}");
    }
    let known = login(&server, "ann", PASSWORD).header("cookie", &proof);
    assert_eq!(known.send().await.status, 200);
    let other = login(&server, "bob", PASSWORD).header("cookie", &proof);
    assert_eq!(other.send().await.status, 429, "Bob did not log in there");
    // A browser that guesses is counted as well.
    let guesser = |password: &str| login(&server, "ann", password).header("cookie", &proof);
    assert_eq!(after_guesses(guesser).await.status, 429);
}

#[tokio::test]
async fn what_clients_say_about_their_address_does_not_count() {
    let server = Server::start().await;
    add(&server, "ann").await;
    let number = std::cell::Cell::new(0);
    let guesser = |password: &str| {
        number.set(number.get() + 1);
        let address = format!("192.0.2.{}", number.get());
        login(&server, "ann", password)
            .header("x-forwarded-for", &address)
            .header("forwarded", format!("for={address}"))
    };
    assert_eq!(after_guesses(guesser).await.status, 429);
}

#[tokio::test]
async fn what_a_trusted_proxy_says_about_an_address_counts() {
    let server = Server::start_with_auth(AuthSettings {
        trusted_proxies: vec!["127.0.0.1/32".parse().unwrap()],
        ..AuthSettings::default()
    })
    .await;
    add(&server, "ann").await;
    let behind = |client: &str, password: &str| {
        login(&server, "ann", password).header("x-forwarded-for", client)
    };
    // The client writes the left part, the proxy the right one.
    let number = std::cell::Cell::new(0);
    let guesser = |password: &str| {
        number.set(number.get() + 1);
        let list = format!("192.0.2.{}, 203.0.113.5", number.get());
        behind(&list, password)
    };
    assert_eq!(after_guesses(guesser).await.status, 429);
    assert_eq!(behind("203.0.113.6", PASSWORD).send().await.status, 200);
    // A client that reaches the server without the proxy is not believed.
    let direct = |password: &str| behind("203.0.113.7", password).from(ELSEWHERE);
    assert_eq!(after_guesses(direct).await.status, 429);
    assert_eq!(behind("203.0.113.7", PASSWORD).send().await.status, 200);
}
