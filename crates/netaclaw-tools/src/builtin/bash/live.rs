//! The output of a command, for connected clients: soon, but no faster than a page can show.

use crate::context::Updates;
use crate::spawn::Utf8Stream;
use crate::update::ToolUpdate;
use std::time::Duration;
use tokio::time::Instant;

/// Output is shown at most this often; the first piece at once.
const EVERY: Duration = Duration::from_millis(80);
/// What came since the last time and is more than this is left out from the front.
const BYTES_MAX: usize = 16 << 10;

pub(super) struct LiveOutput {
    updates: Updates,
    waiting: Vec<u8>,
    left_out: usize,
    text: Utf8Stream,
    last: Option<Instant>,
}

impl LiveOutput {
    pub(super) fn new(updates: Updates) -> Self {
        Self {
            updates,
            waiting: Vec::new(),
            left_out: 0,
            text: Utf8Stream::default(),
            last: None,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() > BYTES_MAX {
            let mut cut = self.waiting.len() - BYTES_MAX;
            // Not in the middle of a character.
            while self
                .waiting
                .get(cut)
                .is_some_and(|byte| byte & 0xc0 == 0x80)
            {
                cut += 1;
            }
            self.waiting.drain(..cut);
            self.left_out += cut;
        }
        if self.last.is_none_or(|last| last.elapsed() >= EVERY) {
            self.flush();
        }
    }

    /// When there is something to show.
    pub(super) fn due(&self) -> Option<Instant> {
        let waits = !self.waiting.is_empty();
        self.last.filter(|_| waits).map(|last| last + EVERY)
    }

    pub(super) fn flush(&mut self) {
        self.last = Some(Instant::now());
        let mut shown = String::new();
        if self.left_out > 0 {
            shown.push_str(&format!("\n[… {} bytes …]\n", self.left_out));
            self.left_out = 0;
        }
        shown.push_str(&self.text.push(&std::mem::take(&mut self.waiting)));
        if !shown.is_empty() {
            self.updates.send(ToolUpdate::Output(shown));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[tokio::test(start_paused = true)]
    async fn the_first_piece_comes_at_once_and_a_flood_in_part() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let keep = seen.clone();
        let mut live = LiveOutput::new(Updates::new(move |update| {
            if let ToolUpdate::Output(text) = update {
                keep.lock().unwrap().push(text);
            }
        }));
        live.push("水".as_bytes());
        assert_eq!(live.due(), None);
        for _ in 0..10_000 {
            live.push("水\n".as_bytes());
        }
        let due = live.due().expect("the rest waits");
        tokio::time::sleep_until(due).await;
        live.flush();
        let seen = seen.lock().unwrap();
        assert_eq!(seen.len(), 2);
        assert_eq!(seen[0], "水");
        assert!(seen[1].starts_with("\n[… "), "{}", &seen[1][..40]);
        assert!(seen[1].len() < BYTES_MAX + 100 && !seen[1].contains('\u{fffd}'));
    }
}
