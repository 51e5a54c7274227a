//! Searching one file, line by line, in memory that does not depend on its size.

use super::hits::HitLine;
use super::pattern::{Interruptible, Pattern};
use grep_matcher::Matcher;
use grep_searcher::{
    BinaryDetection, MmapChoice, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch,
};
use std::fs::File;
use std::io::{self, Read};
use tokio_util::sync::CancellationToken;

/// A line longer than this is not searched, whatever the pattern.
const LINE_BYTES_MAX: usize = 8 << 20;
/// Of a longer line the part around the match is shown.
const SHOWN_BYTES_MAX: usize = 400;
/// What is shown in front of the match in a line that is cut.
const BEFORE_MATCH: usize = 100;

/// How a search of one file ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Searched {
    Whole,
    Binary,
    Unreadable,
    LongLine,
}

pub(super) struct LineSearcher<'a> {
    searcher: Searcher,
    matcher: Interruptible<'a>,
    cancel: &'a CancellationToken,
}

impl<'a> LineSearcher<'a> {
    pub(super) fn new(pattern: &'a Pattern, around: usize, cancel: &'a CancellationToken) -> Self {
        let searcher = SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            // A file that is cut short while it is mapped would end the process.
            .memory_map(MmapChoice::never())
            .heap_limit(Some(LINE_BYTES_MAX.min(pattern.line_bytes())))
            .line_number(true)
            .before_context(around)
            .after_context(around)
            .build();
        Self {
            searcher,
            matcher: pattern.until(cancel),
            cancel,
        }
    }

    /// The lines found and how many of them match; it ends at the limit.
    pub(super) fn search(
        &mut self,
        file: File,
        stop_after: usize,
    ) -> (Searched, Vec<HitLine>, usize) {
        let reader = CancellableFile {
            file,
            cancel: self.cancel,
        };
        let mut taker = HitCollector {
            matcher: self.matcher,
            lines: Vec::new(),
            matches: 0,
            stop_after,
            gap: false,
            binary: false,
        };
        let ended = self
            .searcher
            .search_reader(self.matcher, reader, &mut taker);
        let searched = match ended {
            _ if taker.binary => Searched::Binary,
            Ok(()) => Searched::Whole,
            // What was read so far counts.
            Err(_) if self.cancel.is_cancelled() => Searched::Whole,
            // Its buffer would have to grow beyond its limit, or the pattern is too costly for it.
            Err(error) if error.kind() == io::ErrorKind::Other => Searched::LongLine,
            Err(_) => Searched::Unreadable,
        };
        (searched, taker.lines, taker.matches)
    }
}

/// Ends a long file soon after the call was cancelled.
struct CancellableFile<'a> {
    file: File,
    cancel: &'a CancellationToken,
}

impl Read for CancellableFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.cancel.is_cancelled() {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => self.file.read(buffer),
        }
    }
}

struct HitCollector<'a> {
    matcher: Interruptible<'a>,
    lines: Vec<HitLine>,
    matches: usize,
    stop_after: usize,
    /// The next line does not follow the last one.
    gap: bool,
    binary: bool,
}

impl HitCollector<'_> {
    fn take(&mut self, number: Option<u64>, bytes: &[u8], is_match: bool) {
        let text = match is_match {
            true => {
                let found = self.matcher.find(bytes).ok().flatten();
                around(bytes, found.map_or(0, |found| found.start()))
            }
            false => around(bytes, 0),
        };
        self.lines.push(HitLine {
            number: number.unwrap_or_default(),
            text,
            is_match,
            after_gap: std::mem::take(&mut self.gap),
        });
    }
}

impl Sink for HitCollector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.take(found.line_number(), found.bytes(), true);
        self.matches += 1;
        Ok(self.matches < self.stop_after)
    }

    fn context(&mut self, _searcher: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        self.take(context.line_number(), context.bytes(), false);
        Ok(true)
    }

    fn context_break(&mut self, _searcher: &Searcher) -> io::Result<bool> {
        self.gap = true;
        Ok(true)
    }

    fn binary_data(&mut self, _searcher: &Searcher, _offset: u64) -> io::Result<bool> {
        self.binary = true;
        Ok(false)
    }
}

/// A line as text, cut to what is around the match if it is long.
fn around(line: &[u8], at: usize) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= SHOWN_BYTES_MAX {
        return String::from_utf8_lossy(line).into_owned();
    }
    let from = match at.saturating_sub(BEFORE_MATCH) {
        from if from + SHOWN_BYTES_MAX > line.len() => line.len() - SHOWN_BYTES_MAX,
        from => from,
    };
    let until = from + SHOWN_BYTES_MAX;
    // Characters that a cut would break are left out.
    let is_inner = |&byte: &u8| byte & 0xc0 == 0x80;
    let skip = line[from..until]
        .iter()
        .take(3)
        .take_while(|b| is_inner(b))
        .count();
    let mut end = until;
    while end > from && end < line.len() && is_inner(&line[end]) {
        end -= 1;
    }
    let text = String::from_utf8_lossy(&line[from + skip..end.max(from + skip)]);
    let before = if from > 0 { "…" } else { "" };
    let after = if until < line.len() { "…" } else { "" };
    format!("{before}{text}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_shown_around_the_match_and_between_characters() {
        assert_eq!(around(b"short\r\n", 0), "short");
        let line = format!("{}needle{}", "水".repeat(500), "火".repeat(500));
        let text = around(line.as_bytes(), 1500);
        assert!(text.starts_with("…水") && text.ends_with("火…"), "{text}");
        assert!(
            text.contains("needle") && !text.contains('\u{fffd}'),
            "{text}"
        );
        let end = around(line.as_bytes(), line.len() - 1);
        assert!(end.ends_with('火') && end.len() < 420, "{end}");
    }
}
