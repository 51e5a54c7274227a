//! `session show`: what a session is, and its active path as a transcript.

use super::overview::Overview;
use super::source::{self, Loaded};
use super::transcript::{self, Part, Row};
use crate::app::App;
use crate::error::Result;
use crate::terminal::{clock, grouped, harmless, one_line, pad};
use clap::Args;
use netaclaw_session::{Entry, SessionTree, group_children_by_parent};
use serde::{Serialize, Serializer};
use std::ffi::OsString;
use std::io::{self, Write};

/// Columns of a line that summarizes a longer text.
const GIST_WIDTH: usize = 100;

#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    /// Session file, or session id or the start of one
    #[arg(value_name = "FILE|ID")]
    session: OsString,
    /// Storage to search first: file or mysql
    #[arg(long)]
    provider: Option<String>,
    /// Print header, entries and tree as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: ShowArgs, app: &mut App) -> Result<()> {
    let loaded = source::load(app, &args.session, args.provider.as_deref()).await?;
    match args.json {
        true => Ok(write_json(&mut app.out, &loaded.tree)?),
        false => write_transcript(app, &loaded),
    }
}

/// Header and entries go out as the text they are stored as; nothing is parsed for it.
fn write_json(out: &mut impl Write, tree: &SessionTree) -> io::Result<()> {
    write!(
        out,
        r#"{{"header":{},"entries":["#,
        tree.header().json().trim()
    )?;
    for (at, entry) in tree.entries().iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        write!(out, "{comma}{}", entry.json().trim())?;
    }
    let children = group_children_by_parent(tree.entries(), tree.index());
    let roots = children
        .get("__root__")
        .map(Vec::as_slice)
        .unwrap_or_default();
    write!(
        out,
        r#"],"leafEntryId":{}"#,
        serde_json::to_string(&tree.leaf())?
    )?;
    write!(
        out,
        r#","labels":{}"#,
        serde_json::to_string(&Labels(tree))?
    )?;
    write!(out, r#","name":{}"#, serde_json::to_string(&tree.name())?)?;
    write!(out, r#","skippedLines":{}"#, tree.skipped_lines())?;
    write!(out, r#","roots":{}"#, serde_json::to_string(roots)?)?;
    writeln!(
        out,
        r#","childrenByParentId":{}}}"#,
        serde_json::to_string(&children)?
    )
}

/// Label texts by entry, in the order in which they were set.
pub(super) struct Labels<'a>(pub(super) &'a SessionTree);

impl Serialize for Labels<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let labels = self.0.labels().iter();
        serializer.collect_map(labels.map(|(target, label)| (target, &label.text)))
    }
}

fn write_transcript(app: &mut App, loaded: &Loaded) -> Result<()> {
    let overview = Overview::of(loaded, app.lang);
    write_overview(app, &overview, loaded)?;
    let path = loaded.tree.active_path().unwrap_or_default();
    if path.is_empty() {
        return Ok(writeln!(app.out, "\n{}", app.lang.empty_path())?);
    }
    for entry in path {
        write_entry(app, &loaded.tree, entry)?;
    }
    Ok(())
}

fn write_overview(app: &mut App, overview: &Overview, loaded: &Loaded) -> Result<()> {
    writeln!(app.out, "{}\n", app.paint.bold(&overview.title))?;
    let mut facts = overview.facts(app.lang);
    match (&loaded.file, &loaded.meta) {
        (Some(file), _) => facts.insert(1, (app.lang.file(), file.display().to_string())),
        (None, Some(meta)) => {
            facts.insert(1, (app.lang.provider(), meta.provider.as_str().to_owned()));
        }
        (None, None) => {}
    }
    if let Some(meta) = &loaded.meta {
        facts.push((app.lang.status(), meta.status.as_str().to_owned()));
    }
    for (word, fact) in facts {
        writeln!(
            app.out,
            "{} {}",
            app.paint.dim(&pad(&word, 10)),
            one_line(&fact, 300)
        )?;
    }
    for warning in &overview.warnings {
        let word = pad(&app.lang.warning(), 10);
        writeln!(
            app.out,
            "{} {}",
            app.paint.warning(&word),
            harmless(warning)
        )?;
    }
    Ok(())
}

fn write_entry(app: &mut App, tree: &SessionTree, entry: &Entry) -> Result<()> {
    let row = transcript::project(entry);
    let (lang, paint) = (app.lang, app.paint);
    let gist = one_line(&row.gist(lang), GIST_WIDTH);
    let tag = match tree.labels().get(entry.id()) {
        Some(label) => format!(
            " {}",
            paint.warning(&format!("[{}]", one_line(&label.text, 60)))
        ),
        None => String::new(),
    };
    if row.is_bookkeeping() {
        let line = format!("· {}: {gist}", row.title(lang));
        return Ok(writeln!(app.out, "\n{}{tag}", paint.dim(&line))?);
    }
    if let Row::ToolResult { parts, failed, .. } = &row {
        let lines = transcript::plain_text(parts).lines().count();
        let more = lang.more_lines(lines.saturating_sub(1) as u64);
        let sign = if *failed {
            paint.bad("✗")
        } else {
            paint.good("←")
        };
        return Ok(writeln!(
            app.out,
            "{sign} {} {}{tag}",
            paint.dim(&gist),
            paint.dim(&more)
        )?);
    }
    let title = row.title(lang);
    let rule = match &row {
        Row::User(_) => paint.accent(&title),
        _ => paint.bold(&title),
    };
    let about = about(app, entry, &row);
    writeln!(app.out, "\n── {rule} {}{tag}", paint.dim(&about))?;
    write_body(app, &row)
}

/// What follows the name of the author: time, model, tokens, id.
fn about(app: &App, entry: &Entry, row: &Row<'_>) -> String {
    let mut about = vec![clock(&entry.timestamp()), one_line(entry.id().as_str(), 40)];
    match row {
        Row::Assistant(answer) => {
            about.push(one_line(
                &format!("{}/{}", answer.provider, answer.model),
                60,
            ));
            about.extend(
                answer
                    .usage
                    .map(|usage| app.lang.tokens(grouped(usage.total))),
            );
            about.extend(answer.ending(app.lang));
        }
        Row::Compaction { tokens_before, .. } => {
            about.push(app.lang.tokens_before(grouped(*tokens_before)));
        }
        Row::Custom { custom_type, .. } => about.push(one_line(custom_type, 40)),
        _ => {}
    }
    format!("· {}", about.join(" · "))
}

fn write_body(app: &mut App, row: &Row<'_>) -> Result<()> {
    match row {
        Row::User(parts)
        | Row::System(parts)
        | Row::Custom { parts, .. }
        | Row::OtherMessage { parts, .. } => write_parts(app, parts),
        Row::Assistant(answer) => {
            write_parts(app, &answer.parts)?;
            if let Some(error) = &answer.error {
                writeln!(
                    app.out,
                    "{}",
                    app.paint.bad(&harmless(error.text(app.lang)))
                )?;
            }
            Ok(())
        }
        Row::Bash(bash) => {
            writeln!(app.out, "$ {}", harmless(&bash.command))?;
            Ok(writeln!(
                app.out,
                "{}",
                app.paint.dim(harmless(&bash.output).trim_end())
            )?)
        }
        Row::Compaction { summary, .. } | Row::BranchSummary(summary) => {
            Ok(writeln!(app.out, "{}", harmless(summary).trim_end())?)
        }
        _ => Ok(()),
    }
}

fn write_parts(app: &mut App, parts: &[Part<'_>]) -> Result<()> {
    let (lang, paint) = (app.lang, app.paint);
    for part in parts {
        match part {
            Part::Text(text) if text.trim().is_empty() => {}
            Part::Text(text) => writeln!(app.out, "{}", harmless(text).trim_end())?,
            Part::Thinking(text) => {
                let gist = one_line(&lang.thinking_of(text), GIST_WIDTH);
                writeln!(app.out, "{}", paint.dim(&gist))?;
            }
            Part::ToolCall { name, arguments } => {
                let call = one_line(&format!("{name} {}", arguments.raw()), GIST_WIDTH);
                writeln!(app.out, "{} {call}", paint.accent("→"))?;
            }
            Part::Image { mime, .. } => {
                writeln!(app.out, "{}", paint.dim(&one_line(&lang.image(mime), 60)))?;
            }
            Part::Other(kind) => {
                let note = format!("[{}]", one_line(kind, 40));
                writeln!(app.out, "{}", paint.dim(&note))?;
            }
        }
    }
    Ok(())
}
