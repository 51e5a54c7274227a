//! `session tree`: the whole session drawn as a tree, the active path straight down on the left.

use super::forest::{At, Detail, Forest, active_positions};
use super::show::Labels;
use super::source;
use super::transcript;
use crate::app::App;
use crate::error::Result;
use crate::terminal::{Paint, one_line, pad};
use crate::text::Lang;
use clap::Args;
use netaclaw_session::{EntryId, EntryKind, SessionTree, group_children_by_parent};
use serde::Serialize;
use std::collections::HashSet;
use std::ffi::OsString;
use std::io::Write;

/// Columns of what an entry says.
const GIST_WIDTH: usize = 72;
/// Columns of the author's name.
const TITLE_WIDTH: usize = 14;
/// A range of entries is collapsed only if that saves some lines.
const FOLD_MIN: usize = 3;

#[derive(Args, Debug)]
pub(crate) struct TreeArgs {
    /// Session file, or session id or the start of one
    #[arg(value_name = "FILE|ID")]
    session: OsString,
    /// Storage to search first: file or mysql
    #[arg(long)]
    provider: Option<String>,
    /// Show every entry, including long stretches without a branch
    #[arg(long)]
    full: bool,
    /// Print branches, children and labels as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: TreeArgs, app: &mut App) -> Result<()> {
    let loaded = source::load(app, &args.session, args.provider.as_deref()).await?;
    let tree = &*loaded.tree;
    if args.json {
        serde_json::to_writer(&mut app.out, &json_form(tree)).map_err(std::io::Error::from)?;
        return Ok(writeln!(app.out)?);
    }
    if tree.entries().is_empty() {
        return Ok(writeln!(app.out, "{}", app.lang.empty_session())?);
    }
    let detail = match args.full {
        true => Detail::Full,
        false => Detail::Readable,
    };
    Drawing::new(tree, detail, app.lang, app.paint).write(&mut app.out)?;
    if tree.leaf().is_none() {
        writeln!(app.out, "\n{}", app.lang.leaf_before_first())?;
    }
    if tree.skipped_lines() > 0 {
        let warning = app.lang.unreadable_lines(tree.skipped_lines().into());
        writeln!(app.out, "\n{}", app.paint.warning(&warning))?;
    }
    Ok(())
}

/// A session that is open already, with every entry from which a user could continue.
pub(crate) fn draw(lang: Lang, paint: Paint, tree: &SessionTree) -> Result<String> {
    let mut drawn = Vec::new();
    Drawing::new(tree, Detail::Full, lang, paint).write(&mut drawn)?;
    Ok(String::from_utf8_lossy(&drawn).into_owned())
}

struct Drawing<'a> {
    tree: &'a SessionTree,
    forest: Forest,
    active: HashSet<At>,
    leaf: Option<At>,
    detail: Detail,
    lang: Lang,
    paint: Paint,
}

/// A branch that is being drawn: how far, and the prefix of its lines.
struct Pen {
    branch: usize,
    place: usize,
    next_side: usize,
    /// Before the first line; empty once that is drawn.
    first_prefix: Option<String>,
    prefix: String,
}

impl<'a> Drawing<'a> {
    fn new(tree: &'a SessionTree, detail: Detail, lang: Lang, paint: Paint) -> Self {
        Self {
            forest: Forest::new(tree, detail),
            active: active_positions(tree).into_iter().collect(),
            leaf: tree.leaf().and_then(|leaf| tree.index().position(leaf)),
            tree,
            detail,
            lang,
            paint,
        }
    }

    fn write(&self, out: &mut impl Write) -> Result<()> {
        for (nth, root) in self.forest.roots().enumerate() {
            if nth > 0 {
                writeln!(out)?;
            }
            let mut pens = vec![Pen::at(root, String::new(), String::new())];
            while let Some(mut pen) = pens.pop() {
                let side = self.draw_until_side(out, &mut pen)?;
                if let Some((side, prefixes)) = side {
                    pens.push(pen);
                    pens.push(Pen::at(side, prefixes.0, prefixes.1));
                }
            }
        }
        Ok(())
    }

    /// Draws entries of a branch up to the next branch that hangs from it.
    fn draw_until_side(
        &self,
        out: &mut impl Write,
        pen: &mut Pen,
    ) -> Result<Option<(usize, (String, String))>> {
        let branch = &self.forest.branches[pen.branch];
        loop {
            // Sides of the entry drawn last come before the entries below it.
            if let Some((place, side)) = branch.sides.get(pen.next_side).copied()
                && place < pen.place
            {
                pen.next_side += 1;
                let is_last =
                    pen.place == branch.entries.len() && pen.next_side == branch.sides.len();
                let (first, rest) = if is_last {
                    ("└─ ", "   ")
                } else {
                    ("├─ ", "│  ")
                };
                return Ok(Some((
                    side,
                    (
                        format!("{}{first}", pen.prefix),
                        format!("{}{rest}", pen.prefix),
                    ),
                )));
            }
            if pen.place == branch.entries.len() {
                return Ok(None);
            }
            let prefix = pen
                .first_prefix
                .take()
                .unwrap_or_else(|| pen.prefix.clone());
            match self.foldable(pen.branch, pen.place) {
                0 => {
                    let line = self.entry_line(branch.entries[pen.place]);
                    writeln!(out, "{}{line}", self.paint.dim(&prefix))?;
                    pen.place += 1;
                }
                count => {
                    let fold = format!("{prefix}… {}", self.lang.entries(count as u64));
                    writeln!(out, "{}", self.paint.dim(&fold))?;
                    pen.place += count;
                }
            }
        }
    }

    /// How many entries from here on need not be drawn one by one.
    fn foldable(&self, branch: usize, place: usize) -> usize {
        if self.detail == Detail::Full {
            return 0;
        }
        let branch = &self.forest.branches[branch];
        let last = branch.entries.len().saturating_sub(2);
        if place < 2 || place >= last {
            return 0;
        }
        let is_fork = |place: usize| {
            branch
                .sides
                .binary_search_by_key(&place, |(at, _)| *at)
                .is_ok()
        };
        let count = (place..last)
            .take_while(|place| !is_fork(*place) && !self.stands_out(branch.entries[*place]))
            .count();
        if count >= FOLD_MIN { count } else { 0 }
    }

    fn stands_out(&self, at: At) -> bool {
        let entry = &self.tree.entries()[at];
        matches!(
            entry.kind(),
            EntryKind::Compaction | EntryKind::BranchSummary
        ) || self.leaf == Some(at)
            || self.tree.labels().contains_key(entry.id())
    }

    fn entry_line(&self, at: At) -> String {
        let (lang, paint) = (self.lang, self.paint);
        let entry = &self.tree.entries()[at];
        let row = transcript::project(entry);
        let is_active = self.active.contains(&at);
        let dot = match (self.leaf == Some(at), is_active) {
            (true, _) => paint.accent("◉"),
            (false, true) => paint.accent("●"),
            (false, false) => paint.dim("○"),
        };
        let title = pad(&one_line(&row.title(lang), 24), TITLE_WIDTH);
        let title = if is_active {
            paint.bold(&title)
        } else {
            title.as_str().into()
        };
        let gist = one_line(&row.gist(lang), GIST_WIDTH);
        let id = one_line(entry.id().as_str(), 36);
        let mut line = format!("{dot} {} {title} {gist}", paint.dim(&id));
        if let Some(label) = self.tree.labels().get(entry.id()) {
            line.push(' ');
            line.push_str(&paint.warning(&format!("[{}]", one_line(&label.text, 40))));
        }
        if self.leaf == Some(at) {
            line.push_str(&paint.accent(&format!(" ← {}", lang.leaf())));
        }
        line.trim_end().to_owned()
    }
}

impl Pen {
    fn at(branch: usize, first_prefix: String, prefix: String) -> Self {
        Self {
            branch,
            place: 0,
            next_side: 0,
            first_prefix: Some(first_prefix),
            prefix,
        }
    }
}

/// The same structure for programs. Flat, so that a long chain is not a deep value.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonForm<'a, C> {
    session_id: &'a str,
    leaf_entry_id: Option<&'a EntryId>,
    active_path: Vec<&'a EntryId>,
    roots: Vec<EntryId>,
    children_by_parent_id: C,
    labels: Labels<'a>,
    branches: Vec<JsonBranch<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonBranch<'a> {
    /// The entry it hangs from.
    fork_entry_id: Option<&'a EntryId>,
    is_active: bool,
    entry_ids: Vec<&'a EntryId>,
}

fn json_form(tree: &SessionTree) -> impl Serialize + '_ {
    let id = |at: At| tree.entries()[at].id();
    let children = group_children_by_parent(tree.entries(), tree.index());
    let forest = Forest::new(tree, Detail::Full);
    JsonForm {
        session_id: tree.header().id().as_str(),
        leaf_entry_id: tree.leaf(),
        active_path: active_positions(tree).into_iter().map(id).collect(),
        roots: children.get("__root__").cloned().unwrap_or_default(),
        children_by_parent_id: children,
        labels: Labels(tree),
        branches: forest
            .branches
            .iter()
            .map(|branch| JsonBranch {
                fork_entry_id: branch.fork.map(id),
                is_active: branch.is_active,
                entry_ids: branch.entries.iter().copied().map(id).collect(),
            })
            .collect(),
    }
}
