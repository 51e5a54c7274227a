use async_trait::async_trait;
use netaclaw_governance::Decision;
use netaclaw_protocol::{AgentSpec, ForeignContent, ForeignKind, ForeignSource};
use netaclaw_tools::contract::{Subject, approve, check, context, judge};
use netaclaw_tools::{EgressPolicy, PublicInternet, ToolOutput, ToolRegistry, WebFetch, execute};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

/// A server on this machine that answers paths with whole responses.
struct Web {
    port: u16,
    seen: Arc<AtomicUsize>,
    _job: AbortOnDropHandle<()>,
}

impl Web {
    async fn new(pages: impl IntoIterator<Item = (&'static str, String)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let pages: HashMap<_, _> = pages.into_iter().collect();
        let seen = Arc::new(AtomicUsize::new(0));
        let counter = seen.clone();
        let job = tokio::spawn(async move {
            loop {
                let (mut socket, _) = listener.accept().await.unwrap();
                counter.fetch_add(1, Ordering::SeqCst);
                let mut request = vec![0; 8 << 10];
                let length = socket.read(&mut request).await.unwrap_or(0);
                let request = String::from_utf8_lossy(&request[..length]).into_owned();
                let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                let missing = response("404 Not Found", "text/plain", "nothing here");
                let answer = pages.get(path.as_str()).unwrap_or(&missing);
                let answer = answer.replace("PORT", &port.to_string());
                // Who was refused in the middle has gone.
                socket
                    .write_all(answer.as_bytes())
                    .await
                    .unwrap_or_default();
            }
        });
        Self {
            port,
            seen,
            _job: AbortOnDropHandle::new(job),
        }
    }

    fn url(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.port)
    }
}

fn response(status: &str, content_type: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn redirect(to: &str) -> String {
    format!(
        "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
}

/// The public internet, of which one address of this machine is made a part; names as in a book
/// that turns its pages.
struct SmallWorld {
    public: IpAddr,
    names: Mutex<HashMap<&'static str, Vec<Vec<IpAddr>>>>,
}

impl SmallWorld {
    fn new(names: impl IntoIterator<Item = (&'static str, Vec<Vec<&'static str>>)>) -> Arc<Self> {
        let parsed = names.into_iter().map(|(name, answers)| {
            let answers = answers.into_iter().map(|answer| {
                let answer = answer.into_iter().map(|address| address.parse().unwrap());
                answer.collect()
            });
            (name, answers.collect())
        });
        Arc::new(Self {
            public: "127.0.0.1".parse().unwrap(),
            names: Mutex::new(parsed.collect()),
        })
    }
}

#[async_trait]
impl EgressPolicy for SmallWorld {
    fn may_connect(&self, address: IpAddr) -> bool {
        address == self.public || PublicInternet.may_connect(address)
    }

    async fn look_up(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let mut names = self.names.lock().unwrap();
        let answers = names.get_mut(host).ok_or(io::ErrorKind::NotFound)?;
        Ok(match answers.len() {
            1 => answers[0].clone(),
            _ => answers.remove(0),
        })
    }
}

async fn fetch(reach: Arc<dyn EgressPolicy>, args: Value) -> ToolOutput {
    let mut registry = ToolRegistry::new();
    registry.add(Arc::new(WebFetch::with_reach(reach))).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let approved = approve(&registry, "web_fetch", args);
    execute(&registry, approved, context(dir.path()))
        .await
        .output
}

#[tokio::test]
async fn web_fetch_keeps_the_contract() {
    let web = Web::new([("/", response("200 OK", "text/plain", "hello"))]).await;
    let dir = tempfile::tempdir().unwrap();
    let world = SmallWorld::new([("page.example", vec![vec!["127.0.0.1"]])]);
    check(|| Subject {
        tool: Arc::new(WebFetch::with_reach(world.clone())),
        context: context(dir.path()),
        examples: vec![json!({"url": web.url("page.example", "/")})],
    })
    .await;
}

#[tokio::test]
async fn addresses_that_are_not_public_are_never_connected_to() {
    let web = Web::new([("/", response("200 OK", "text/plain", "secret"))]).await;
    let port = web.port;
    for host in [
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "127.1",
        "0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "169.254.169.254",
        "10.0.0.1",
        "192.168.0.1",
        "172.16.0.1",
        "100.64.0.1",
        "[fd00:ec2::254]",
        "[fe80::1]",
        "224.0.0.1",
        "127。0。0。1",
    ] {
        let url = format!("http://{host}:{port}/");
        let output = fetch(Arc::new(PublicInternet), json!({ "url": url })).await;
        let text = output.joined_text();
        assert!(
            output.is_error && text.contains("not on the public internet"),
            "{url}: {text}"
        );
    }
    assert_eq!(web.seen.load(Ordering::SeqCst), 0, "no request arrived");
}

#[tokio::test]
async fn other_schemes_and_secrets_are_refused() {
    for url in [
        "file:///etc/passwd",
        "ftp://example.com/",
        "data:text/plain,x",
        "example.com",
        "http://",
    ] {
        let output = fetch(Arc::new(PublicInternet), json!({ "url": url })).await;
        assert!(
            output.joined_text().contains("is not a web address"),
            "{url}: {output:?}"
        );
    }
    let output = fetch(
        Arc::new(PublicInternet),
        json!({ "url": "http://me:pw@example.com/" }),
    )
    .await;
    assert!(output.joined_text().contains("password"), "{output:?}");
}

#[tokio::test]
async fn a_name_is_what_it_resolves_to() {
    let web = Web::new([("/", response("200 OK", "text/plain", "hello"))]).await;
    let world = SmallWorld::new([
        ("good.example", vec![vec!["127.0.0.1"]]),
        ("inside.example", vec![vec!["192.168.0.10"]]),
        ("metadata.example", vec![vec!["169.254.169.254"]]),
        ("mixed.example", vec![vec!["127.0.0.1", "10.0.0.1"]]),
        ("mapped.example", vec![vec!["::ffff:127.0.0.1"]]),
    ]);
    let good = fetch(world.clone(), json!({"url": web.url("good.example", "/")})).await;
    assert_eq!(good.joined_text(), "hello");
    for host in [
        "inside.example",
        "metadata.example",
        "mixed.example",
        "mapped.example",
    ] {
        let output = fetch(world.clone(), json!({"url": web.url(host, "/")})).await;
        let text = output.joined_text();
        assert!(
            text.contains("not on the public internet"),
            "{host}: {text}"
        );
    }
    assert_eq!(web.seen.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_name_that_changes_its_mind_is_asked_once_for_each_connection() {
    let web = Web::new([("/", response("200 OK", "text/plain", "hello"))]).await;
    let answers = vec![vec!["127.0.0.1"], vec!["10.0.0.1"]];
    let world = SmallWorld::new([("fickle.example", answers)]);
    let url = web.url("fickle.example", "/");
    let first = fetch(world.clone(), json!({ "url": url })).await;
    assert_eq!(
        first.joined_text(),
        "hello",
        "the address that was checked is the one used"
    );
    let second = fetch(world, json!({ "url": url })).await;
    assert!(second.joined_text().contains("not on the public internet"));
}

#[tokio::test]
async fn every_redirect_is_checked() {
    let web = Web::new([
        ("/start", redirect("/page")),
        ("/page", response("200 OK", "text/plain", "arrived")),
        ("/inside", redirect("http://10.0.0.1/")),
        ("/decimal", redirect("http://167772161/")),
        ("/hex", redirect("http://0x0a000001/")),
        ("/mapped", redirect("http://[::ffff:10.0.0.1]/")),
        (
            "/metadata",
            redirect("http://169.254.169.254/latest/meta-data/"),
        ),
        (
            "/metadata6",
            redirect("//[fd00:ec2::254]/latest/meta-data/"),
        ),
        ("/name", redirect("http://inside.example/")),
        ("/file", redirect("file:///etc/passwd")),
        ("/again", redirect("/again")),
    ])
    .await;
    let world = SmallWorld::new([
        ("a.example", vec![vec!["127.0.0.1"]]),
        ("inside.example", vec![vec!["10.0.0.1"]]),
    ]);
    let said = async |path: &str| {
        let output = fetch(world.clone(), json!({"url": web.url("a.example", path)})).await;
        output.joined_text()
    };
    assert!(said("/start").await.ends_with("/page]\narrived"));
    for path in [
        "/inside",
        "/decimal",
        "/hex",
        "/mapped",
        "/metadata",
        "/metadata6",
        "/name",
    ] {
        let text = said(path).await;
        assert!(
            text.contains("not on the public internet"),
            "{path}: {text}"
        );
    }
    assert!(said("/file").await.contains("not a web address"));
    assert!(said("/again").await.contains("redirected"));
}

#[tokio::test]
async fn pages_come_as_text_in_parts_and_with_their_status() {
    let long = format!(
        "<html><body><h1>Top</h1><p>{}</p></body></html>",
        "word ".repeat(20_000)
    );
    let web = Web::new([
        (
            "/long",
            response("200 OK", "text/html; charset=utf-8", &long),
        ),
        ("/json", response("200 OK", "application/json", "{\"a\":1}")),
        ("/png", response("200 OK", "image/png", "\u{0}\u{1}")),
        (
            "/flood",
            response("200 OK", "text/plain", &"x".repeat(6 << 20)),
        ),
    ])
    .await;
    let world = SmallWorld::new([("a.example", vec![vec!["127.0.0.1"]])]);
    let get = async |path: &str, offset: u64| {
        fetch(
            world.clone(),
            json!({"url": web.url("a.example", path), "offset": offset}),
        )
        .await
    };
    let first = get("/long", 0).await.joined_text();
    assert!(
        first.starts_with("# Top") && first.len() <= 32 << 10,
        "{}",
        first.len()
    );
    let next = first.rsplit("offset=").next().unwrap();
    let next: u64 = next.trim_end_matches(".]").parse().unwrap();
    let second = get("/long", next).await.joined_text();
    assert!(second.contains("word") && !second.contains("# Top"));
    assert_eq!(get("/json", 0).await.joined_text(), "{\"a\":1}");
    assert!(
        get("/png", 0)
            .await
            .joined_text()
            .contains("cannot be shown")
    );
    let flood = get("/flood", 0).await;
    assert_eq!(flood.details.unwrap()["bytes"], 5 << 20);
    let missing = get("/no", 0).await;
    assert!(missing.is_error && missing.joined_text().contains("404"));
    let unknown = fetch(world.clone(), json!({"url": "http://nowhere.example/"})).await;
    assert!(unknown.is_error, "{unknown:?}");
}

/// After external content a redirect is a way out like any other address.
#[tokio::test]
async fn a_redirect_to_another_host_is_not_followed_after_content_from_outside() {
    let pages = [
        ("/here", redirect("/there")),
        ("/there", response("200 OK", "text/plain", "the same host")),
        ("/allowed", redirect("http://friend.example:PORT/there")),
        ("/away", redirect("http://evil.example:PORT/?q=secret")),
    ];
    let web = Web::new(pages).await;
    let here = || vec![vec!["127.0.0.1"]];
    let names = ["page.example", "friend.example", "evil.example"];
    let world = SmallWorld::new(names.map(|name| (name, here())));
    let mut registry = ToolRegistry::new();
    registry.add(Arc::new(WebFetch::with_reach(world))).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let fetched = async |path: &str| {
        let port = web.port;
        let agent = AgentSpec {
            allowed_hosts: vec![
                format!("http://page.example:{port}"),
                format!("http://friend.example:{port}"),
            ],
            ..AgentSpec::default()
        };
        let read = ForeignContent(vec![ForeignSource {
            kind: ForeignKind::Web,
            name: "page.example".to_owned(),
        }]);
        let args = json!({"url": web.url("page.example", path)});
        let Decision::Allow(approved) = judge(&registry, agent, &read, "web_fetch", args) else {
            panic!("not allowed")
        };
        let executed = execute(&registry, approved, context(dir.path())).await;
        (executed.output, web.seen.swap(0, Ordering::SeqCst))
    };
    for path in ["/here", "/allowed"] {
        let (output, requests) = fetched(path).await;
        assert!(!output.is_error && requests == 2, "{path}: {output:?}");
    }
    let (output, requests) = fetched("/away").await;
    assert_eq!(requests, 1, "the other host was not asked");
    assert!(output.is_error, "{output:?}");
    let told = format!("{:?}", output.content);
    assert!(
        told.contains("evil.example") && told.contains("must not follow"),
        "{told}"
    );
    // The address is the server's own text, so the session counts as having read from it.
    let details = output.details.unwrap();
    assert_eq!(details["url"], web.url("page.example", "/away"));
}
