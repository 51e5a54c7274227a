//! Credentials in requests: the bearer header, or the cookie of a browser.

use axum::http::{HeaderMap, HeaderValue, header};
use secrecy::SecretString;
use std::time::Duration;

/// The name of the cookie. Browsers take one with this prefix only from the host itself and over
/// TLS, so that neither a sibling domain nor a plain connection can put another user's in its
/// place.
fn name(secure: bool) -> &'static str {
    match secure {
        true => "__Host-netaclaw_session",
        false => "netaclaw_session",
    }
}

/// What a request presents. The header comes first: who sets it means it.
pub(crate) fn credential(headers: &HeaderMap, secure: bool) -> Option<SecretString> {
    bearer(headers).or_else(|| cookie(headers, secure))
}

pub(super) fn bearer(headers: &HeaderMap) -> Option<SecretString> {
    let text = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = text.split_once(' ')?;
    let is_bearer = scheme.eq_ignore_ascii_case("bearer");
    (is_bearer && !token.trim().is_empty()).then(|| token.trim().into())
}

pub(super) fn cookie(headers: &HeaderMap, secure: bool) -> Option<SecretString> {
    cookie_named(headers, name(secure)).map(SecretString::from)
}

/// The first cookie of this name that is not empty.
pub(super) fn cookie_named<'h>(headers: &'h HeaderMap, wanted: &str) -> Option<&'h str> {
    let all = headers.get_all(header::COOKIE).iter();
    let pairs = all
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'));
    pairs
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, value)| *name == wanted && !value.is_empty())
        .map(|(_, value)| value)
}

/// The header that makes a browser keep the token, out of reach of scripts and other sites; no
/// token makes it forget.
pub(crate) fn session_cookie(
    token: Option<&str>,
    lasts: Duration,
    secure: bool,
) -> Option<HeaderValue> {
    let age = token.map_or(0, |_| lasts.as_secs());
    let token = token.unwrap_or_default();
    let (name, secure) = (name(secure), if secure { "; Secure" } else { "" });
    let text = format!("{name}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age={age}{secure}");
    let mut value = HeaderValue::from_str(&text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;

    fn found(name: &str, value: &str) -> Option<String> {
        let name: header::HeaderName = name.parse().unwrap();
        let headers = HeaderMap::from_iter([(name, value.parse().unwrap())]);
        credential(&headers, false).map(|token| token.expose_secret().to_owned())
    }

    #[test]
    fn credentials_are_found_in_header_and_cookie() {
        assert_eq!(found("authorization", "Bearer abc").as_deref(), Some("abc"));
        assert_eq!(
            found("authorization", "bearer  abc").as_deref(),
            Some("abc")
        );
        assert_eq!(found("authorization", "Basic abc"), None);
        assert_eq!(found("authorization", "Bearer "), None);
        assert_eq!(
            found("cookie", "a=b; netaclaw_session=t1; c=d").as_deref(),
            Some("t1")
        );
        assert_eq!(found("cookie", "netaclaw_session="), None);
        assert_eq!(found("cookie", "other=1"), None);
    }

    #[test]
    fn over_tls_only_the_cookie_of_the_host_itself_counts() {
        let text = "netaclaw_session=planted; __Host-netaclaw_session=own";
        let headers = HeaderMap::from_iter([(header::COOKIE, text.parse().unwrap())]);
        let found = credential(&headers, true).unwrap();
        assert_eq!(found.expose_secret(), "own");
        let text = "netaclaw_session=planted";
        let headers = HeaderMap::from_iter([(header::COOKIE, text.parse().unwrap())]);
        assert!(credential(&headers, true).is_none());
        let kept = session_cookie(Some("own"), Duration::from_secs(1), true).unwrap();
        let kept = kept.to_str().unwrap();
        assert!(kept.starts_with("__Host-netaclaw_session=own; Path=/;"));
        assert!(kept.contains("; Secure") && !kept.contains("Domain"));
    }
}
