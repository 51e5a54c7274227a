//! `session list`: a table for people, the page as JSON for programs.

use super::stores::Stores;
use crate::app::App;
use crate::error::{Failure, Result};
use crate::terminal::{clock, columns, one_line, pad};
use clap::{Args, ValueEnum};
use netaclaw_session::{PageRequest, SessionFilter, SessionMeta, SessionPage, SessionStatus};
use std::io::Write;

/// Columns of the title; the directory comes last and takes what it needs.
const TITLE_WIDTH: usize = 48;

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Storage: file or mysql
    #[arg(long)]
    provider: Option<String>,
    /// List only sessions of this user
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// List only sessions of this agent
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// List only sessions with this text
    ///
    /// Searches titles, first messages, directories and ids
    #[arg(long)]
    text: Option<String>,
    /// List only sessions with this status; the default is all but deleted
    #[arg(long, value_enum)]
    status: Option<StatusArg>,
    /// Page number, starting at 1
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    page: u32,
    /// Sessions per page
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
    size: u32,
    /// Print the page as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum StatusArg {
    Active,
    Archived,
    Deleted,
}

impl From<StatusArg> for SessionStatus {
    fn from(status: StatusArg) -> Self {
        match status {
            StatusArg::Active => Self::Active,
            StatusArg::Archived => Self::Archived,
            StatusArg::Deleted => Self::Deleted,
        }
    }
}

pub(crate) async fn run(args: ListArgs, app: &mut App) -> Result<()> {
    let stores = Stores::new(app, args.provider.as_deref())?;
    let provider = stores.chosen().await?;
    let filter = SessionFilter {
        user_id: args.user,
        agent_id: args.agent,
        text: args.text,
        status: args.status.map(SessionStatus::from),
        ..SessionFilter::default()
    };
    let request = PageRequest {
        page: args.page,
        size: args.size,
    };
    let page = provider.list_sessions(&filter, request).await;
    let page = page.map_err(|error| Failure::session(app.lang, error))?;
    match args.json {
        true => {
            serde_json::to_writer(&mut app.out, &page).map_err(std::io::Error::from)?;
            Ok(writeln!(app.out)?)
        }
        false => write_table(app, &page),
    }
}

fn write_table(app: &mut App, page: &SessionPage) -> Result<()> {
    let lang = app.lang;
    if page.items.is_empty() {
        return Ok(writeln!(app.out, "{}", lang.no_sessions())?);
    }
    let heads = [
        lang.id(),
        lang.updated_utc(),
        lang.messages(),
        lang.title(),
        lang.directory(),
    ];
    let rows: Vec<[String; 5]> = page.items.iter().map(row).collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| columns(&row[column]));
        cells.chain([columns(&heads[column])]).max().unwrap_or(0)
    };
    let widths: [usize; 5] = std::array::from_fn(width);

    let head = line(&heads, &widths);
    writeln!(app.out, "{}", app.paint.bold(&head))?;
    for row in &rows {
        writeln!(app.out, "{}", line(row, &widths))?;
    }
    let shown = page.items.len() as u64;
    if page.total > shown {
        let first = u64::from(page.page - 1) * u64::from(page.size) + 1;
        let more = lang.page_of(first, first + shown - 1, page.total);
        writeln!(app.out, "{}", app.paint.dim(&more))?;
    }
    Ok(())
}

fn row(meta: &SessionMeta) -> [String; 5] {
    let title = meta.title.as_deref().or(meta.first_message.as_deref());
    [
        one_line(meta.session_id.as_str(), 128),
        clock(&meta.updated_at).chars().take(16).collect(),
        meta.message_count.to_string(),
        one_line(title.unwrap_or("–"), TITLE_WIDTH),
        one_line(&meta.cwd, 200),
    ]
}

fn line(cells: &[String; 5], widths: &[usize; 5]) -> String {
    let [id, updated, messages, title, directory] = cells;
    let gap = widths[2].saturating_sub(columns(messages));
    let line = [
        pad(id, widths[0]),
        pad(updated, widths[1]),
        // Numbers are aligned by their last digit.
        format!("{}{messages}", " ".repeat(gap)),
        pad(title, widths[3]),
        directory.clone(),
    ];
    line.join("  ").trim_end().to_owned()
}
