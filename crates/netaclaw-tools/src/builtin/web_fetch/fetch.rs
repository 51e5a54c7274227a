//! One page from the web, with every step checked.

use super::egress_policy::{CheckedResolver, EgressPolicy, NotPublic};
use netaclaw_governance::CallLimits;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Client, Response, StatusCode, Url, redirect};
use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

const REDIRECTS_MAX: usize = 5;
const BODY_BYTES_MAX: usize = 5 << 20;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Between two pieces of an answer.
const READ_TIMEOUT: Duration = Duration::from_secs(20);
const AGENT: &str = concat!("NetaClaw/", env!("CARGO_PKG_VERSION"));

/// What came back.
pub(super) struct Page {
    /// Where it came from in the end.
    pub(super) url: Url,
    pub(super) status: StatusCode,
    pub(super) content_type: String,
    pub(super) body: Vec<u8>,
    pub(super) is_cut: bool,
    pub(super) redirects: usize,
}

/// Why there is no page, as text for the model.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    #[error("`{0}` is not a web address. A web address starts with http:// or https://.")]
    NotAnAddress(String),
    #[error("Addresses that contain a user name or a password are not fetched.")]
    WithSecret,
    #[error("`{0}` is not on the public internet. Only public addresses can be fetched.")]
    NotPublic(String),
    #[error("The server redirects from https to http. Such redirects are not followed.")]
    Downgrade,
    #[error("The server sent a redirect without a target.")]
    LostRedirect,
    #[error(
        "The page redirects to another host, {0}. This call must not follow it. If you need that \
         page, fetch its address in a separate call."
    )]
    OtherHost(Url),
    #[error("The server redirected more than {REDIRECTS_MAX} times.")]
    TooManyRedirects,
    #[error("The server did not respond in time.")]
    TimedOut,
    #[error("The server could not be reached: {0}.")]
    Unreachable(String),
}

pub(super) fn client(reach: Arc<dyn EgressPolicy>) -> reqwest::Result<Client> {
    // The first caller installs it; all of them install the same.
    rustls::crypto::ring::default_provider()
        .install_default()
        .unwrap_or_default();
    let accept =
        "text/html,application/xhtml+xml,text/plain,text/markdown,application/json;q=0.9,*/*;q=0.5";
    let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]);
    Client::builder()
        .user_agent(AGENT)
        .default_headers(headers)
        .redirect(redirect::Policy::none())
        // A proxy would resolve names itself, and so bypass every check.
        .no_proxy()
        .dns_resolver(Arc::new(CheckedResolver(reach)))
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(READ_TIMEOUT)
        .build()
}

/// A fetch that failed.
pub(super) struct FetchFailure {
    pub(super) error: FetchError,
    /// A server has answered, so that the error may hold words of that server.
    pub(super) answered: Option<Url>,
}

/// Follows redirects itself, so that each of them is checked like the first address.
pub(super) async fn fetch(
    client: &Client,
    reach: &dyn EgressPolicy,
    limits: &CallLimits,
    address: &str,
) -> Result<Page, FetchFailure> {
    let mut answered = None;
    let page = follow(client, reach, limits, address, &mut answered).await;
    page.map_err(|error| FetchFailure { error, answered })
}

async fn follow(
    client: &Client,
    reach: &dyn EgressPolicy,
    limits: &CallLimits,
    address: &str,
    answered: &mut Option<Url>,
) -> Result<Page, FetchError> {
    let not_an_address = || FetchError::NotAnAddress(address.chars().take(200).collect());
    let mut url = Url::parse(address.trim()).map_err(|_| not_an_address())?;
    for redirects in 0..=REDIRECTS_MAX {
        check(&url, reach)?;
        let response = client.get(url.clone()).send().await.map_err(cause)?;
        *answered = Some(url.clone());
        let peer = response.remote_addr();
        if peer.is_some_and(|peer| !reach.may_connect(peer.ip())) {
            return Err(FetchError::NotPublic(host(&url)));
        }
        if !is_redirect(response.status()) {
            return read(url, response, redirects).await;
        }
        let next = response.headers().get(LOCATION);
        let next = next.and_then(|next| next.to_str().ok());
        let next = next.and_then(|next| url.join(next).ok());
        let next = next.ok_or(FetchError::LostRedirect)?;
        if url.scheme() == "https" && next.scheme() == "http" {
            return Err(FetchError::Downgrade);
        }
        if !limits.may_follow(next.as_str()) {
            return Err(FetchError::OtherHost(next));
        }
        url = next;
    }
    Err(FetchError::TooManyRedirects)
}

/// The parser has already normalized every spelling of an IPv4 address.
fn check(url: &Url, reach: &dyn EgressPolicy) -> Result<(), FetchError> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(FetchError::NotAnAddress(url.to_string()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(FetchError::WithSecret);
    }
    // A name is checked when it is resolved; an address is never resolved.
    let host = host(url);
    let plain = host.trim_start_matches('[').trim_end_matches(']');
    match plain.parse::<IpAddr>() {
        Ok(address) if !reach.may_connect(address) => Err(FetchError::NotPublic(host)),
        _ => Ok(()),
    }
}

fn host(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

async fn read(url: Url, mut response: Response, redirects: usize) -> Result<Page, FetchError> {
    let content_type = response.headers().get(CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or_default().to_owned();
    let mut body = Vec::new();
    let mut is_cut = false;
    while let Some(piece) = response.chunk().await.map_err(cause)? {
        let room = BODY_BYTES_MAX - body.len();
        body.extend_from_slice(&piece[..piece.len().min(room)]);
        is_cut = piece.len() > room;
        if is_cut {
            break;
        }
    }
    Ok(Page {
        url,
        status: response.status(),
        content_type,
        body,
        is_cut,
        redirects,
    })
}

/// The text of a failure: the innermost cause, which names none of our addresses.
fn cause(error: reqwest::Error) -> FetchError {
    if error.is_timeout() {
        return FetchError::TimedOut;
    }
    let mut innermost: &dyn Error = &error;
    loop {
        if let Some(NotPublic(host)) = innermost.downcast_ref() {
            return FetchError::NotPublic(host.clone());
        }
        match innermost.source() {
            Some(source) => innermost = source,
            None => return FetchError::Unreachable(innermost.to_string()),
        }
    }
}
