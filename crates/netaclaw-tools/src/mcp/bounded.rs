//! How much a program may send at once.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, ReadBuf};

/// One message. The library would drop a longer one without a word, and whoever waits for it would
/// wait until the time is up.
pub(super) const MESSAGE_BYTES_MAX: usize = 16 << 20;

/// Whether a message was longer than that.
#[derive(Clone, Debug, Default)]
pub(super) struct TooBig(Arc<AtomicBool>);

impl TooBig {
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Lines of a program, one for each message. One that is too long is the last, as if the program had
/// ended there.
pub(super) struct BoundedLines<R> {
    inner: R,
    /// So far, of the line that has not ended.
    bytes: usize,
    too_big: TooBig,
}

impl<R> BoundedLines<R> {
    pub(super) fn new(inner: R, too_big: TooBig) -> Self {
        Self {
            inner,
            bytes: 0,
            too_big,
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
        self.bytes = match read.iter().rposition(|byte| *byte == b'\n') {
            Some(last) => read.len() - last - 1,
            None => longest,
        };
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;

    #[tokio::test]
    async fn a_line_may_be_long_but_not_too_long_and_the_next_begins_anew() {
        let just = "x".repeat(MESSAGE_BYTES_MAX);
        let lines = format!("{just}\n{just}\nshort\n");
        let too_big = TooBig::default();
        let mut bounded = BoundedLines::new(lines.as_bytes(), too_big.clone());
        let mut read = Vec::new();
        bounded.read_to_end(&mut read).await.unwrap();
        assert!(read == lines.as_bytes() && !too_big.is_set());

        let lines = format!("short\n{just}x\nshort\n");
        let mut bounded = BoundedLines::new(lines.as_bytes(), too_big.clone());
        let mut read = Vec::new();
        bounded.read_to_end(&mut read).await.unwrap();
        assert!(too_big.is_set() && read.starts_with(b"short\n") && !read.ends_with(b"short\n"));
    }
}
