//! The whole tree as one page that needs nothing else: no scripts, no fonts, no network.
//!
//! The page is flat. Each branch is a section of its own, linked with the entry it hangs from, so
//! that a long session is a long page and never a deep one.

mod entry;
mod markup;

use crate::session::forest::{At, Branch, Detail, Forest};
use crate::session::overview::Overview;
use crate::session::source::Loaded;
use crate::session::transcript::{self, Row};
use crate::terminal::one_line;
use crate::text::Lang;
use entry::{EntryWriter, Standing};
use markup::escape;
use netaclaw_session::SessionTree;
use std::io::{self, Write};

const CSS: &str = include_str!("page.css");
/// Nothing may be fetched and nothing may run, whatever the session says.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
/// Questions that the outline names at the beginning and at the end of the active path.
const QUESTIONS_SHOWN: usize = 40;
/// Deeper branches are not moved further to the right.
const INDENT_MAX: usize = 6;

pub(super) fn write(out: &mut dyn Write, loaded: &Loaded, lang: Lang) -> io::Result<()> {
    let overview = Overview::of(loaded, lang);
    let page = Page {
        forest: Forest::new(&loaded.tree, Detail::Readable),
        leaf: loaded
            .tree
            .leaf()
            .and_then(|leaf| loaded.tree.index().position(leaf)),
        tree: &loaded.tree,
        lang,
    };
    page.write_head(out, &overview)?;
    writeln!(out, r#"<div class="columns">"#)?;
    page.write_outline(out)?;
    writeln!(out, "<main>")?;
    for number in page.order() {
        page.write_branch(out, number)?;
    }
    writeln!(out, "</main>\n</div>")?;
    writeln!(
        out,
        r#"<footer class="end">{}</footer>"#,
        escape(&lang.made_by())
    )?;
    writeln!(out, "</body>\n</html>")
}

struct Page<'a> {
    tree: &'a SessionTree,
    forest: Forest,
    leaf: Option<At>,
    lang: Lang,
}

impl Page<'_> {
    fn write_head(&self, out: &mut dyn Write, overview: &Overview) -> io::Result<()> {
        let title = escape(&overview.title);
        writeln!(
            out,
            "<!doctype html>\n<html lang=\"{}\">\n<head>",
            self.lang.tag()
        )?;
        writeln!(out, "<meta charset=\"utf-8\">")?;
        writeln!(
            out,
            "<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">"
        )?;
        writeln!(
            out,
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
        )?;
        writeln!(out, "<meta name=\"referrer\" content=\"no-referrer\">")?;
        writeln!(out, "<meta name=\"color-scheme\" content=\"light dark\">")?;
        writeln!(
            out,
            "<title>{title}</title>\n<style>\n{CSS}</style>\n</head>\n<body>"
        )?;
        writeln!(out, r#"<header class="top"><h1 dir="auto">{title}</h1>"#)?;
        writeln!(out, "<dl>")?;
        for (word, fact) in overview.facts(self.lang) {
            writeln!(
                out,
                "<div><dt>{}</dt><dd>{}</dd></div>",
                escape(&word),
                escape(&one_line(&fact, 300))
            )?;
        }
        writeln!(out, "</dl>")?;
        for warning in &overview.warnings {
            writeln!(out, r#"<p class="warning">{}</p>"#, escape(warning))?;
        }
        writeln!(out, "</header>")
    }

    /// The active branch first, the others as the forest has them.
    fn order(&self) -> impl Iterator<Item = usize> + '_ {
        let count = self.forest.branches.len();
        let is_active = |number: &usize| self.forest.branches[*number].is_active;
        let active = (0..count).filter(is_active);
        active.chain((0..count).filter(move |number| !is_active(number)))
    }

    fn write_outline(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            r#"<nav><details open><summary>{}</summary><ol>"#,
            escape(&self.lang.outline())
        )?;
        for number in self.order() {
            let branch = &self.forest.branches[number];
            let depth = branch.depth.min(INDENT_MAX);
            let active = if branch.is_active { " active" } else { "" };
            write!(
                out,
                r##"<li class="d{depth}{active}"><a href="#b{number}">{}</a>"##,
                escape(&self.name(number))
            )?;
            match branch.is_active {
                true => self.write_questions(out, branch)?,
                false => write!(
                    out,
                    r#" <small dir="auto">{}</small>"#,
                    escape(&self.opening(branch))
                )?,
            }
            writeln!(out, "</li>")?;
        }
        writeln!(out, "</ol></details></nav>")
    }

    fn write_questions(&self, out: &mut dyn Write, branch: &Branch) -> io::Result<()> {
        let questions: Vec<At> = branch
            .entries
            .iter()
            .copied()
            .filter(|at| self.is_question(*at))
            .collect();
        let cut = questions.len() > 2 * QUESTIONS_SHOWN;
        write!(out, "<ol>")?;
        for (nth, at) in questions.iter().enumerate() {
            if cut && nth == QUESTIONS_SHOWN {
                write!(out, "<li>…</li>")?;
            }
            if cut && (QUESTIONS_SHOWN..questions.len() - QUESTIONS_SHOWN).contains(&nth) {
                continue;
            }
            let gist = self.gist(*at, 80);
            write!(
                out,
                r##"<li><a href="#e{at}" dir="auto">{}</a></li>"##,
                escape(&gist)
            )?;
        }
        write!(out, "</ol>")
    }

    fn write_branch(&self, out: &mut dyn Write, number: usize) -> io::Result<()> {
        let branch = &self.forest.branches[number];
        let size = escape(&self.lang.entries(branch.entries.len() as u64));
        let name = escape(&self.name(number));
        match branch.is_active {
            true => writeln!(
                out,
                r#"<section class="branch active" id="b{number}"><h2>{name} <small>{size}</small></h2>"#
            )?,
            false => writeln!(
                out,
                r#"<section class="branch" id="b{number}"><details class="side" open><summary><h2>{name} <small>{size}</small></h2></summary>"#
            )?,
        }
        if let Some(fork) = branch.fork {
            let from = escape(&self.lang.branches_from());
            let gist = escape(&self.gist(fork, 64));
            writeln!(
                out,
                r##"<p class="from">{from} <a href="#e{fork}" dir="auto">{gist}</a></p>"##
            )?;
        }
        self.write_entries(out, branch)?;
        writeln!(
            out,
            "{}</section>",
            if branch.is_active { "" } else { "</details>" }
        )
    }

    fn write_entries(&self, out: &mut dyn Write, branch: &Branch) -> io::Result<()> {
        let entries = EntryWriter {
            tree: self.tree,
            lang: self.lang,
        };
        let mut sides = branch.sides.iter().peekable();
        for (place, at) in branch.entries.iter().copied().enumerate() {
            let standing = match self.leaf == Some(at) {
                true => Standing::Leaf,
                false => Standing::Ordinary,
            };
            entries.write(out, at, standing)?;
            while let Some((_, side)) = sides.next_if(|(fork, _)| *fork == place) {
                let opening = escape(&self.opening(&self.forest.branches[*side]));
                let name = escape(&self.name(*side));
                writeln!(
                    out,
                    r##"<p class="fork"><a href="#b{side}">{name}</a> <span dir="auto">{opening}</span></p>"##
                )?;
            }
        }
        Ok(())
    }

    fn name(&self, number: usize) -> String {
        match self.forest.branches[number].is_active {
            true => self.lang.active_path(),
            false => self.lang.branch_number(number),
        }
    }

    /// What a branch begins with, as far as one line tells: its first message, not its settings.
    fn opening(&self, branch: &Branch) -> String {
        let spoken = branch
            .entries
            .iter()
            .take(8)
            .copied()
            .find(|at| !transcript::project(&self.tree.entries()[*at]).is_bookkeeping());
        let at = spoken.or(branch.entries.first().copied());
        at.map(|at| self.gist(at, 64)).unwrap_or_default()
    }

    fn gist(&self, at: At, width: usize) -> String {
        let row = transcript::project(&self.tree.entries()[at]);
        let gist = one_line(&row.gist(self.lang), width);
        match gist.is_empty() {
            true => row.title(self.lang),
            false => gist,
        }
    }

    fn is_question(&self, at: At) -> bool {
        matches!(transcript::project(&self.tree.entries()[at]), Row::User(_))
    }
}
