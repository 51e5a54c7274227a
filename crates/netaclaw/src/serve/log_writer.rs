//! Writes log lines without ever making the caller wait or fail.
//!
//! The error output may be a full disk, a closed pipe, or a pipe whose reader has stopped reading.
//! One thread writes the lines; the rest of the server only puts them into a bounded queue and
//! drops what does not fit.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};
use tracing_subscriber::fmt::MakeWriter;

/// Lines that wait for the writing thread. A further line is dropped and counted.
const LINES_MAX: usize = 4096;
/// The same in bytes, as lines at `trace` can be long.
const BYTES_MAX: usize = 4 << 20;
/// How long the end of the server waits for the lines that are still queued.
const FLUSH_MAX: Duration = Duration::from_secs(1);

/// Queues log lines. Clones share one queue.
#[derive(Clone)]
pub(super) struct LogWriter {
    queue: SyncSender<Item>,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    queued_bytes: AtomicUsize,
    /// Lines that were dropped since the last line that was written.
    dropped: AtomicU64,
}

enum Item {
    Line(Vec<u8>),
    /// Answered when everything before it was written.
    Flush(SyncSender<()>),
}

/// Writes the queued lines when it is dropped, if the output takes them in time.
pub(super) struct FlushAtEnd(LogWriter);

impl LogWriter {
    /// Starts the thread that writes to `output`.
    pub(super) fn start(output: impl Write + Send + 'static) -> io::Result<Self> {
        let (queue, items) = sync_channel(LINES_MAX);
        let counts = Arc::new(Counts::default());
        let shared = Arc::clone(&counts);
        std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || write_lines(output, &items, &shared))?;
        Ok(Self { queue, counts })
    }

    pub(super) fn flush_at_end(&self) -> FlushAtEnd {
        FlushAtEnd(self.clone())
    }

    fn push(&self, line: &[u8]) {
        let before = self
            .counts
            .queued_bytes
            .fetch_add(line.len(), Ordering::Relaxed);
        let fits = before + line.len() <= BYTES_MAX;
        if !fits || self.queue.try_send(Item::Line(line.to_vec())).is_err() {
            self.counts
                .queued_bytes
                .fetch_sub(line.len(), Ordering::Relaxed);
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Write for LogWriter {
    /// Takes a whole line: the formatter writes each event with one call.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.push(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LogWriter {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Drop for FlushAtEnd {
    fn drop(&mut self) {
        // A reader that is stuck does not keep the server from ending.
        let until = Instant::now() + FLUSH_MAX;
        let (written, wait) = sync_channel(1);
        let mut item = Item::Flush(written);
        while let Err(TrySendError::Full(back)) = self.0.queue.try_send(item) {
            if Instant::now() >= until {
                return;
            }
            item = back;
            // Not answered yet: only waits a moment for room.
            wait.recv_timeout(Duration::from_millis(5))
                .unwrap_or_default();
        }
        let left = until.saturating_duration_since(Instant::now());
        wait.recv_timeout(left).unwrap_or_default();
    }
}

fn write_lines(mut output: impl Write, items: &Receiver<Item>, counts: &Counts) {
    for item in items {
        let line = match item {
            Item::Line(line) => line,
            Item::Flush(written) => {
                // The server that asked may have given up.
                written.send(()).unwrap_or_default();
                continue;
            }
        };
        counts.queued_bytes.fetch_sub(line.len(), Ordering::Relaxed);
        let dropped = counts.dropped.swap(0, Ordering::Relaxed);
        let wrote = note(&mut output, dropped).and_then(|()| output.write_all(&line));
        if wrote.is_err() {
            // There is no other place to report it; the count is written once the output works
            // again.
            counts.dropped.fetch_add(dropped + 1, Ordering::Relaxed);
        }
    }
}

fn note(output: &mut impl Write, dropped: u64) -> io::Result<()> {
    match dropped {
        0 => Ok(()),
        _ => writeln!(output, "netaclaw: dropped {dropped} log lines"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::mpsc::channel;

    /// An output that waits before its first write until the test lets it go on.
    struct Gated {
        entered: std::sync::mpsc::Sender<()>,
        go_on: Option<Receiver<()>>,
        written: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Gated {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if let Some(go_on) = self.go_on.take() {
                self.entered.send(()).unwrap();
                go_on.recv().unwrap();
            }
            self.written.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_stuck_output_drops_lines_and_says_how_many() {
        let (entered, is_stuck) = channel();
        let (release, go_on) = channel();
        let written = Arc::new(Mutex::new(Vec::new()));
        let output = Gated {
            entered,
            go_on: Some(go_on),
            written: Arc::clone(&written),
        };
        let mut log = LogWriter::start(output).unwrap();
        log.write_all(b"first\n").unwrap();
        is_stuck.recv().unwrap();
        for _ in 0..LINES_MAX + 7 {
            log.write_all(b"more\n").unwrap();
        }
        release.send(()).unwrap();
        drop(log.flush_at_end());
        let text = String::from_utf8(written.lock().unwrap().clone()).unwrap();
        assert!(text.starts_with("first\n"), "{text}");
        assert!(text.contains("netaclaw: dropped 7 log lines\nmore\n"));
        assert_eq!(text.matches("more\n").count(), LINES_MAX);
    }

    #[test]
    fn what_waits_is_bounded_in_bytes() {
        let (entered, is_stuck) = channel();
        let (release, go_on) = channel();
        let output = Gated {
            entered,
            go_on: Some(go_on),
            written: Arc::default(),
        };
        let mut log = LogWriter::start(output).unwrap();
        log.write_all(b"first\n").unwrap();
        is_stuck.recv().unwrap();
        let long = vec![b'x'; BYTES_MAX / 4];
        for _ in 0..10 {
            log.write_all(&long).unwrap();
        }
        assert_eq!(log.counts.dropped.load(Ordering::Relaxed), 6);
        release.send(()).unwrap();
    }
}
