//! `session compact`: compacts a session's context, or shows what that would do.

use super::source;
use super::transcript;
use crate::app::App;
use crate::assemble::{Assembled, assemble};
use crate::chat;
use crate::error::{Failure, Result, in_language};
use crate::terminal::{grouped, one_line, pad};
use crate::text::{Lang, texts};
use clap::Args;
use netaclaw_engine::{
    CompactionPreview, EngineError, EventGroup, PreviewOutcome, PreviewedMessage, ServerEvent,
    Subscriber, TypedEvent,
};
use netaclaw_protocol::{
    Compact, CompactionDone, CompactionError, LocalizedText, ReliableEvent, SessionMeta,
    SessionOpen,
};
use netaclaw_session::SessionTree;
use serde_json::{Value, json};
use std::fmt::Display;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

const LEAVE_GRACE: Duration = Duration::from_secs(2);

#[derive(Args, Debug)]
pub(crate) struct CompactArgs {
    /// Session id, or the start of one
    #[arg(value_name = "ID")]
    session: String,
    /// Show what would be compacted and kept, without changing anything
    #[arg(long)]
    dry_run: bool,
    /// Topic that the summary should focus on
    #[arg(long, value_name = "TEXT")]
    focus: Option<String>,
    /// Print the result as one line of JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: CompactArgs, app: &mut App) -> Result<()> {
    let session = source::find_meta(app, &args.session).await?;
    let assembled = assemble(app).await?;
    let done = match args.dry_run {
        true => show_plan(&args, app, &assembled, &session).await,
        false => compact(&args, app, &assembled, &session).await,
    };
    assembled.engine.shut_down(LEAVE_GRACE).await;
    assembled.admin.close().await;
    done
}

async fn show_plan(
    args: &CompactArgs,
    app: &mut App,
    assembled: &Assembled,
    session: &SessionMeta,
) -> Result<()> {
    let caller = chat::caller(app.lang, &*assembled.admin).await?;
    let focus = args.focus.as_deref();
    let previewed = assembled
        .engine
        .preview_compaction(&caller, &session.session_id, focus);
    let (previewed, tree) = previewed
        .await
        .map_err(|error| refused(app.lang, session, &error))?;
    let plan = match previewed {
        PreviewOutcome::Plan(plan) => plan,
        PreviewOutcome::Nothing(why) => return Err(nothing(app.lang, session, why)),
    };
    match args.json {
        true => Ok(writeln!(app.out, "{}", as_json(&plan))?),
        false => write_plan(app, &plan, &tree),
    }
}

async fn compact(
    args: &CompactArgs,
    app: &mut App,
    assembled: &Assembled,
    session: &SessionMeta,
) -> Result<()> {
    let (lang, id) = (app.lang, &session.session_id);
    let caller = chat::caller(lang, &*assembled.admin).await?;
    let (endings, mut ended) = mpsc::unbounded_channel();
    let engine = &assembled.engine;
    let refused = |error: EngineError| refused(lang, session, &error);
    let opened = engine.open(&caller, SessionOpen::of(id), Arc::new(Endings(endings)));
    opened.await.map_err(refused)?;
    let compact = Compact {
        session_id: id.clone(),
        instructions: args.focus.clone(),
        request_id: None,
    };
    let begun = engine.execute(&caller, compact);
    begun.await.map_err(refused)?;
    match ended.recv().await {
        Some(Ok(done)) if args.json => writeln!(app.out, "{}", json!(done))?,
        Some(Ok(done)) => write_done(app, &done)?,
        Some(Err(error)) => return Err(nothing(lang, session, error.words)),
        None => {}
    }
    Ok(())
}

/// Receives how compactions of the session end.
struct Endings(mpsc::UnboundedSender<std::result::Result<CompactionDone, CompactionError>>);

impl Subscriber for Endings {
    fn deliver(&self, _: &ServerEvent) {}

    fn observe(&self, event: TypedEvent<'_>) {
        let ended = match event {
            TypedEvent::Reliable(ReliableEvent::CompactionDone(done)) => Ok(done.clone()),
            TypedEvent::Reliable(ReliableEvent::CompactionError(error)) => Err(error.clone()),
            _ => return,
        };
        // After the first one none is read.
        drop(self.0.send(ended));
    }

    fn wants(&self, group: EventGroup) -> bool {
        group == EventGroup::Current
    }
}

fn nothing(lang: Lang, session: &SessionMeta, why: LocalizedText) -> Failure {
    let why = in_language(lang, why);
    Failure::plain(lang.session_named(&session.session_id), why)
}

fn refused(lang: Lang, session: &SessionMeta, error: &EngineError) -> Failure {
    match error {
        EngineError::Busy(_) => Failure::new(
            lang.session_named(&session.session_id),
            lang.compact_elsewhere(),
            lang.try_later(),
        ),
        error => nothing(lang, session, error.words()),
    }
}

fn write_done(app: &mut App, done: &CompactionDone) -> Result<()> {
    let lang = app.lang;
    let (before, after) = (grouped(done.tokens_before), grouped(done.tokens_after));
    let count = grouped(done.compacted_count);
    let line = lang.compact_done(count, before, after);
    writeln!(app.out, "{}", app.paint.bold(&line))?;
    writeln!(app.out, "\n{}", done.summary_content)?;
    Ok(())
}

fn write_plan(app: &mut App, plan: &CompactionPreview, tree: &SessionTree) -> Result<()> {
    let (lang, paint) = (app.lang, app.paint);
    let pruned = plan.folded.iter().filter(|message| message.pruned).count();
    let head = lang.compact_plan(plan.folded.len(), pruned, plan.kept.len());
    writeln!(app.out, "{}", paint.bold(&head))?;
    let percent = plan.tokens_before * 100 / plan.window.max(1);
    let sizes = lang.compact_sizes(
        grouped(plan.tokens_before),
        percent,
        grouped(plan.window),
        grouped(plan.tokens_after),
    );
    writeln!(app.out, "{sizes}")?;
    let by = lang.compact_by(
        &plan.channel,
        &plan.model,
        grouped(plan.summary_tokens),
        plan.requests,
    );
    writeln!(app.out, "{}", one_line(&by, 200))?;
    if plan.split_turn {
        writeln!(app.out, "{}", paint.warning(&lang.compact_split()))?;
    }
    let folded = plan.folded.iter().map(|message| {
        let mark = match message.pruned {
            true => lang.compact_pruned(),
            false => lang.compact_folded(),
        };
        (mark, message)
    });
    let kept = plan
        .kept
        .iter()
        .map(|message| (lang.compact_kept(), message));
    for (mark, message) in folded.chain(kept) {
        write_message(app, &mark, message, tree)?;
    }
    Ok(())
}

fn write_message(
    app: &mut App,
    mark: &str,
    message: &PreviewedMessage,
    tree: &SessionTree,
) -> Result<()> {
    let gist = tree
        .get(&message.entry_id)
        .map(|entry| one_line(&transcript::project(entry).gist(app.lang), 90));
    let tokens = app.lang.tokens(grouped(message.tokens));
    let about = format!("{} · {tokens}", message.entry_id);
    writeln!(
        app.out,
        "{}  {}  {}",
        pad(mark, 12),
        gist.unwrap_or_default(),
        app.paint.dim(&one_line(&about, 60))
    )?;
    Ok(())
}

fn as_json(plan: &CompactionPreview) -> Value {
    let shown = |messages: &[PreviewedMessage]| -> Vec<Value> {
        let messages = messages.iter();
        messages
            .map(|message| {
                json!({"entryId": message.entry_id, "tokens": message.tokens, "pruned": message.pruned})
            })
            .collect()
    };
    json!({
        "folded": shown(&plan.folded),
        "kept": shown(&plan.kept),
        "splitTurn": plan.split_turn,
        "tokensBefore": plan.tokens_before,
        "tokensAfterAtMost": plan.tokens_after,
        "window": plan.window,
        "summaryTokens": plan.summary_tokens,
        "channel": plan.channel,
        "model": plan.model,
        "requests": plan.requests,
    })
}

texts! {
    compact_elsewhere() { "another process is using it, or it has an open question" "它正被另一个进程使用，或有问题等待回答" }
    compact_done(count, before, after) { "compacted {count} messages: {before} → about {after} tokens" "已压缩 {count} 条消息：{before} → 约 {after} Token" }
    compact_plan(folded, pruned, kept) { "would compact {folded} messages ({pruned} tool results shortened to one line each) and keep {kept}" "将压缩 {folded} 条消息（其中 {pruned} 个工具结果只留一行），保留 {kept} 条" }
    compact_sizes(before, percent, window, after) { "now {before} tokens, {percent}% of {window}; afterwards at most about {after}" "现在 {before} Token，占 {window} 的 {percent}%；之后至多约 {after}" }
    compact_by(channel, model, tokens, requests) { "summary of at most {tokens} tokens by {channel}, {model}; requests: {requests}" "由 {channel} 的 {model} 写摘要，至多 {tokens} Token，共 {requests} 次请求" }
    compact_split() { "the kept part starts in the middle of a turn; the start of that turn is compacted" "保留的内容从一个轮次的中间开始，该轮次的开头会被压缩" }
    compact_pruned() { "shorten" "缩短" }
    compact_folded() { "compact" "压缩" }
    compact_kept() { "keep" "保留" }
}
