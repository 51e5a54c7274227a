//! Logs of steps in the data directory: `process-logs/<session>/<operation>.jsonl`.
//!
//! Names are made of ids that come from models and clients. They are spelled so that no two ids
//! share a file and none leads out of its directory.

use crate::{blocking, private};
use async_trait::async_trait;
use netaclaw_engine::ProcessLogs;
use netaclaw_protocol::{ProcessLogPage, RuntimeProcessEvent, SessionId};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;

/// The maximum of one log; the rest is left out, and the log says so.
const LOG_BYTES_MAX: u64 = 64 << 20;
/// A line is far shorter; what is longer was damaged.
const LINE_BYTES_MAX: usize = 1 << 20;
const NAME_BYTES_MAX: usize = 100;
const FULL: &[u8] = b"{\"full\":true}\n";

pub struct FileProcessLogs {
    dir: PathBuf,
}

impl FileProcessLogs {
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    fn session_dir(&self, session: &SessionId) -> PathBuf {
        self.dir.join(plain_name(session.as_str()))
    }

    fn place(&self, session: &SessionId, operation: &str) -> PathBuf {
        let name = format!("{}.jsonl", plain_name(operation));
        self.session_dir(session).join(name)
    }
}

#[async_trait]
impl ProcessLogs for FileProcessLogs {
    async fn append(&self, session: &SessionId, operation: &str, lines: Vec<u8>) -> io::Result<()> {
        let place = self.place(session, operation);
        blocking(move || {
            if let Some(dir) = place.parent() {
                private::create_dir_all(dir)?;
            }
            let mut options = private::options();
            let mut file = options.append(true).create(true).open(&place)?;
            append_lines(&mut file, &lines)
        })
        .await
    }

    async fn page(
        &self,
        session: &SessionId,
        operation: &str,
        page: u32,
        size: u32,
    ) -> io::Result<Option<ProcessLogPage>> {
        let place = self.place(session, operation);
        blocking(move || match File::open(place) {
            Ok(file) => read_page(file, page, size).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        })
        .await
    }

    async fn remove(&self, session: &SessionId) -> io::Result<()> {
        let dir = self.session_dir(session);
        blocking(move || match fs::remove_dir_all(dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        })
        .await
    }
}

/// Adds what fits, in whole lines, and once a line that says that there was more.
fn append_lines(file: &mut File, lines: &[u8]) -> io::Result<()> {
    let there = file.metadata()?.len();
    if there > LOG_BYTES_MAX {
        return Ok(());
    }
    let room = usize::try_from(LOG_BYTES_MAX - there).unwrap_or(usize::MAX);
    if lines.len() <= room {
        return file.write_all(lines);
    }
    let end = lines[..room].iter().rposition(|byte| *byte == b'\n');
    let mut kept = lines[..end.map_or(0, |end| end + 1)].to_vec();
    kept.extend_from_slice(FULL);
    // So that it is too large from now on, whatever fitted.
    kept.resize(kept.len().max(room + 1), b'\n');
    file.write_all(&kept)
}

fn read_page(file: File, page: u32, size: u32) -> io::Result<ProcessLogPage> {
    let first = u64::from(page.saturating_sub(1)) * u64::from(size);
    let wanted = first..first + u64::from(size);
    let mut found = ProcessLogPage {
        items: Vec::new(),
        page,
        size,
        total: 0,
        truncated: false,
    };
    let mut reader = BufReader::with_capacity(256 << 10, file);
    let mut line = Vec::new();
    while read_line(&mut reader, &mut line)? {
        match line.trim_ascii() {
            b"" => continue,
            text if text == FULL.trim_ascii() => found.truncated = true,
            text => {
                if wanted.contains(&found.total) {
                    // What cannot be read has its number all the same.
                    let item = serde_json::from_slice::<RuntimeProcessEvent>(text);
                    found.items.extend(item.ok());
                }
                found.total += 1;
            }
        }
    }
    Ok(found)
}

fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let read = reader.read_until(b'\n', line)?;
    line.truncate(LINE_BYTES_MAX);
    Ok(read > 0)
}

/// An id as a file name: letters, digits and hyphens as they are, all others by their number, and
/// long results by their hash.
fn plain_name(id: &str) -> String {
    use std::fmt::Write as _;
    let mut name = String::new();
    for byte in id.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' => name.push(char::from(byte)),
            _ => write!(name, "_{byte:02x}").expect("a text takes all"),
        }
    }
    if name.is_empty() {
        return "_".to_owned();
    }
    if name.len() > NAME_BYTES_MAX {
        let hash = Sha256::digest(id.as_bytes());
        name.truncate(NAME_BYTES_MAX - 34);
        name.push_str("__");
        for byte in &hash[..16] {
            write!(name, "{byte:02x}").expect("a text takes all");
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_id_leads_elsewhere_and_no_two_share_a_name() {
        let long = "x".repeat(500);
        let longer = "x".repeat(501);
        let ids = [
            "../../etc/passwd",
            "..",
            ".",
            "",
            "a/b",
            "a_b",
            "a_2fb",
            "a\0b",
            "水",
            &long,
            &longer,
        ];
        let names: Vec<String> = ids.iter().map(|id| plain_name(id)).collect();
        for name in &names {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
            assert!(!name.is_empty() && name.len() <= NAME_BYTES_MAX, "{name}");
            assert!(name.bytes().all(plain), "{name}");
        }
        let different: HashSet<&String> = names.iter().collect();
        assert_eq!(different.len(), ids.len());
    }

    #[test]
    fn a_log_that_is_full_says_so_and_grows_no_more() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("log");
        let mut file = File::options()
            .append(true)
            .create(true)
            .open(&place)
            .unwrap();
        file.set_len(LOG_BYTES_MAX - 10).unwrap();
        append_lines(&mut file, b"1\n2\n3\n4\n5\n6\n7\n").unwrap();
        let size = file.metadata().unwrap().len();
        append_lines(&mut file, b"8\n").unwrap();
        assert_eq!(file.metadata().unwrap().len(), size);
        let text = fs::read(&place).unwrap();
        let end = String::from_utf8_lossy(&text[text.len() - 30..]).into_owned();
        assert!(end.contains("5\n{\"full\":true}"), "{end:?}");
    }
}
