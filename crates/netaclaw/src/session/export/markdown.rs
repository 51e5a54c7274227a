//! The active path as a Markdown document.

use super::sanitize::{fenced, formatted, inline, quoted};
use crate::session::overview::Overview;
use crate::session::source::Loaded;
use crate::session::transcript::{self, Answer, Bash, Part, Row};
use crate::terminal::{clock, grouped};
use crate::text::Lang;
use netaclaw_session::{Entry, SessionTree};
use std::io::{self, Write};

pub(super) fn write(out: &mut dyn Write, loaded: &Loaded, lang: Lang) -> io::Result<()> {
    let overview = Overview::of(loaded, lang);
    writeln!(out, "# {}\n", inline(&overview.title))?;
    for (word, fact) in overview.facts(lang) {
        writeln!(out, "- {word}: {}", inline(&fact))?;
    }
    for warning in &overview.warnings {
        writeln!(out, "- **{}**: {}", lang.warning(), inline(warning))?;
    }
    for entry in loaded.tree.active_path().unwrap_or_default() {
        write_entry(out, &loaded.tree, entry, lang)?;
    }
    Ok(())
}

fn write_entry(
    out: &mut dyn Write,
    tree: &SessionTree,
    entry: &Entry,
    lang: Lang,
) -> io::Result<()> {
    let row = transcript::project(entry);
    let label = tree.labels().get(entry.id());
    let tag = label
        .map(|label| format!(" \\[{}\\]", inline(&label.text)))
        .unwrap_or_default();
    if row.is_bookkeeping() {
        let gist = inline(&row.gist(lang));
        return writeln!(out, "\n*{}: {gist}*{tag}", inline(&row.heading(lang)));
    }
    writeln!(out, "\n## {}{tag}\n", heading(&row, lang))?;
    let about = [clock(&entry.timestamp()), entry.id().to_string()];
    let about: Vec<String> = about
        .iter()
        .filter(|part| !part.is_empty())
        .map(|part| inline(part))
        .collect();
    writeln!(out, "*{}*", about.join(" · "))?;
    match &row {
        Row::User(parts) => write_parts(out, parts, lang, quoted),
        Row::Assistant(answer) => write_answer(out, answer, lang),
        Row::ToolResult { parts, .. } => write_parts(out, parts, lang, |text| fenced(text, "text")),
        Row::Bash(bash) => write_bash(out, bash, lang),
        Row::System(parts) | Row::Custom { parts, .. } | Row::OtherMessage { parts, .. } => {
            write_parts(out, parts, lang, quoted)
        }
        Row::Compaction { summary, .. } | Row::BranchSummary(summary) => {
            writeln!(out, "\n{}", quoted(summary))
        }
        _ => Ok(()),
    }
}

fn heading(row: &Row<'_>, lang: Lang) -> String {
    let title = row.heading(lang);
    let more = match row {
        Row::Assistant(answer) => format!("{}/{}", answer.provider, answer.model),
        Row::ToolResult {
            tool, failed: true, ..
        } => format!("{tool} ({})", lang.failed()),
        Row::ToolResult { tool, .. } => tool.to_string(),
        Row::Custom { custom_type, .. } => custom_type.to_string(),
        Row::Compaction { tokens_before, .. } => lang.tokens_before(grouped(*tokens_before)),
        _ => return inline(&title),
    };
    format!("{} · {}", inline(&title), inline(&more))
}

fn write_answer(out: &mut dyn Write, answer: &Answer<'_>, lang: Lang) -> io::Result<()> {
    write_parts(out, &answer.parts, lang, formatted)?;
    if let Some(error) = &answer.error {
        writeln!(
            out,
            "\n**{}**\n\n{}",
            lang.error(),
            fenced(error.text(lang), "text")
        )?;
    }
    let mut notes = Vec::new();
    notes.extend(answer.ending(lang));
    notes.extend(answer.usage.map(|usage| {
        lang.usage(
            grouped(usage.total),
            grouped(usage.input),
            grouped(usage.output),
        )
    }));
    match notes.is_empty() {
        true => Ok(()),
        false => writeln!(out, "\n*{}*", inline(&notes.join(" · "))),
    }
}

fn write_bash(out: &mut dyn Write, bash: &Bash<'_>, lang: Lang) -> io::Result<()> {
    writeln!(out, "\n{}", fenced(&bash.command, "sh"))?;
    if !bash.output.is_empty() {
        writeln!(out, "\n{}", fenced(&bash.output, "text"))?;
    }
    match (bash.cancelled, bash.exit_code) {
        (true, _) => writeln!(out, "\n*{}*", lang.cancelled()),
        (false, Some(code)) if code != 0.0 => writeln!(out, "\n*{}*", lang.exit_code(code)),
        _ => Ok(()),
    }
}

fn write_parts(
    out: &mut dyn Write,
    parts: &[Part<'_>],
    lang: Lang,
    text_form: impl Fn(&str) -> String,
) -> io::Result<()> {
    for part in parts {
        match part {
            Part::Text(text) if text.trim().is_empty() => {}
            Part::Text(text) => writeln!(out, "\n{}", text_form(text))?,
            Part::Thinking(text) => {
                writeln!(out, "\n*{}*\n\n{}", lang.thinking(), quoted(text))?;
            }
            Part::ToolCall { name, arguments } => {
                let arguments = fenced(&arguments.pretty(), "json");
                writeln!(out, "\n**→ {}**\n\n{arguments}", inline(name))?;
            }
            Part::Image { mime, .. } => writeln!(out, "\n*{}*", inline(&lang.image(mime)))?,
            Part::Other(kind) => writeln!(out, "\n*\\[{}\\]*", inline(kind))?,
        }
    }
    Ok(())
}
