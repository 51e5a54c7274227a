//! Browsers that have logged in before. They keep a proof of it, so that wrong passwords from
//! elsewhere, also from the same address, do not keep them out. The proof opens nothing.

use super::cookie::cookie_named;
use axum::http::{HeaderMap, HeaderValue};
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretSlice};
use sha2::Sha256;
use std::fmt::Write as _;
use uuid::Uuid;

const COOKIE: &str = "netaclaw_known";
const LASTS_SECONDS: u64 = 180 * 24 * 60 * 60;

/// Makes proofs and checks them.
pub(crate) struct KnownBrowsers {
    key: SecretSlice<u8>,
}

/// A browser in which a name has logged in before.
#[derive(Debug)]
pub(super) struct KnownBrowser {
    nonce: String,
}

impl KnownBrowser {
    pub(super) fn nonce(&self) -> &str {
        &self.nonce
    }

    #[cfg(test)]
    pub(super) fn with_nonce(nonce: &str) -> Self {
        Self {
            nonce: nonce.to_owned(),
        }
    }
}

impl KnownBrowsers {
    /// With this key, or with one that lasts as long as the server runs.
    pub(crate) fn new(key: Option<SecretSlice<u8>>) -> Self {
        let random = || {
            [Uuid::new_v4(), Uuid::new_v4()]
                .map(Uuid::into_bytes)
                .concat()
        };
        Self {
            key: key.unwrap_or_else(|| random().into()),
        }
    }

    /// The browser, if it proves that this name has logged in with it.
    pub(super) fn check(&self, asked: &HeaderMap, name: &str) -> Option<KnownBrowser> {
        let presented = cookie_named(asked, COOKIE)?;
        let (nonce, proof) = presented.split_once('.')?;
        let proof = unhex(proof)?;
        self.mac(name, nonce).verify_slice(&proof).ok()?;
        Some(KnownBrowser {
            nonce: nonce.to_owned(),
        })
    }

    /// The header that makes a browser keep the proof. It is sent with logins only.
    pub(super) fn cookie(&self, name: &str, secure: bool) -> Option<HeaderValue> {
        let nonce = Uuid::new_v4().simple().to_string();
        let proof = self.mac(name, &nonce).finalize().into_bytes();
        let proof = proof.iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("a string takes all text");
            text
        });
        let secure = if secure { "; Secure" } else { "" };
        let text = format!(
            "{COOKIE}={nonce}.{proof}; Path=/admin/netaclaw/login; HttpOnly; SameSite=Strict; \
             Max-Age={LASTS_SECONDS}{secure}"
        );
        let mut value = HeaderValue::from_str(&text).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    fn mac(&self, name: &str, nonce: &str) -> Hmac<Sha256> {
        let key = self.key.expose_secret();
        let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("keys of any length are taken");
        mac.update(nonce.as_bytes());
        // A nonce has no such byte, so that no part of one can be taken for part of the other.
        mac.update(&[0]);
        mac.update(name.as_bytes());
        mac
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::header;

    fn kept(cookie: &HeaderValue) -> HeaderMap {
        let pair = cookie.to_str().unwrap().split(';').next().unwrap();
        HeaderMap::from_iter([(header::COOKIE, pair.parse().unwrap())])
    }

    #[test]
    fn a_proof_is_good_for_its_name_and_its_server() {
        let key = || Some(vec![7; 32].into());
        let browsers = KnownBrowsers::new(key());
        let cookie = browsers.cookie("ann", true).unwrap();
        assert!(cookie.to_str().unwrap().ends_with("; Secure"));
        let asked = kept(&cookie);
        assert!(browsers.check(&asked, "ann").is_some());
        assert!(KnownBrowsers::new(key()).check(&asked, "ann").is_some());
        assert!(browsers.check(&asked, "bob").is_none());
        assert!(KnownBrowsers::new(None).check(&asked, "ann").is_none());
        for forged in ["", "n", "n.", "n.00", "n.zz", ".", "n.0"] {
            let text = format!("{COOKIE}={forged}");
            let asked = HeaderMap::from_iter([(header::COOKIE, text.parse().unwrap())]);
            assert!(browsers.check(&asked, "ann").is_none(), "{forged}");
        }
    }
}
