//! Tool calls in one line each, and what a call that waits for approval would do.

use super::code::diff_line;
use super::line::{Color, DIM, Line, PLAIN};
use crate::terminal::harmless;
use serde_json::Value;

/// Arguments that say best what a call is about, the first that is there.
const TELLING: &[&str] = &[
    "command",
    "path",
    "file_path",
    "pattern",
    "query",
    "url",
    "question",
    "task",
    "prompt",
    "name",
    "skill",
    "fact",
    "text",
];
const OLD: [&str; 3] = ["old_text", "oldText", "old_string"];
const NEW: [&str; 3] = ["new_text", "newText", "new_string"];
/// Lines of a change that are shown once it is made; who wants all of it looks at the file.
const DIFF_LINES_MAX: usize = 40;

/// What a call is about, on one line.
pub(super) fn gist(args: &Value) -> String {
    let Some(fields) = args.as_object() else {
        return String::new();
    };
    let telling = TELLING.iter().find_map(|name| fields.get(*name)?.as_str());
    let any = || fields.values().find_map(Value::as_str);
    let words = telling.or_else(any).unwrap_or_default();
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The whole of a call, as a user has to see it before allowing it: a command, a change of a file,
/// or the arguments.
pub(super) fn whole(args: &Value, width: usize) -> Vec<Line> {
    let Some(fields) = args.as_object() else {
        return vec![Line::plain(&args.to_string())];
    };
    let mut lines = Vec::new();
    let mut shown: Vec<&str> = Vec::new();
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    if let Some(command) = text("command") {
        shown.push("command");
        for (at, line) in command.lines().enumerate() {
            let mut row = Line::of(if at == 0 { "$ " } else { "  " }, DIM);
            row.push(line, PLAIN);
            lines.extend(row.split(width));
        }
    }
    if let Some(path) = text("path")
        && let Some(change) = change(args)
    {
        shown.extend(["path", "content"]);
        if is_plain_edit(args) {
            shown.push("edits");
            shown.extend(OLD.iter().chain(&NEW));
        }
        lines.push(Line::plain(path));
        let rows = change.iter().flat_map(|line| diff_line(line).split(width));
        lines.extend(rows);
    }
    for (name, value) in fields {
        if shown.contains(&name.as_str()) {
            continue;
        }
        let value = match value {
            Value::String(words) => words.clone(),
            other => other.to_string(),
        };
        for (at, line) in value.lines().enumerate() {
            let mut row = Line::default();
            match at {
                0 => row.push(&format!("{name}: "), Color::Cyan.style()),
                _ => row.push("  ", PLAIN),
            }
            row.push(line, PLAIN);
            lines.extend(row.split(width));
        }
    }
    lines
}

/// The lines that a call would remove from a file and add to it, by its arguments.
fn change(args: &Value) -> Option<Vec<String>> {
    let whole = std::slice::from_ref(args);
    let edits = args["edits"].as_array().map_or(whole, Vec::as_slice);
    let one_of = |edit: &Value, names: [&str; 3]| {
        let found = names.iter().find_map(|name| edit[*name].as_str());
        found.map(str::to_owned)
    };
    let mut lines = Vec::new();
    for edit in edits {
        let (Some(old), Some(new)) = (one_of(edit, OLD), one_of(edit, NEW)) else {
            let content = args["content"].as_str()?;
            return Some(content.lines().map(|line| format!("+{line}")).collect());
        };
        if !lines.is_empty() {
            lines.push("@@".to_owned());
        }
        lines.extend(old.lines().map(|line| format!("-{line}")));
        lines.extend(new.lines().map(|line| format!("+{line}")));
    }
    (!lines.is_empty()).then_some(lines)
}

/// Whether the lines of a change say all that its edits do.
fn is_plain_edit(args: &Value) -> bool {
    let edits = args["edits"].as_array();
    edits.into_iter().flatten().all(|edit| {
        let fields = edit.as_object();
        fields.into_iter().flatten().all(|(name, value)| {
            OLD.contains(&name.as_str())
                || NEW.contains(&name.as_str())
                || value.is_null()
                || value == &Value::Bool(false)
        })
    })
}

/// A change that was made, and how many of its lines are not shown.
pub(super) fn made(diff: &str, width: usize) -> (Vec<Line>, usize) {
    let diff = harmless(diff);
    let mut lines = diff.lines();
    let shown = lines
        .by_ref()
        .take(DIFF_LINES_MAX)
        .map(|line| {
            let mut row = Line::plain("  ");
            row.append(diff_line(line));
            row.cut(width)
        })
        .collect();
    (shown, lines.count())
}

/// A duration for people.
pub(super) fn duration(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..10_000 => format!("{}.{} s", millis / 1_000, millis % 1_000 / 100),
        _ => seconds(millis / 1_000),
    }
}

/// The same for something that goes on.
pub(super) fn seconds(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        _ => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(args: Value) -> Vec<String> {
        let lines = whole(&args, 60);
        lines.iter().map(|line| line.written(false)).collect()
    }

    #[test]
    fn a_call_shows_its_most_telling_argument() {
        assert_eq!(gist(&json!({"timeout": 5, "command": "ls\n -l"})), "ls -l");
        assert_eq!(gist(&json!({"limit": 5, "odd": "x"})), "x");
        assert_eq!(gist(&json!({"limit": 5})), "");
    }

    #[test]
    fn nothing_of_a_call_that_waits_is_hidden() {
        assert_eq!(
            shown(json!({"command": "a\nb", "timeout": 5})),
            ["$ a", "  b", "timeout: 5"]
        );
        assert_eq!(
            shown(
                json!({"path": "f", "edits": [{"old_text": "x\ny", "new_text": "z"},
                {"old_text": "p", "new_text": "q", "replace_all": false}]})
            ),
            ["f", "-x", "-y", "+z", "@@", "-p", "+q"]
        );
        assert_eq!(
            shown(json!({"path": "f", "old_string": "x", "new_string": "y"})),
            ["f", "-x", "+y"]
        );
        assert_eq!(
            shown(json!({"path": "f", "content": "1\n2\n"})),
            ["f", "+1", "+2"]
        );
        let all = json!({"path": "f", "edits": [{"old_text": "x", "new_text": "y", "replace_all": true}]});
        assert!(shown(all).iter().any(|line| line.contains("replace_all")));
        assert_eq!(shown(json!({"url": "https://a"})), ["url: https://a"]);
    }

    #[test]
    fn durations_are_short() {
        let said: Vec<String> = [7, 1_250, 12_345, 61_000].map(duration).into();
        assert_eq!(said, ["7 ms", "1.2 s", "12 s", "1 min 1 s"]);
    }
}
