//! What of an output the model gets to read: its beginning and its end, and all of it in a file.

use crate::spawn::Scratch;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::fs::File;
use tokio::io::AsyncWriteExt;

/// An output that is longer than this is kept only up to here.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// Of what is shown of a long output, its beginning has one part in this many.
const HEAD_PART: usize = 4;

/// An output in memory that does not depend on its length.
pub(super) struct BoundedOutput {
    cap: usize,
    /// Up to the cap; a longer output has its beginning here.
    first: Vec<u8>,
    /// The end of what did not fit.
    last: Vec<u8>,
    bytes: u64,
    file: Spill,
    scratch: Arc<Scratch>,
}

enum Spill {
    NotNeeded,
    Open {
        file: File,
        path: PathBuf,
        bytes: u64,
    },
    /// The disk is full, or not writable.
    Failed,
}

/// The output as the model reads it.
pub(super) struct Excerpt {
    pub(super) text: String,
    pub(super) bytes: u64,
    pub(super) is_cut: bool,
}

impl BoundedOutput {
    pub(super) fn new(cap: usize, scratch: Arc<Scratch>) -> Self {
        Self {
            cap,
            first: Vec::new(),
            last: Vec::new(),
            bytes: 0,
            file: Spill::NotNeeded,
            scratch,
        }
    }

    pub(super) async fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let room = (self.cap - self.first.len()).min(bytes.len());
        let (fits, rest) = bytes.split_at(room);
        self.first.extend_from_slice(fits);
        if rest.is_empty() {
            return;
        }
        if let Spill::NotNeeded = self.file {
            self.file = self.open().await;
        }
        self.write(rest).await;
        let tail = &rest[rest.len().saturating_sub(self.cap)..];
        self.last.extend_from_slice(tail);
        // Cut seldom, so that every byte is moved about once.
        if self.last.len() > 2 * self.cap {
            self.last.drain(..self.last.len() - self.cap);
        }
    }

    async fn open(&self) -> Spill {
        let scratch = self.scratch.clone();
        let create = move || scratch.create("output");
        let Ok((file, path)) = crate::execute::blocking(create).await else {
            return Spill::Failed;
        };
        let mut file = File::from_std(file);
        match file.write_all(&self.first).await {
            Ok(()) => Spill::Open {
                file,
                path,
                bytes: self.first.len() as u64,
            },
            Err(_) => Spill::Failed,
        }
    }

    async fn write(&mut self, rest: &[u8]) {
        let Spill::Open { file, bytes, .. } = &mut self.file else {
            return;
        };
        let room = FILE_BYTES_MAX.saturating_sub(*bytes);
        let part = &rest[..rest.len().min(usize::try_from(room).unwrap_or(usize::MAX))];
        *bytes += part.len() as u64;
        if !part.is_empty() && file.write_all(part).await.is_err() {
            self.file = Spill::Failed;
        }
    }

    pub(super) async fn finish(mut self) -> Excerpt {
        if let Spill::Open { file, .. } = &mut self.file
            && file.flush().await.is_err()
        {
            self.file = Spill::Failed;
        }
        let is_cut = self.bytes > self.cap as u64;
        let text = match is_cut {
            false => String::from_utf8_lossy(&self.first).into_owned(),
            true => self.excerpt(),
        };
        Excerpt {
            text,
            bytes: self.bytes,
            is_cut,
        }
    }

    fn excerpt(&self) -> String {
        let head = to_line_end(&self.first[..self.cap / HEAD_PART]);
        let room = self.cap - self.cap / HEAD_PART;
        let mut end = self.first[head.len()..].to_vec();
        end.extend_from_slice(&self.last);
        let tail = from_line_start(&end[end.len().saturating_sub(room)..]);
        let left_out = self.bytes - head.len() as u64 - tail.len() as u64;
        let place = match &self.file {
            Spill::Open { path, bytes, .. } if *bytes < self.bytes => format!(
                "the first {} MiB of the output are in `{}`; read it with `read` or `grep`",
                FILE_BYTES_MAX >> 20,
                path.display()
            ),
            Spill::Open { path, .. } => format!(
                "the complete output is in `{}`; read it with `read` or `grep`",
                path.display()
            ),
            Spill::NotNeeded | Spill::Failed => "it could not be stored".to_owned(),
        };
        format!(
            "{}\n[… {left_out} bytes omitted: {place} …]\n{}",
            String::from_utf8_lossy(head),
            String::from_utf8_lossy(tail)
        )
    }
}

/// Up to the last line that is whole, if lines are short enough for that.
fn to_line_end(bytes: &[u8]) -> &[u8] {
    match memchr::memrchr(b'\n', bytes) {
        Some(at) if at > bytes.len() / 2 => &bytes[..at],
        _ => {
            let mut end = bytes.len();
            // Not in the middle of a character.
            while end > 0 && bytes[end - 1] & 0xc0 == 0x80 {
                end -= 1;
            }
            match bytes.get(..end).and_then(<[u8]>::last) {
                Some(0xc0..) => &bytes[..end - 1],
                _ => bytes,
            }
        }
    }
}

fn from_line_start(bytes: &[u8]) -> &[u8] {
    match memchr::memchr(b'\n', bytes) {
        Some(at) if at < bytes.len() / 2 => &bytes[at + 1..],
        _ => {
            let inside = bytes
                .iter()
                .take(3)
                .take_while(|byte| **byte & 0xc0 == 0x80);
            &bytes[inside.count()..]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spawn::SpawnGate;

    async fn kept(cap: usize, pieces: &[&[u8]]) -> Excerpt {
        let mut kept = BoundedOutput::new(cap, SpawnGate::closed().scratch(""));
        for piece in pieces {
            kept.push(piece).await;
        }
        kept.finish().await
    }

    #[tokio::test]
    async fn what_fits_is_whole() {
        let kept = kept(8, &[b"ab\n", b"cd\n", b"ef"]).await;
        assert_eq!((kept.text.as_str(), kept.is_cut), ("ab\ncd\nef", false));
    }

    #[tokio::test]
    async fn a_long_output_shows_both_ends_and_where_the_rest_is() {
        let gate = SpawnGate::closed();
        let mut kept = BoundedOutput::new(400, gate.scratch(""));
        let mut whole = String::new();
        for number in 0..10_000 {
            let line = format!("第 {number} 行\n");
            whole.push_str(&line);
            kept.push(line.as_bytes()).await;
        }
        let excerpt = kept.finish().await;
        assert!(excerpt.is_cut);
        assert_eq!(excerpt.bytes, whole.len() as u64);
        assert!(
            excerpt.text.starts_with("第 0 行\n第 1 行\n"),
            "{}",
            excerpt.text
        );
        assert!(
            excerpt.text.ends_with("第 9998 行\n第 9999 行\n"),
            "{}",
            excerpt.text
        );
        assert!(!excerpt.text.contains('\u{fffd}'));
        let path = excerpt.text.split('`').nth(1).expect("a path");
        assert_eq!(std::fs::read_to_string(path).unwrap(), whole);
    }

    #[tokio::test]
    async fn a_line_without_end_is_cut_between_characters() {
        let text = "水".repeat(1000);
        let kept = kept(100, &[text.as_bytes()]).await;
        assert!(!kept.text.contains('\u{fffd}'), "{}", kept.text);
        assert!(kept.text.starts_with('水') && kept.text.ends_with('水'));
    }
}
