//! `session copy`: the same session in the other provider, checked after it arrived.

use super::forest::Links;
use super::source;
use super::stores::{Provider, Stores};
use crate::app::App;
use crate::error::{Failure, Result};
use crate::text::Lang;
use clap::{Args, ValueEnum};
use netaclaw_session::{EntryId, ImportSession, ProviderKind, SessionTree, build_session_context};
use std::io::Write;

/// Contexts are compared at so many tips, the newest. A session with more of them is compared
/// entry by entry as any other, and contexts are made of nothing but entries.
const TIPS_MAX: usize = 1000;

#[derive(Args, Debug)]
pub(crate) struct CopyArgs {
    /// Session id, or the start of one
    #[arg(value_name = "ID")]
    session: String,
    /// Storage to copy to
    #[arg(long, value_enum)]
    to: Place,
    /// Storage to copy from; the default is the other one
    #[arg(long, value_enum)]
    from: Option<Place>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Place {
    File,
    Mysql,
}

impl Place {
    fn kind(self) -> ProviderKind {
        match self {
            Self::File => ProviderKind::File,
            Self::Mysql => ProviderKind::Mysql,
        }
    }

    fn other(self) -> Self {
        match self {
            Self::File => Self::Mysql,
            Self::Mysql => Self::File,
        }
    }
}

pub(crate) async fn run(args: CopyArgs, app: &mut App) -> Result<()> {
    let lang = app.lang;
    let from = args.from.unwrap_or(args.to.other());
    if from == args.to {
        let what = format!("--from {0} --to {0}", from.kind().as_str());
        return Err(Failure::new(
            what,
            lang.same_place(),
            lang.choose_other_place(),
        ));
    }
    let stores = Stores::new(app, Some(from.kind().as_str()))?;
    let source = stores.chosen().await?;
    let target = stores.open(args.to.kind()).await?;
    let found = source::find_in(lang, source, &args.session).await?;
    let id = found.id().clone();
    let failed = |error| Failure::session(lang, error);

    let tree = found.provider.load_tree(&id).await.map_err(failed)?;
    let import = ImportSession {
        log: tree.to_log(),
        id: None,
    };
    target.import_session(import).await.map_err(failed)?;
    let compared = verify_copy(lang, &tree, &target).await?;
    if tree.skipped_lines() > 0 {
        app.warn(&lang.left_out(tree.skipped_lines().into()));
    }
    let done = lang.copied(&id, from.kind().as_str(), args.to.kind().as_str());
    let entries = lang.entries(tree.entries().len() as u64);
    Ok(writeln!(
        app.out,
        "{}",
        lang.copy_verified(done, entries, compared)
    )?)
}

/// Reads the copy back and compares it: entries byte by byte, then what a model would see at every
/// tip. Tells at how many tips, for people.
async fn verify_copy(lang: Lang, tree: &SessionTree, target: &Provider) -> Result<String> {
    let id = tree.header().id();
    let copy = target
        .load_tree(id)
        .await
        .map_err(|error| Failure::session(lang, error))?;
    let differs = |place: &str| {
        Failure::new(
            lang.session_named(id),
            lang.copy_differs(place),
            lang.source_untouched(),
        )
    };
    if tree.entries() != copy.entries() {
        return Err(differs("entries"));
    }
    if (tree.leaf(), tree.name()) != (copy.leaf(), copy.name()) || tree.labels() != copy.labels() {
        return Err(differs("leaf, name, labels"));
    }
    let tips = tips(tree);
    for tip in tips.iter().take(TIPS_MAX) {
        if context_json(tree, tip) != context_json(&copy, tip) {
            return Err(differs(tip.as_str()));
        }
    }
    Ok(match tips.len() {
        all @ ..=TIPS_MAX => lang.tips(all as u64),
        all => lang.some_tips(TIPS_MAX, all),
    })
}

/// The leaf, and every entry without children, newest first.
fn tips(tree: &SessionTree) -> Vec<EntryId> {
    let links = Links::new(tree);
    let ends = (0..tree.entries().len())
        .rev()
        .filter(|at| links.children[*at].is_empty());
    let ends = ends
        .map(|at| tree.entries()[at].id().clone())
        .filter(|id| Some(id) != tree.leaf());
    tree.leaf().cloned().into_iter().chain(ends).collect()
}

/// The context as text. A path that runs in a circle has none, here as there.
fn context_json(tree: &SessionTree, leaf: &EntryId) -> std::result::Result<String, String> {
    let context = build_session_context(tree, Some(leaf)).map_err(|error| error.to_string())?;
    serde_json::to_string(&context).map_err(|error| error.to_string())
}
