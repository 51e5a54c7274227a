//! What every command is given: the words, the output, and the way to the sessions.

use crate::config::{Config, Environment, Flags};
use crate::error::Result;
use crate::terminal::{Paint, harmless};
use crate::text::Lang;
use std::io::{self, BufWriter, Stdout, Write};

pub(crate) struct App {
    pub(crate) lang: Lang,
    pub(crate) paint: Paint,
    pub(crate) out: BufWriter<Stdout>,
    pub(crate) env: Environment,
    flags: Flags,
}

impl App {
    pub(crate) fn new(lang: Lang, flags: Flags, env: Environment) -> Self {
        Self {
            lang,
            paint: Paint::for_stdout(env.no_color),
            out: BufWriter::with_capacity(1 << 16, io::stdout()),
            flags,
            env,
        }
    }

    /// The settings. Read when sessions are asked for by id, so that looking at a file needs
    /// nothing but the file.
    pub(crate) fn config(&self, provider: Option<&str>) -> Result<Config> {
        let flags = Flags {
            provider: provider.map(str::to_owned),
            ..self.flags.clone()
        };
        let config = Config::load(&flags, &self.env, self.lang)?;
        for warning in &config.warnings {
            self.warn(warning);
        }
        Ok(config)
    }

    /// The settings, for who says in another way what was understood only in part.
    pub(crate) fn load_config(&self) -> Result<Config> {
        Config::load(&self.flags, &self.env, self.lang)
    }

    /// A remark for people that is not part of the output.
    pub(crate) fn warn(&self, text: &str) {
        say(text);
    }
}

/// Writes one line of NetaClaw's own words to the error output.
pub(crate) fn say(text: &str) {
    // If the error output is closed, there is nowhere to report it.
    writeln!(io::stderr(), "netaclaw: {}", harmless(text)).unwrap_or_default();
}

/// How a command that ran to its end ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// `verify` found damage.
    Damaged,
    /// Some of what was asked could not be done; it has been said which.
    Failed,
}
