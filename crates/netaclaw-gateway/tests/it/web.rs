//! The web app's files, as a browser gets them.

use crate::http::{Response, plain};
use crate::server::{Server, TOKEN};
use bytes::Bytes;
use netaclaw_gateway::{Asset, Assets};
use std::sync::Arc;

struct Files;

impl Assets for Files {
    fn get(&self, path: &str) -> Option<Asset> {
        let (content_type, immutable, body) = match path {
            "/" | "/index.html" => ("text/html; charset=utf-8", false, "page"),
            "/assets/app-1a2b.js" => ("text/javascript; charset=utf-8", true, "script"),
            _ => return None,
        };
        Some(Asset {
            content_type,
            tag: "\"tag\"",
            immutable,
            plain: Bytes::from_static(body.as_bytes()),
            brotli: immutable.then(|| Bytes::from_static(b"brotli")),
            gzip: immutable.then(|| Bytes::from_static(b"gzip")),
        })
    }
}

async fn get(server: &Server, path: &str, header: (&str, &str)) -> Response {
    let request = plain(server.address, "GET", path).header(header.0, header.1);
    request.send().await
}

#[tokio::test]
async fn files_come_as_the_browser_wants_them() {
    let server = Server::start_with_assets(Arc::new(Files)).await;
    let script = "/assets/app-1a2b.js";
    for (accepted, encoding, body) in [
        ("gzip, deflate, br", "br", "brotli"),
        ("gzip", "gzip", "gzip"),
        ("identity", "", "script"),
    ] {
        let answer = get(&server, script, ("accept-encoding", accepted)).await;
        let sent = (answer.header("content-encoding"), answer.text.as_str());
        assert_eq!(sent, (encoding, body), "{accepted}");
        assert!(answer.header("content-type").starts_with("text/javascript"));
        assert!(answer.header("cache-control").contains("immutable"));
        assert_eq!(answer.header("vary"), "Accept-Encoding");
    }
    let again = get(&server, script, ("if-none-match", "\"tag\"")).await;
    assert_eq!((again.status, again.text.as_str()), (304, ""));
}

#[tokio::test]
async fn a_link_that_is_good_no_more_leads_people_to_the_login() {
    let server = Server::start_with_assets(Arc::new(Files)).await;
    let link = "/?token=neta_old_one";
    assert_eq!(get(&server, link, ("accept", "*/*")).await.status, 401);
    let html = ("accept", "text/html,*/*");
    let refused = get(&server, link, html).await;
    assert_eq!(
        (refused.status, refused.header("location")),
        (303, "/login?link=refused")
    );
    // A logged-in browser stays logged in.
    let own = format!("/?token={TOKEN}");
    let entered = get(&server, &own, ("sec-fetch-site", "none")).await;
    let cookie = entered.header("set-cookie").split(';').next().unwrap();
    let again = plain(server.address, "GET", link)
        .header("accept", "text/html")
        .header("cookie", cookie);
    let again = again.send().await;
    assert_eq!((again.status, again.header("location")), (303, "/"));
}

#[tokio::test]
async fn the_app_answers_for_its_own_addresses_and_for_no_others() {
    let server = Server::start_with_assets(Arc::new(Files)).await;
    let html = ("accept", "text/html,*/*");
    for (path, status) in [
        ("/", 200),
        ("/chat/some-session", 200),
        ("/admin/netaclaw/nothing", 404),
        ("/v1/nothing", 404),
    ] {
        assert_eq!(get(&server, path, html).await.status, status, "{path}");
    }
    // A script that is gone must not become a page.
    let gone = get(&server, "/assets/old.js", ("accept", "*/*")).await;
    assert_eq!(gone.status, 404);
    let home = get(&server, "/", html).await;
    assert_eq!(home.header("cache-control"), "no-cache");
    let policy = home.header("content-security-policy");
    let scripts = policy
        .split("; ")
        .find(|rule| rule.starts_with("script-src"));
    assert_eq!(scripts, Some("script-src 'self'"));
}

#[tokio::test]
async fn a_build_without_the_app_says_so() {
    let server = Server::start().await;
    let home = get(&server, "/", ("accept", "text/html")).await;
    assert!(
        home.text.contains("not part of this build"),
        "{}",
        home.text
    );
}
