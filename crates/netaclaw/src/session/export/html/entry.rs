//! One entry of the page.

use super::markup::{escape, formatted, picture};
use crate::session::transcript::{self, Answer, Bash, Part, Row, Usage};
use crate::terminal::{clock, grouped, one_line};
use crate::text::Lang;
use netaclaw_session::{Entry, SessionTree};
use std::io::{self, Write};

/// Columns of a line that summarizes a longer text.
const GIST_WIDTH: usize = 120;

pub(super) struct EntryWriter<'a> {
    pub(super) tree: &'a SessionTree,
    pub(super) lang: Lang,
}

/// The position of an entry on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Ordinary,
    Leaf,
}

impl EntryWriter<'_> {
    pub(super) fn write(
        &self,
        out: &mut dyn Write,
        at: usize,
        standing: Standing,
    ) -> io::Result<()> {
        let entry = &self.tree.entries()[at];
        let row = transcript::project(entry);
        let tags = self.tags(entry, standing);
        match &row {
            Row::Compaction {
                summary,
                tokens_before,
            } => {
                let title = format!(
                    "{} · {}",
                    row.heading(self.lang),
                    self.lang.tokens_before(grouped(*tokens_before))
                );
                self.write_divider(out, at, &title, summary, &tags)
            }
            Row::BranchSummary(summary) => {
                self.write_divider(out, at, &row.heading(self.lang), summary, &tags)
            }
            Row::ToolResult {
                tool,
                failed,
                parts,
            } => self.write_result(out, at, tool, *failed, parts, &tags),
            row if row.is_bookkeeping() => {
                let title = escape(&row.heading(self.lang));
                let gist = escape(&one_line(&row.gist(self.lang), GIST_WIDTH));
                writeln!(
                    out,
                    r#"<p class="aside" id="e{at}"><b>{title}</b> {gist}{tags}</p>"#
                )
            }
            row => self.write_message(out, at, entry, row, &tags),
        }
    }

    /// Labels and the mark of the leaf.
    fn tags(&self, entry: &Entry, standing: Standing) -> String {
        let mut tags = String::new();
        if let Some(label) = self.tree.labels().get(entry.id()) {
            tags.push_str(&format!(
                r#" <span class="tag label">{}</span>"#,
                escape(&one_line(&label.text, 80))
            ));
        }
        if standing == Standing::Leaf {
            tags.push_str(&format!(
                r#" <span class="tag leaf">{}</span>"#,
                escape(&self.lang.current_leaf())
            ));
        }
        tags
    }

    fn write_message(
        &self,
        out: &mut dyn Write,
        at: usize,
        entry: &Entry,
        row: &Row<'_>,
        tags: &str,
    ) -> io::Result<()> {
        let class = match row {
            Row::User(_) => "user",
            Row::Assistant(_) => "assistant",
            Row::System(_) => "system",
            Row::Bash(_) => "shell",
            _ => "custom",
        };
        let title = match row {
            Row::Custom { custom_type, .. } => {
                format!("{} · {custom_type}", row.heading(self.lang))
            }
            row => row.heading(self.lang),
        };
        writeln!(out, r#"<article class="entry {class}" id="e{at}">"#)?;
        writeln!(
            out,
            r##"<header><h3>{}</h3>{tags}<a class="when" href="#e{at}" title="{}">{}</a></header>"##,
            escape(&one_line(&title, 80)),
            escape(entry.id().as_str()),
            escape(&clock(&entry.timestamp()))
        )?;
        match row {
            Row::User(parts)
            | Row::System(parts)
            | Row::Custom { parts, .. }
            | Row::OtherMessage { parts, .. } => {
                self.write_parts(out, parts, plain)?;
            }
            Row::Assistant(answer) => self.write_answer(out, answer)?,
            Row::Bash(bash) => self.write_bash(out, bash)?,
            _ => {}
        }
        writeln!(out, "</article>")
    }

    fn write_answer(&self, out: &mut dyn Write, answer: &Answer<'_>) -> io::Result<()> {
        self.write_parts(out, &answer.parts, |text| {
            format!(r#"<div class="text" dir="auto">{}</div>"#, formatted(text))
        })?;
        if let Some(error) = &answer.error {
            writeln!(
                out,
                r#"<pre class="error">{}</pre>"#,
                escape(error.text(self.lang))
            )?;
        }
        let mut notes = Vec::new();
        if !answer.model.is_empty() {
            notes.push(escape(&one_line(
                &format!("{}/{}", answer.provider, answer.model),
                80,
            )));
        }
        if let Some(ending) = answer.ending(self.lang) {
            notes.push(format!(
                r#"<span class="tag bad">{}</span>"#,
                escape(&ending)
            ));
        }
        notes.extend(answer.usage.as_ref().map(|usage| self.usage(usage)));
        match notes.is_empty() {
            true => Ok(()),
            false => writeln!(out, r#"<footer>{}</footer>"#, notes.join(" · ")),
        }
    }

    fn usage(&self, usage: &Usage) -> String {
        let mut text = self.lang.usage(
            grouped(usage.total),
            grouped(usage.input),
            grouped(usage.output),
        );
        if usage.cache_read + usage.cache_write > 0 {
            text.push_str(" · ");
            text.push_str(
                &self
                    .lang
                    .cached(grouped(usage.cache_read), grouped(usage.cache_write)),
            );
        }
        if usage.cost > 0.0 {
            text.push_str(&format!(
                " · {}",
                self.lang.cost(format!("{:.4}", usage.cost))
            ));
        }
        escape(&text)
    }

    fn write_bash(&self, out: &mut dyn Write, bash: &Bash<'_>) -> io::Result<()> {
        writeln!(out, "<pre>$ {}</pre>", escape(&bash.command))?;
        if !bash.output.is_empty() {
            let lines = self.lang.lines(bash.output.lines().count() as u64);
            writeln!(
                out,
                "<details><summary>{}</summary><pre>{}</pre></details>",
                escape(&lines),
                escape(&bash.output)
            )?;
        }
        let note = match (bash.cancelled, bash.exit_code) {
            (true, _) => self.lang.cancelled(),
            (false, Some(code)) if code != 0.0 => self.lang.exit_code(code),
            _ => return Ok(()),
        };
        writeln!(
            out,
            r#"<footer><span class="tag bad">{}</span></footer>"#,
            escape(&note)
        )
    }

    fn write_result(
        &self,
        out: &mut dyn Write,
        at: usize,
        tool: &str,
        failed: bool,
        parts: &[Part<'_>],
        tags: &str,
    ) -> io::Result<()> {
        let text = transcript::plain_text(parts);
        let more = self
            .lang
            .more_lines((text.lines().count() as u64).saturating_sub(1));
        let (class, open, bad) = match failed {
            true => (
                " failed",
                " open",
                format!(
                    r#" <span class="tag bad">{}</span>"#,
                    escape(&self.lang.failed())
                ),
            ),
            false => ("", "", String::new()),
        };
        writeln!(
            out,
            r#"<details class="result{class}" id="e{at}"{open}><summary><b>{}</b>{bad}{tags} <span class="gist">{}</span> <small>{}</small></summary>"#,
            escape(&one_line(tool, 60)),
            escape(&one_line(&text, GIST_WIDTH)),
            escape(&more)
        )?;
        self.write_parts(out, parts, |text| format!("<pre>{}</pre>", escape(text)))?;
        writeln!(out, "</details>")
    }

    fn write_divider(
        &self,
        out: &mut dyn Write,
        at: usize,
        title: &str,
        summary: &str,
        tags: &str,
    ) -> io::Result<()> {
        writeln!(
            out,
            r#"<details class="divider" id="e{at}"><summary><span>{}{tags}</span></summary><div class="text" dir="auto">{}</div></details>"#,
            escape(title),
            formatted(summary)
        )
    }

    fn write_parts(
        &self,
        out: &mut dyn Write,
        parts: &[Part<'_>],
        text_form: impl Fn(&str) -> String,
    ) -> io::Result<()> {
        for part in parts {
            match part {
                Part::Text(text) if text.trim().is_empty() => {}
                Part::Text(text) => writeln!(out, "{}", text_form(text))?,
                Part::Thinking(text) => writeln!(
                    out,
                    r#"<details class="thinking"><summary>{} <span class="gist">{}</span></summary>{}</details>"#,
                    escape(&self.lang.thinking()),
                    escape(&one_line(text, GIST_WIDTH)),
                    plain(text)
                )?,
                Part::ToolCall { name, arguments } => writeln!(
                    out,
                    r#"<details class="call"><summary><b>{}</b> <span class="gist">{}</span></summary><pre>{}</pre></details>"#,
                    escape(&one_line(name, 60)),
                    escape(&one_line(arguments.raw(), GIST_WIDTH)),
                    escape(&arguments.pretty())
                )?,
                Part::Image { mime, data } => self.write_image(out, mime, data)?,
                Part::Other(kind) => {
                    writeln!(
                        out,
                        r#"<p class="aside">[{}]</p>"#,
                        escape(&one_line(kind, 60))
                    )?;
                }
            }
        }
        Ok(())
    }

    fn write_image(&self, out: &mut dyn Write, mime: &str, data: &str) -> io::Result<()> {
        let name = escape(&one_line(&self.lang.image(mime), 80));
        match picture(mime, data) {
            Some(address) => writeln!(out, r#"<img alt="{name}" src="{address}">"#),
            None => writeln!(out, r#"<p class="aside">{name}</p>"#),
        }
    }
}

/// Text as it was typed.
fn plain(text: &str) -> String {
    format!(
        r#"<div class="text typed" dir="auto">{}</div>"#,
        escape(text.trim_end())
    )
}
