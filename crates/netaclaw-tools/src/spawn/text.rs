//! Decodes bytes of a pipe as UTF-8.

/// Decodes UTF-8 that arrives in pieces. A character that was cut in half waits for its rest;
/// invalid bytes become U+FFFD.
#[derive(Debug, Default)]
pub struct Utf8Stream {
    /// The beginning of a character, at most three bytes.
    waiting: Vec<u8>,
}

impl Utf8Stream {
    pub fn push(&mut self, bytes: &[u8]) -> String {
        let joined;
        let mut rest = if self.waiting.is_empty() {
            bytes
        } else {
            self.waiting.extend_from_slice(bytes);
            joined = std::mem::take(&mut self.waiting);
            &joined
        };
        let mut text = String::with_capacity(rest.len());
        loop {
            match std::str::from_utf8(rest) {
                Ok(valid) => {
                    text.push_str(valid);
                    return text;
                }
                Err(error) => {
                    let (valid, behind) = rest.split_at(error.valid_up_to());
                    text.push_str(&String::from_utf8_lossy(valid));
                    let Some(wrong) = error.error_len() else {
                        self.waiting = behind.to_vec();
                        return text;
                    };
                    text.push(char::REPLACEMENT_CHARACTER);
                    rest = &behind[wrong..];
                }
            }
        }
    }

    /// What is left when nothing more comes.
    pub fn finish(&mut self) -> &'static str {
        match std::mem::take(&mut self.waiting).is_empty() {
            true => "",
            false => "\u{fffd}",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn in_pieces(bytes: &[u8], size: usize) -> String {
        let mut stream = Utf8Stream::default();
        let mut text: String = bytes.chunks(size).map(|piece| stream.push(piece)).collect();
        text.push_str(stream.finish());
        text
    }

    #[test]
    fn characters_survive_every_cut() {
        let text = "a水🌊é\n";
        for size in 1..=text.len() {
            assert_eq!(in_pieces(text.as_bytes(), size), text);
        }
        assert_eq!(in_pieces(b"caf\xe9 \xe6\xb0", 1), "caf\u{fffd} \u{fffd}");
    }

    proptest! {
        #[test]
        fn pieces_and_whole_read_the_same(bytes: Vec<u8>, size in 1usize..9) {
            prop_assert_eq!(in_pieces(&bytes, size), String::from_utf8_lossy(&bytes));
        }
    }
}
