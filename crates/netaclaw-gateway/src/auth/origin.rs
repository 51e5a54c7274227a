//! Which sites and names the server answers to. A page of another site must not act in the name of
//! its visitor, and a name that an attacker controls must not become ours.

use super::cookie::bearer;
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::settings::AuthSettings;
use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use netaclaw_protocol::Forbidden;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Balancers ask for these under any name.
const HEALTH: [&str; 2] = ["/healthz", "/readyz"];
/// How long a browser may cache a permission.
const ALLOWED_FOR: Duration = Duration::from_secs(600);

/// The origins and host names of this server and of its friends, as browsers write them.
#[derive(Debug)]
pub(crate) struct KnownOrigins {
    public: Option<String>,
    allowed: Vec<String>,
}

/// Where the page is that a request was made by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestOrigin {
    /// The user: by typing an address, from a bookmark or from another program.
    Person,
    /// A page of this server.
    OwnPage,
    /// A page of another site.
    OtherPage,
    /// The browser does not say, or it is not a browser.
    Unknown,
}

impl KnownOrigins {
    pub(crate) fn new(settings: &AuthSettings) -> Self {
        let plain = |origin: &String| origin.trim_end_matches('/').to_ascii_lowercase();
        Self {
            public: settings.public_url.as_ref().map(plain),
            allowed: settings.allowed_origins.iter().map(plain).collect(),
        }
    }

    /// Lets pages of the allowed origins read answers, with credentials.
    pub(crate) fn cors(&self) -> Option<CorsLayer> {
        let origins = self.allowed.iter();
        let origins: Vec<HeaderValue> = origins.filter_map(|text| text.parse().ok()).collect();
        (!origins.is_empty()).then(|| {
            CorsLayer::new()
                .allow_origin(AllowOrigin::list(origins))
                .allow_credentials(true)
                .allow_methods([
                    Method::GET,
                    Method::HEAD,
                    Method::POST,
                    Method::PUT,
                    Method::PATCH,
                    Method::DELETE,
                ])
                .allow_headers(AllowHeaders::mirror_request())
                .expose_headers([
                    header::ETAG,
                    header::RETRY_AFTER,
                    header::CONTENT_DISPOSITION,
                    HeaderName::from_static("x-request-id"),
                ])
                .max_age(ALLOWED_FOR)
        })
    }

    /// Whether a request comes from the server's own pages, from an allowed origin, or from no
    /// browser at all.
    fn is_own(&self, headers: &HeaderMap) -> bool {
        let Some(origin) = headers.get(header::ORIGIN) else {
            return made_by(headers) != RequestOrigin::OtherPage;
        };
        let Ok(origin) = origin.to_str() else {
            return false;
        };
        let is = |known: &String| known.eq_ignore_ascii_case(origin);
        if self.public.iter().chain(&self.allowed).any(is) {
            return true;
        }
        let host = headers.get(header::HOST).and_then(|it| it.to_str().ok());
        let site = origin.split_once("://").map(|(_, host)| host);
        let same = matches!((site, host), (Some(a), Some(b)) if a.eq_ignore_ascii_case(b));
        // Under its public name it has the scheme that is configured, and no other.
        let public = self.public.as_deref().and_then(|it| it.split_once("://"));
        same && public.map(|(_, host)| host) != host
    }

    /// Whether the server answers under this name. A name that is registered in the public DNS can
    /// be pointed at this machine by its owner; an address, a name without a dot and the reserved
    /// names below cannot.
    fn answers_to(&self, host: &str) -> bool {
        let Ok(authority) = host.parse::<Authority>() else {
            return false;
        };
        let name = authority.host().trim_end_matches('.').to_ascii_lowercase();
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        let is_local = bare.parse::<IpAddr>().is_ok()
            || !name.contains('.')
            || name.ends_with(".localhost")
            || name.ends_with(".local");
        let mut known = self.public.iter().chain(&self.allowed);
        is_local || known.any(|origin| host_of(origin) == Some(name.as_str()))
    }
}

/// The host name of an origin, without its port.
fn host_of(origin: &str) -> Option<&str> {
    let (_, authority) = origin.split_once("://")?;
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => Some(host),
        _ => Some(authority),
    }
}

/// Refuses requests for a foreign name, and requests from other origins, unless they only read over
/// plain HTTP. WebSockets are not subject to the browser's own rules, so every Socket.IO request is
/// checked.
pub(crate) async fn refuse_foreign(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Response {
    let (headers, path) = (request.headers(), request.uri().path());
    if let Some(host) = foreign_host(&shared.sites, headers, path)
        && shared.auth.check(bearer(headers).as_ref()).await.is_err()
    {
        return misdirected(&host).into_response();
    }
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let is_socket = path.starts_with(crate::socket::PATH);
    if (is_socket || !reads) && !shared.sites.is_own(headers) {
        return foreign().into_response();
    }
    next.run(request).await
}

pub(crate) fn foreign() -> ApiError {
    Forbidden::OtherOrigin.into()
}

/// The name a request is for, if the server does not answer to it. A program may use any name with
/// a token in the header, which a page of that name does not have.
fn foreign_host(sites: &KnownOrigins, headers: &HeaderMap, path: &str) -> Option<String> {
    let host = headers.get(header::HOST)?;
    let known = host.to_str().is_ok_and(|host| sites.answers_to(host));
    let foreign = !known && !HEALTH.contains(&path);
    foreign.then(|| String::from_utf8_lossy(host.as_bytes()).into_owned())
}

fn misdirected(host: &str) -> ApiError {
    let host = host.to_owned();
    ApiError::new(Forbidden::OtherHost { host }).with_status(StatusCode::MISDIRECTED_REQUEST)
}

/// What the browser says about the page that made a request.
pub(crate) fn made_by(headers: &HeaderMap) -> RequestOrigin {
    let site = headers.get(SEC_FETCH_SITE).map(HeaderValue::as_bytes);
    match site {
        None => RequestOrigin::Unknown,
        Some(b"none") => RequestOrigin::Person,
        Some(b"same-origin") => RequestOrigin::OwnPage,
        Some(_) => RequestOrigin::OtherPage,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sites() -> KnownOrigins {
        KnownOrigins::new(&AuthSettings {
            public_url: Some("https://neta.example".to_owned()),
            allowed_origins: vec![
                "https://Example.org/".to_owned(),
                "http://b.org:81".to_owned(),
            ],
            ..AuthSettings::default()
        })
    }

    fn check(host: &str, headers: &[(&'static str, &str)], expected: bool) {
        let mut map = HeaderMap::new();
        map.insert(header::HOST, host.parse().unwrap());
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        assert_eq!(sites().is_own(&map), expected, "{host} {headers:?}");
    }

    #[test]
    fn only_own_and_configured_origins_pass() {
        let here = "127.0.0.1:7300";
        check(here, &[], true);
        for (origin, expected) in [
            ("http://127.0.0.1:7300", true),
            ("https://example.org", true),
            ("http://b.org:81", true),
            ("https://neta.example", true),
            ("http://neta.example", false),
            ("http://b.org", false),
            ("http://example.org", false),
            ("https://example.org.evil.test", false),
            ("http://127.0.0.1:7301", false),
            ("null", false),
        ] {
            check(here, &[("origin", origin)], expected);
        }
        check("neta.example", &[("origin", "https://neta.example")], true);
        check("neta.example", &[("origin", "http://neta.example")], false);
    }

    #[test]
    fn a_request_without_an_origin_counts_by_the_page_that_made_it() {
        for (site, expected) in [
            ("none", true),
            ("same-origin", true),
            ("same-site", false),
            ("cross-site", false),
            ("strange", false),
        ] {
            check("127.0.0.1:7300", &[("sec-fetch-site", site)], expected);
        }
        let allowed = [
            ("origin", "https://example.org"),
            ("sec-fetch-site", "cross-site"),
        ];
        check("127.0.0.1:7300", &allowed, true);
    }

    #[test]
    fn names_that_others_could_own_are_not_ours() {
        for host in [
            "127.0.0.1:7300",
            "[::1]:7300",
            "192.168.1.5",
            "0.0.0.0:7300",
            "localhost:7300",
            "LOCALHOST",
            "netaclaw.localhost",
            "my-server:7300",
            "my-server.local",
            "neta.example",
            "neta.example:8443",
            "NETA.example.",
            "example.org",
            "b.org",
        ] {
            assert!(sites().answers_to(host), "{host}");
        }
        for host in [
            "evil.test",
            "evil.test:7300",
            "neta.example.evil.test",
            "127.0.0.1.evil.test",
            "localhost.evil.test",
            "x.neta.example",
            "b.org@evil.test",
            "",
            "a b",
        ] {
            assert!(!sites().answers_to(host), "{host}");
        }
    }
}
