//! Limits the size of messages from MCP servers.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

/// The maximum of one message. The library would drop a longer one silently, and its caller would
/// wait until the timeout.
pub(super) const MESSAGE_BYTES_MAX: usize = 16 << 20;
const CHATTER_BYTES_MAX: usize = 200;

/// Whether a message was longer than that.
#[derive(Clone, Debug, Default)]
pub(super) struct TooBig(CancellationToken);

impl TooBig {
    pub(super) fn is_set(&self) -> bool {
        self.0.is_cancelled()
    }

    pub(super) fn set(&self) {
        self.0.cancel();
    }

    /// Waits for the first one.
    pub(super) async fn happened(&self) {
        self.0.cancelled().await;
    }
}

/// Output of a program that is not a message: the beginning of the last such line.
#[derive(Clone, Debug, Default)]
pub(super) struct StrayOutput(Arc<Mutex<Option<String>>>);

impl StrayOutput {
    pub(super) fn last(&self) -> Option<String> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.clone()
    }

    /// Inspects the output that was not read: a program that has ended takes no request, and then
    /// the library does not read either. The pipe does not block.
    pub(super) fn inspect_rest(&self, pipe: OwnedFd) {
        let mut rest = [0; CHATTER_BYTES_MAX];
        let read = File::from(pipe).read(&mut rest).unwrap_or(0);
        let mut lines = rest[..read].split(|byte| *byte == b'\n');
        if let Some(first) = lines.next() {
            self.inspect(first);
        }
    }

    /// Looks at the line that begins with these bytes.
    fn inspect(&self, line: &[u8]) {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"{") {
            return;
        }
        let beginning = String::from_utf8_lossy(&line[..line.len().min(CHATTER_BYTES_MAX)]);
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some(beginning.into_owned());
    }
}

/// Lines of a program, one for each message. One that is too long is the last, as if the program
/// had ended there.
pub(super) struct BoundedLines<R> {
    inner: R,
    /// So far, of the line that has not ended.
    bytes: usize,
    too_big: TooBig,
    chatter: StrayOutput,
}

impl<R> BoundedLines<R> {
    pub(super) fn new(inner: R, too_big: TooBig, chatter: StrayOutput) -> Self {
        Self {
            inner,
            bytes: 0,
            too_big,
            chatter,
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for BoundedLines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.too_big.is_set() {
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
        let read = &buf.filled()[before..];
        let first = read.iter().position(|byte| *byte == b'\n');
        let longest = self.bytes + first.unwrap_or(read.len());
        if longest > MESSAGE_BYTES_MAX {
            self.too_big.set();
            buf.set_filled(before);
            return Poll::Ready(Ok(()));
        }
        let begun = usize::from(self.bytes > 0);
        let lines = read.split(|byte| *byte == b'\n').skip(begun);
        lines.for_each(|line| self.chatter.inspect(line));
        self.bytes = match read.iter().rposition(|byte| *byte == b'\n') {
            Some(last) => read.len() - last - 1,
            None => longest,
        };
        Poll::Ready(Ok(()))
    }
}

/// How long the event is that comes in pieces, one event for each message. It ends with an empty
/// line.
#[derive(Default)]
pub(super) struct EventLength {
    /// Of its lines that have ended, and of the one that has not.
    lines: usize,
    line: usize,
}

impl EventLength {
    /// Whether it is still short enough with this piece.
    pub(super) fn takes(&mut self, piece: &[u8]) -> bool {
        for (index, part) in piece.split(|byte| *byte == b'\n').enumerate() {
            if index > 0 {
                self.lines = match self.line {
                    0 => 0,
                    line => self.lines + line,
                };
                self.line = 0;
            }
            self.line += part.iter().filter(|byte| **byte != b'\r').count();
            if self.lines + self.line > MESSAGE_BYTES_MAX {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;

    #[test]
    fn an_event_may_be_long_but_not_too_long_and_the_next_begins_anew() {
        let half = "x".repeat(MESSAGE_BYTES_MAX / 2);
        for end in ["\n", "\r\n"] {
            let mut length = EventLength::default();
            for _ in 0..3 {
                for piece in [&half, end, &half, end, end] {
                    assert!(length.takes(piece.as_bytes()));
                }
            }
            for piece in [&half, end, &half] {
                assert!(length.takes(piece.as_bytes()));
            }
            assert!(!length.takes(b"x"), "the lines of an event count together");
        }
    }

    #[tokio::test]
    async fn a_line_may_be_long_but_not_too_long_and_the_next_begins_anew() {
        let just = "x".repeat(MESSAGE_BYTES_MAX);
        let lines = format!("{just}\n{just}\nshort\n");
        let too_big = TooBig::default();
        let chatter = StrayOutput::default();
        let mut bounded = BoundedLines::new(lines.as_bytes(), too_big.clone(), chatter.clone());
        let mut read = Vec::new();
        bounded.read_to_end(&mut read).await.unwrap();
        assert!(read == lines.as_bytes() && !too_big.is_set());

        let lines = format!("short\n{just}x\nshort\n");
        let mut bounded = BoundedLines::new(lines.as_bytes(), too_big.clone(), chatter);
        let mut read = Vec::new();
        bounded.read_to_end(&mut read).await.unwrap();
        assert!(too_big.is_set() && read.starts_with(b"short\n") && !read.ends_with(b"short\n"));
    }
}
