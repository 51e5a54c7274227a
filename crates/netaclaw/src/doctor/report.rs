//! The checks as lines for people, and as JSON for programs.

use super::check::{Check, Level};
use crate::app::App;
use crate::error::Result;
use crate::terminal::{columns, harmless, pad};
use crate::text::Lang;
use serde_json::json;
use std::io::Write;

pub(super) fn write_lines(app: &mut App, checks: &[Check]) -> Result<()> {
    let lang = app.lang;
    let all = [Level::Ok, Level::Info, Level::Warn, Level::Fail];
    let widest = all.map(|level| columns(&word(lang, level)));
    let width = widest.into_iter().max().unwrap_or(0);
    for check in checks {
        let mark = pad(&word(lang, check.level), width);
        let mark = match check.level {
            Level::Ok => app.paint.good(&mark),
            Level::Info => app.paint.dim(&mark),
            Level::Warn => app.paint.warning(&mark),
            Level::Fail => app.paint.bad(&mark),
        };
        let said = match &check.todo {
            Some(todo) => lang.and_then(&check.message, todo),
            None => check.message.clone(),
        };
        let line = lang.named(&check.what, said);
        writeln!(app.out, "{mark}  {}", harmless(&line))?;
    }
    let (warnings, failures) = (count(checks, Level::Warn), count(checks, Level::Fail));
    let said = match (failures, warnings) {
        (0, 0) => lang.all_is_well(),
        _ => lang.found(failures, warnings),
    };
    Ok(writeln!(app.out, "\n{said}")?)
}

pub(super) fn write_json(app: &mut App, checks: &[Check]) -> Result<()> {
    let report = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "checks": checks,
        "warnings": count(checks, Level::Warn),
        "failures": count(checks, Level::Fail),
    });
    Ok(writeln!(app.out, "{report}")?)
}

fn count(checks: &[Check], level: Level) -> usize {
    checks.iter().filter(|check| check.level == level).count()
}

fn word(lang: Lang, level: Level) -> String {
    match level {
        Level::Ok => lang.level_ok(),
        Level::Info => lang.level_info(),
        Level::Warn => lang.level_warn(),
        Level::Fail => lang.level_fail(),
    }
}
