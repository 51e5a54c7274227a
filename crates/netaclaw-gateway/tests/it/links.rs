//! Links that log in, and what other sites can do with them.

use crate::http::{Request, Response, plain, request};
use crate::server::{Server, TOKEN};
use netaclaw_protocol::TokenScope;
use serde_json::json;

fn follow<'a>(server: &Server, link: &'a str, site: Option<&str>) -> Request<'a> {
    let request = plain(server.address, "GET", link).header("accept", "text/html");
    match site {
        Some(site) => request.header("sec-fetch-site", site),
        None => request,
    }
}

fn cookie(response: &Response) -> &str {
    response.header("set-cookie").split(';').next().unwrap()
}

async fn name_of(server: &Server, cookie: &str) -> String {
    let me = plain(server.address, "GET", "/admin/netaclaw/me").header("cookie", cookie);
    me.send().await.json()["name"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_link_from_another_site_asks_before_it_logs_in() {
    let server = Server::start().await;
    let (user, token) = server.user("ann", TokenScope::Full).await;
    let path = format!("/admin/netaclaw/users/{}", user.id.as_str());
    let label = json!({"name": "ann", "label": "<i>Ann", "role": "user", "status": "enabled"});
    let changed = request(server.address, "PUT", &path).json(label);
    assert_eq!(changed.send().await.status, 200);
    let link = format!("/?token={token}");
    for site in [Some("cross-site"), Some("same-site"), Some("strange"), None] {
        let asked = follow(&server, &link, site).send().await;
        assert_eq!((asked.status, cookie(&asked)), (200, ""), "{site:?}");
        assert!(
            asked.text.contains("Log in as &lt;i&gt;Ann (ann)"),
            "{}",
            asked.text
        );
        assert!(
            asked
                .text
                .contains("<form method=\"post\" action=\"/link\">")
        );
        assert!(!asked.text.contains("<script"), "{}", asked.text);
        assert_eq!(asked.header("cache-control"), "no-store");
        assert_eq!(asked.header("x-frame-options"), "DENY");
    }
    let chinese = follow(&server, &link, None).header("accept-language", "zh-CN,en;q=0.5");
    assert!(
        chinese
            .send()
            .await
            .text
            .contains("以 &lt;i&gt;Ann (ann) 登录")
    );
    for site in ["none", "same-origin"] {
        let entered = follow(&server, &link, Some(site)).send().await;
        assert_eq!((entered.status, entered.header("location")), (303, "/"));
        assert_eq!(name_of(&server, cookie(&entered)).await, "ann");
    }
}

#[tokio::test]
async fn only_the_page_that_asked_can_agree() {
    let server = Server::start().await;
    let (_, token) = server.user("ann", TokenScope::Full).await;
    let form = format!("token={token}");
    let agree = || plain(server.address, "POST", "/link").fields(&form);
    for (name, value) in [
        ("origin", "https://evil.test"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "none"),
        ("accept", "text/html"),
    ] {
        let refused = agree().header(name, value).send().await;
        assert_eq!(
            (refused.status, cookie(&refused)),
            (403, ""),
            "{name} {value}"
        );
    }
    let own = format!("http://{}", server.address);
    let entered = agree().header("origin", &own).send().await;
    assert_eq!((entered.status, entered.header("location")), (303, "/"));
    assert_eq!(name_of(&server, cookie(&entered)).await, "ann");

    for form in ["token=neta_old_one", "", "else=1"] {
        let wrong = plain(server.address, "POST", "/link").fields(form);
        let wrong = wrong.header("origin", &own).send().await;
        assert_eq!((wrong.status, cookie(&wrong)), (401, ""), "{form}");
    }
}

#[tokio::test]
async fn a_browser_that_is_logged_in_as_another_user_is_asked() {
    let server = Server::start().await;
    let (_, token) = server.user("ann", TokenScope::Full).await;
    let (_, bobs) = server.user("bob", TokenScope::Full).await;
    let link = format!("/?token={token}");
    let entered = follow(&server, &link, Some("none")).send().await;
    let ann = cookie(&entered);

    let other = format!("/?token={bobs}");
    let asked = follow(&server, &other, Some("none")).header("cookie", ann);
    let asked = asked.send().await;
    assert_eq!((asked.status, cookie(&asked)), (200, ""));
    assert!(
        asked.text.contains("logged in as <b>ann</b>"),
        "{}",
        asked.text
    );
    assert_eq!(name_of(&server, ann).await, "ann");
    let form = format!("token={bobs}");
    let agreed = plain(server.address, "POST", "/link").fields(&form);
    let agreed = agreed
        .header("cookie", ann)
        .header("origin", format!("http://{}", server.address));
    let agreed = agreed.send().await;
    assert_eq!(name_of(&server, cookie(&agreed)).await, "bob");

    // A link to what one is already changes nothing, so there is nothing to ask.
    let again = follow(&server, &other, None).header("cookie", cookie(&agreed));
    assert_eq!(again.send().await.status, 303);
    let admin = format!("/?token={TOKEN}");
    let admin = follow(&server, &admin, Some("none")).header("cookie", cookie(&agreed));
    assert!(admin.send().await.text.contains("(administrator)"));
}
