//! Keys of channels and secrets of servers at rest: XChaCha20-Poly1305 with a random nonce, bound
//! to the row they are in.

use super::secret_key::SecretKey;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use netaclaw_admin::AdminError;
use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret, SecretString};

const NONCE_BYTES: usize = 24;
/// The first byte, so that another format can follow this one.
const VERSION: u8 = 1;

pub(super) struct Sealer(XChaCha20Poly1305);

impl Sealer {
    pub(super) fn new(key: &SecretKey) -> Self {
        Self(XChaCha20Poly1305::new(&Key::from(*key.bytes())))
    }

    pub(super) fn seal(&self, row: &str, key: &SecretString) -> Result<Vec<u8>, AdminError> {
        let failed = |what: String| AdminError::store("the API key cannot be encrypted", what);
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(|error| failed(error.to_string()))?;
        let payload = Payload {
            msg: key.expose_secret().as_bytes(),
            aad: row.as_bytes(),
        };
        let sealed = self.0.encrypt(&XNonce::from(nonce), payload);
        let sealed = sealed.map_err(|error| failed(error.to_string()))?;
        Ok([&[VERSION], nonce.as_slice(), &sealed].concat())
    }

    /// The key, or `None` if this is not what was sealed for this row with this secret key.
    pub(super) fn open(&self, row: &str, sealed: &[u8]) -> Option<SecretString> {
        let (version, rest) = sealed.split_first()?;
        let (nonce, sealed) = rest.split_first_chunk::<NONCE_BYTES>()?;
        if *version != VERSION {
            return None;
        }
        let payload = Payload {
            msg: sealed,
            aad: row.as_bytes(),
        };
        let opened = Zeroizing::new(self.0.decrypt(&XNonce::from(*nonce), payload).ok()?);
        let text = std::str::from_utf8(&opened).ok()?;
        Some(SecretString::from(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealer(byte: &str) -> Sealer {
        let key: SecretString = byte.repeat(32).into();
        Sealer::new(&SecretKey::from_text(&key).unwrap())
    }

    #[test]
    fn a_key_opens_only_where_and_as_it_was_sealed() {
        let (row, other) = ("row", "other");
        let key = SecretString::from("sk-marker-4711");
        let sealed = sealer("00").seal(row, &key).unwrap();
        assert_ne!(sealed, sealer("00").seal(row, &key).unwrap());
        assert!(!sealed.windows(6).any(|window| window == b"marker"));

        let opened = sealer("00").open(row, &sealed).unwrap();
        assert_eq!(opened.expose_secret(), "sk-marker-4711");
        assert!(sealer("01").open(row, &sealed).is_none());
        assert!(sealer("00").open(other, &sealed).is_none());
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(sealer("00").open(row, &changed).is_none(), "byte {at}");
            assert!(
                sealer("00").open(row, &sealed[..at]).is_none(),
                "cut at {at}"
            );
        }
    }
}
