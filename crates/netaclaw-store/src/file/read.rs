//! Reading session files, large ones on several cores.

use super::ReadFileError;
use netaclaw_session::{LogChunk, SessionLog};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Below this a second thread costs more than it saves.
const CHUNK_BYTES_MIN: u64 = 4 << 20;
const CHUNKS_MAX: u64 = 8;
/// How much is read at a time while looking for the end of a line.
const SCAN_BYTES: usize = 64 << 10;

/// Reads any session file without locking or changing it. Blocks.
pub fn read_session_file(path: &Path) -> Result<SessionLog, ReadFileError> {
    read_log(path).map(|(log, _)| log)
}

/// The session and how many bytes of the file it was read from.
pub(super) fn read_log(path: &Path) -> Result<(SessionLog, u64), ReadFileError> {
    let file = File::open(path)?;
    let len = file.metadata()?.len();
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let chunks = (len / CHUNK_BYTES_MIN).clamp(1, CHUNKS_MAX.min(cores));
    let ranges = line_ranges(&file, len, chunks)?;
    let read: Vec<io::Result<LogChunk>> = std::thread::scope(|scope| {
        let (first, others) = ranges.split_first().expect("there is at least one range");
        let file = &file;
        let jobs: Vec<_> = others
            .iter()
            .map(|range| scope.spawn(move || read_chunk(file, range)))
            .collect();
        let first = read_chunk(file, first);
        let others = jobs.into_iter().map(|job| match job.join() {
            Ok(chunk) => chunk,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        std::iter::once(first).chain(others).collect()
    });
    let chunks = read.into_iter().collect::<io::Result<Vec<_>>>()?;
    Ok((SessionLog::from_chunks(chunks)?, len))
}

/// Cuts the file into about equal pieces, each ending with a line.
fn line_ranges(file: &File, len: u64, chunks: u64) -> io::Result<Vec<Range<u64>>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    for chunk in 1..=chunks {
        let wanted = (len * chunk / chunks).max(start);
        let end = if chunk == chunks {
            len
        } else {
            line_end(file, wanted, len)?
        };
        if end > start || ranges.is_empty() {
            ranges.push(start..end);
        }
        start = end;
    }
    Ok(ranges)
}

/// The position after the first newline at or after `from`.
fn line_end(file: &File, from: u64, len: u64) -> io::Result<u64> {
    let mut buffer = vec![0; SCAN_BYTES];
    let mut at = from;
    while at < len {
        let read = file.read_at(&mut buffer, at)?;
        if read == 0 {
            break;
        }
        if let Some(newline) = buffer[..read].iter().position(|byte| *byte == b'\n') {
            return Ok(at + newline as u64 + 1);
        }
        at += read as u64;
    }
    Ok(len)
}

fn read_chunk(file: &File, range: &Range<u64>) -> io::Result<LogChunk> {
    let len = usize::try_from(range.end - range.start).map_err(io::Error::other)?;
    let mut bytes = vec![0; len];
    file.read_exact_at(&mut bytes, range.start)?;
    Ok(LogChunk::parse(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn pieces_end_with_lines_and_cover_the_file() {
        let mut file = tempfile::tempfile().unwrap();
        let text: Vec<u8> = (0..500)
            .flat_map(|n| format!("{}\n", "x".repeat(n % 37)).into_bytes())
            .collect();
        file.write_all(&text).unwrap();
        for chunks in 1..40 {
            let ranges = line_ranges(&file, text.len() as u64, chunks).unwrap();
            let pieces: Vec<u8> = ranges
                .iter()
                .flat_map(|range| text[range.start as usize..range.end as usize].to_vec())
                .collect();
            assert_eq!(pieces, text);
            assert!(
                ranges
                    .iter()
                    .all(|range| text[range.end as usize - 1] == b'\n')
            );
        }
    }

    #[test]
    fn a_file_without_a_newline_is_one_piece() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[b'x'; 1000]).unwrap();
        assert_eq!(line_ranges(&file, 1000, 4).unwrap(), vec![0..1000]);
        assert_eq!(line_ranges(&file, 0, 1).unwrap(), vec![0..0]);
    }
}
