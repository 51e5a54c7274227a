//! Other sites and other names: what they may do, and what not.

use crate::http::{Request, plain, request};
use crate::server::{Server, TOKEN};
use netaclaw_gateway::AuthSettings;
use serde_json::json;

const FRIEND: &str = "https://app.example.org";
const POLLING: &str = "/socket.io/?EIO=4&transport=polling";
const LOGIN: &str = "/admin/netaclaw/login";

async fn server() -> Server {
    Server::start_with_auth(AuthSettings {
        allowed_origins: vec![FRIEND.to_owned()],
        public_url: Some("https://neta.example".to_owned()),
        ..AuthSettings::default()
    })
    .await
}

#[tokio::test]
async fn pages_of_allowed_origins_use_rest_and_polling() {
    let server = server().await;
    for (method, path) in [
        ("PUT", "/admin/netaclaw/agents/x"),
        ("DELETE", "/admin/netaclaw/tokens/x"),
        ("POST", LOGIN),
        ("POST", POLLING),
    ] {
        let preflight = plain(server.address, "OPTIONS", path)
            .header("origin", FRIEND)
            .header("access-control-request-method", method)
            .header("access-control-request-headers", "authorization,if-match");
        let preflight = preflight.send().await;
        assert_eq!(preflight.status, 200, "{path}: {}", preflight.text);
        let header = |name: &str| preflight.header(&format!("access-control-{name}"));
        assert_eq!(header("allow-origin"), FRIEND, "{path}");
        assert_eq!(header("allow-credentials"), "true");
        assert!(header("allow-methods").contains(method), "{path}");
        assert_eq!(header("allow-headers"), "authorization,if-match");
    }
    let login = json!({ "token": TOKEN });
    let answers = [
        request(server.address, "GET", "/admin/netaclaw/me"),
        plain(server.address, "GET", "/admin/netaclaw/me"),
        plain(server.address, "POST", LOGIN).json(login),
        plain(server.address, "GET", POLLING),
    ];
    for (answer, status) in answers.into_iter().zip([200, 401, 200, 200]) {
        let answer = answer.header("origin", FRIEND).send().await;
        assert_eq!(answer.status, status, "{}", answer.text);
        assert_eq!(answer.header("access-control-allow-origin"), FRIEND);
        assert_eq!(answer.header("access-control-allow-credentials"), "true");
        assert!(answer.header("vary").contains("origin"));
    }
}

#[tokio::test]
async fn only_the_exact_origin_is_allowed() {
    let server = server().await;
    for origin in [
        "https://app.example.org.evil.test",
        "https://evil-app.example.org",
        "http://app.example.org",
        "https://app.example.org:8443",
        "https://neta.example",
        "null",
        "*",
    ] {
        let read = request(server.address, "GET", "/admin/netaclaw/me");
        let read = read.header("origin", origin).send().await;
        assert_eq!(read.header("access-control-allow-origin"), "", "{origin}");
        let preflight = plain(server.address, "OPTIONS", "/admin/netaclaw/agents")
            .header("origin", origin)
            .header("access-control-request-method", "POST");
        let preflight = preflight.send().await;
        let allowed = preflight.header("access-control-allow-origin");
        assert_eq!(allowed, "", "{origin}");
    }
    let server = Server::start().await;
    let read = request(server.address, "GET", "/admin/netaclaw/me").header("origin", FRIEND);
    assert_eq!(read.send().await.header("access-control-allow-origin"), "");
}

#[tokio::test]
async fn a_name_that_others_own_gets_no_answer() {
    let server = server().await;
    let login = |host: &str| {
        let request = plain(server.address, "POST", LOGIN).host(host);
        request.json(json!({ "token": TOKEN }))
    };
    for host in ["evil.test", "evil.test:7300", "127.0.0.1.evil.test"] {
        let origin = format!("http://{host}");
        let refused = login(host).header("origin", origin).send().await;
        assert_eq!(refused.status, 421, "{host}");
        let message = refused.json()["message"].to_string();
        assert!(message.contains("public_url"), "{message}");
        for path in ["/", "/openapi.json", POLLING] {
            let page = plain(server.address, "GET", path).host(host);
            assert_eq!(page.send().await.status, 421, "{host} {path}");
        }
        let wrong = plain(server.address, "GET", "/openapi.json").bearer("wrong");
        assert_eq!(wrong.host(host).send().await.status, 421, "{host}");
    }
    let port = server.address.port();
    for host in [
        format!("127.0.0.1:{port}"),
        format!("192.168.7.7:{port}"),
        format!("[fe80::1]:{port}"),
        format!("localhost:{port}"),
        "neta.example".to_owned(),
        "app.example.org".to_owned(),
    ] {
        assert_eq!(login(&host).send().await.status, 200, "{host}");
    }
    let health = plain(server.address, "GET", "/healthz").host("balancer.example");
    assert_eq!(health.send().await.status, 200);
    let program = request(server.address, "GET", "/v1/models").host("api.example");
    assert_eq!(program.send().await.status, 200, "it has a token");
}

#[tokio::test]
async fn the_browser_says_who_made_a_request() {
    let server = server().await;
    let login = plain(server.address, "POST", LOGIN).json(json!({ "token": TOKEN }));
    let login = login.send().await;
    let cookie = login.header("set-cookie").split(';').next().unwrap();
    let write = |site: &str| -> Request<'_> {
        let request = plain(server.address, "POST", "/admin/netaclaw/memories");
        let request = request.header("cookie", cookie);
        let request = request.header("sec-fetch-site", site);
        request.json(json!({ "text": "a fact" }))
    };
    for (site, status) in [
        ("cross-site", 403),
        ("same-site", 403),
        ("none", 201),
        ("same-origin", 201),
    ] {
        let answer = write(site).send().await;
        assert_eq!(answer.status, status, "{site}: {}", answer.text);
    }
    let friend = write("cross-site").header("origin", FRIEND).send().await;
    assert_eq!(friend.status, 201, "{}", friend.text);
    let socket = plain(server.address, "GET", POLLING).header("sec-fetch-site", "cross-site");
    assert_eq!(socket.send().await.status, 403);
}
