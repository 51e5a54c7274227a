//! A terminal of a test's own, so that Ctrl-C is what the kernel makes of it.

use crate::support::Workspace;
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// Far more than anything here takes.
const LONG: Duration = Duration::from_secs(30);

pub(crate) struct Pty {
    keyboard: File,
    child: Child,
    shown: Arc<Shown>,
    /// How much of it the test has looked at.
    seen: usize,
}

/// All that came to the screen so far.
struct Shown {
    text: Mutex<(String, bool)>,
    /// What a terminal makes of it.
    screen: Mutex<vt100::Parser>,
    more: Condvar,
}

impl Pty {
    /// A terminal that says nothing of its size.
    pub(crate) fn start(workspace: &Workspace, arguments: &str) -> Self {
        Self::of_size(workspace, arguments, 0, 0)
    }

    pub(crate) fn of_size(workspace: &Workspace, arguments: &str, columns: u16, rows: u16) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let keyboard = openpt(flags).unwrap();
        grantpt(&keyboard).unwrap();
        unlockpt(&keyboard).unwrap();
        let terminal = ioctl_tiocgptpeer(&keyboard, flags).unwrap();
        tcsetwinsize(&keyboard, size(columns, rows)).unwrap();
        let mut command = workspace.command_of_terminal(arguments);
        command
            .stdin(terminal.try_clone().unwrap())
            .stdout(terminal.try_clone().unwrap())
            .stderr(terminal);
        let child = command.spawn().unwrap();
        // No other process may have the terminal open, or its end would not be seen.
        drop(command);
        let keyboard = File::from(keyboard);
        let screen = vt100::Parser::new(at_least_one(rows), at_least_one(columns), 0);
        let shown = Arc::new(Shown {
            text: Mutex::default(),
            screen: Mutex::new(screen),
            more: Condvar::new(),
        });
        let (screen, reader) = (Arc::clone(&shown), keyboard.try_clone().unwrap());
        std::thread::spawn(move || screen.fill(reader));
        Self {
            keyboard,
            child,
            shown,
            seen: 0,
        }
    }

    /// Types a line.
    pub(crate) fn line(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
        self.keyboard.write_all(b"\n").unwrap();
    }

    /// Types what keys send.
    pub(crate) fn keys(&mut self, bytes: &str) {
        self.keyboard.write_all(bytes.as_bytes()).unwrap();
    }

    /// Gives the terminal another size.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        let mut screen = self.shown.screen.lock().unwrap();
        screen
            .screen_mut()
            .set_size(at_least_one(rows), at_least_one(columns));
        drop(screen);
        tcsetwinsize(&self.keyboard, size(columns, rows)).unwrap();
    }

    /// Waits until the screen is as it should be, and gives its rows without spaces at their ends.
    pub(crate) fn screen(&mut self, what: &str, is_there: impl Fn(&str) -> bool) -> String {
        let until = Instant::now() + LONG;
        let mut shown = self.shown.text.lock().unwrap();
        loop {
            let screen = self.shown.screen.lock().unwrap().screen().contents();
            if is_there(&screen) {
                return screen;
            }
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "no {what} on the screen:\n{screen}");
            shown = self.shown.more.wait_timeout(shown, left).unwrap().0;
        }
    }

    /// Waits until a text is on the screen.
    pub(crate) fn shows(&mut self, text: &str) -> String {
        self.screen(text, |screen| screen.contains(text))
    }

    /// Every byte that came.
    pub(crate) fn all(&self) -> String {
        self.shown.text.lock().unwrap().0.clone()
    }

    pub(crate) fn control_c(&mut self) {
        self.keyboard.write_all(b"\x03").unwrap();
    }

    /// Waits until a text is shown behind what was waited for before, and gives all up to its end.
    pub(crate) fn wait(&mut self, text: &str) -> String {
        let until = Instant::now() + LONG;
        let mut shown = self.shown.text.lock().unwrap();
        loop {
            let (all, ended) = &*shown;
            if let Some(at) = all[self.seen..].find(text) {
                let end = self.seen + at + text.len();
                let found = all[self.seen..end].to_owned();
                self.seen = end;
                return found;
            }
            let left = until.saturating_duration_since(Instant::now());
            assert!(
                !ended && !left.is_zero(),
                "no {text:?} in {:?}",
                &all[self.seen..]
            );
            shown = self.shown.more.wait_timeout(shown, left).unwrap().0;
        }
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for the program to end, and returns what it printed before.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        let until = Instant::now() + LONG;
        let mut shown = self.shown.text.lock().unwrap();
        while !shown.1 {
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "it goes on: {:?}", &shown.0[self.seen..]);
            shown = self.shown.more.wait_timeout(shown, left).unwrap().0;
        }
        (self.child.wait().unwrap(), shown.0[self.seen..].to_owned())
    }
}

impl Shown {
    /// Reads until the terminal is closed, which shows as an error.
    fn fill(&self, mut reader: File) {
        let mut bytes = Vec::new();
        let mut piece = [0; 4096];
        while let Ok(read @ 1..) = reader.read(&mut piece) {
            bytes.extend_from_slice(&piece[..read]);
            self.screen.lock().unwrap().process(&piece[..read]);
            let text = String::from_utf8_lossy(&bytes).replace('\r', "");
            self.text.lock().unwrap().0 = text;
            self.more.notify_all();
        }
        self.text.lock().unwrap().1 = true;
        self.more.notify_all();
    }
}

fn at_least_one(number: u16) -> NonZero<u16> {
    NonZero::new(number).unwrap_or(NonZero::<u16>::MIN)
}

fn size(columns: u16, rows: u16) -> Winsize {
    Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}
