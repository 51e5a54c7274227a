//! The last lines of a program's standard error, which usually say why it ended.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::unix::pipe;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

const LINES: usize = 5;
const LINE_BYTES: usize = 400;
/// A program that has ended writes no more; one whose children are still running may keep the pipe
/// open.
const END_WAIT: Duration = Duration::from_millis(300);

/// The last lines, while the program writes them.
#[derive(Clone, Debug, Default)]
pub(super) struct StderrTail {
    lines: Arc<Mutex<Vec<String>>>,
    ended: CancellationToken,
}

impl StderrTail {
    /// Reads for as long as the handle is kept, so that the program never waits for a reader.
    pub(super) fn listen(stderr: pipe::Receiver) -> (Self, AbortOnDropHandle<()>) {
        let words = Self::default();
        let kept = words.clone();
        let job = tokio::spawn(async move {
            let mut reader = BufReader::new(stderr);
            let mut line = Vec::new();
            while let Ok(1..) = take_line(&mut reader, &mut line).await {
                kept.keep(&line);
            }
            kept.ended.cancel();
        });
        (words, AbortOnDropHandle::new(job))
    }

    fn keep(&self, line: &[u8]) {
        let text = String::from_utf8_lossy(line).trim().to_owned();
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if !text.is_empty() {
            lines.push(text);
        }
        if lines.len() > LINES {
            lines.remove(0);
        }
    }

    /// The last output.
    pub(super) async fn tail(&self) -> String {
        // Without a program there is nothing to wait for.
        tokio::time::timeout(END_WAIT, self.ended.cancelled())
            .await
            .unwrap_or_default();
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.join(" | ")
    }
}

/// One line, of which only the beginning is kept. How many bytes it had.
async fn take_line(
    reader: &mut BufReader<pipe::Receiver>,
    line: &mut Vec<u8>,
) -> std::io::Result<usize> {
    line.clear();
    let mut length = 0;
    loop {
        let chunk = reader.fill_buf().await?;
        if chunk.is_empty() {
            return Ok(length);
        }
        let end = memchr::memchr(b'\n', chunk).map(|at| at + 1);
        let taken = end.unwrap_or(chunk.len());
        let room = LINE_BYTES.saturating_sub(line.len()).min(taken);
        line.extend_from_slice(&chunk[..room]);
        length += taken;
        reader.consume(taken);
        if end.is_some() {
            return Ok(length);
        }
    }
}
