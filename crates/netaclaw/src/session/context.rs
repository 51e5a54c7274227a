//! `session context`: what a model would see, at the leaf or anywhere else in the tree.

use super::source;
use crate::app::App;
use crate::error::{Failure, Result};
use crate::json::Json;
use crate::terminal::{grouped, one_line};
use crate::text::Lang;
use clap::Args;
use netaclaw_session::{
    EntryId, SessionContext, SessionTree, build_session_context, estimate_context_tokens,
    estimate_message_tokens,
};
use std::ffi::OsString;
use std::io::{self, Write};

#[derive(Args, Debug)]
pub(crate) struct ContextArgs {
    /// Session file, or session id or the start of one
    #[arg(value_name = "FILE|ID")]
    session: OsString,
    /// Show the context at this entry instead of the leaf; repeatable
    ///
    /// "null" is the place before the first entry
    #[arg(long, value_name = "ENTRY")]
    leaf: Vec<String>,
    /// Storage to search first: file or mysql
    #[arg(long)]
    provider: Option<String>,
    /// Print one line of JSON per leaf
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: ContextArgs, app: &mut App) -> Result<()> {
    let loaded = source::load(app, &args.session, args.provider.as_deref()).await?;
    let tree = &loaded.tree;
    let leaves = match args.leaf.is_empty() {
        true => vec![tree.leaf().cloned()],
        // All of them before any output: a mistake in the third must not leave half an answer.
        false => args
            .leaf
            .iter()
            .map(|leaf| leaf_named(app.lang, tree, leaf))
            .collect::<Result<Vec<_>>>()?,
    };
    for leaf in leaves {
        let context = build_session_context(tree, leaf.as_ref()).map_err(|error| {
            let what = app.lang.session_named(tree.header().id());
            Failure::new(what, error.to_string(), app.lang.see_verify())
        })?;
        match args.json {
            true => write_json(&mut app.out, leaf.as_ref(), &context)?,
            false => write_readable(app, leaf.as_ref(), &context)?,
        }
    }
    Ok(())
}

/// An entry of the session, or the place before the first one.
fn leaf_named(lang: Lang, tree: &SessionTree, name: &str) -> Result<Option<EntryId>> {
    let id = EntryId::new(name);
    match name {
        _ if tree.contains(&id) => Ok(Some(id)),
        "" | "null" | "root" => Ok(None),
        _ => Err(Failure::new(
            format!("--leaf {name}"),
            lang.no_such_entry(tree.header().id()),
            lang.see_tree(),
        )),
    }
}

/// One line. Messages go out as the text they are stored as.
fn write_json(
    out: &mut impl Write,
    leaf: Option<&EntryId>,
    context: &SessionContext<'_>,
) -> io::Result<()> {
    write!(
        out,
        r#"{{"leaf":{},"messages":["#,
        serde_json::to_string(&leaf)?
    )?;
    for (at, message) in context.messages.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        write!(out, "{comma}{}", message.json())?;
    }
    let sources: Vec<&EntryId> = context.source_entry_ids().collect();
    let tokens = estimate_context_tokens(context).total();
    write!(
        out,
        r#"],"sourceEntryIds":{}"#,
        serde_json::to_string(&sources)?
    )?;
    write!(
        out,
        r#","thinkingLevel":{}"#,
        serde_json::to_string(&context.thinking_level)?
    )?;
    write!(
        out,
        r#","model":{}"#,
        serde_json::to_string(&context.model())?
    )?;
    writeln!(out, r#","estimatedTokens":{tokens}}}"#)
}

fn write_readable(
    app: &mut App,
    leaf: Option<&EntryId>,
    context: &SessionContext<'_>,
) -> Result<()> {
    let (lang, paint) = (app.lang, app.paint);
    let leaf = leaf.map_or(lang.before_first(), EntryId::to_string);
    let tokens = grouped(estimate_context_tokens(context).total());
    let size = lang.context_size(context.messages.len() as u64, tokens);
    let model = context
        .model()
        .map(|m| format!("{}/{}", m.provider, m.model_id));
    let model = lang.model_and_level(model.as_deref().unwrap_or("–"), &context.thinking_level);
    writeln!(
        app.out,
        "{}",
        paint.bold(&lang.context_at(one_line(&leaf, 60)))
    )?;
    writeln!(
        app.out,
        "{}",
        paint.dim(&one_line(&format!("{size} · {model}"), 200))
    )?;
    if let Some(broken) = &context.broken_compaction {
        writeln!(app.out, "{}", paint.warning(&lang.keeps_nothing(broken)))?;
    }
    for message in &context.messages {
        let json = message.json();
        let role = Json::new(&json).object().text("role");
        let role = role.unwrap_or_default();
        let row = super::transcript::project(message.source());
        let tokens = lang.tokens(grouped(estimate_message_tokens(&json)));
        let about = format!("{} · {tokens}", message.source().id());
        writeln!(
            app.out,
            "{}  {}  {}",
            crate::terminal::pad(&one_line(&role, 20), 18),
            one_line(&row.gist(lang), 90),
            paint.dim(&one_line(&about, 60))
        )?;
    }
    Ok(())
}
