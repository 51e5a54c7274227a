//! The status line: with whom one talks, how full the context is, what it costs, what goes on.

use super::super::event_text::{now_ms, retry_text};
use super::line::{DIM, Line};
use super::tools::seconds;
use crate::approval::accepts_edits;
use crate::text::Lang;
use netaclaw_protocol::StandingApproval;
use serde_json::Value;

#[derive(Debug, Default)]
pub(super) struct Status {
    pub(super) agent: String,
    pub(super) model: String,
    context: Option<(f64, u64)>,
    cost: f64,
    /// The active run, as its last event describes it.
    run: Option<Value>,
    /// Edits in the workspace need no approval.
    accepts_edits: bool,
    pub(super) waiting: usize,
    todo: Option<(usize, usize)>,
}

impl Status {
    pub(super) fn is_running(&self) -> bool {
        self.run.is_some()
    }

    pub(super) fn snapshot(&mut self, snapshot: &Value) {
        self.run(&snapshot["run"]);
        self.tokens(&snapshot["tokens"]);
        self.todo(&snapshot["todo"]);
        self.standing(&snapshot["standingApprovals"]);
        self.waiting = snapshot["queue"]["items"].as_array().map_or(0, Vec::len);
        let model = &snapshot["model"];
        if let (Some(provider), Some(id)) = (model["provider"].as_str(), model["modelId"].as_str())
        {
            self.model = format!("{provider}/{id}");
        }
    }

    pub(super) fn event(&mut self, event: &Value) {
        let data = &event["data"];
        match event["type"].as_str().unwrap_or_default() {
            "run_status" => self.run(data),
            "token_update" => self.tokens(data),
            "todo_update" => self.todo(data),
            "standing_approvals" => self.standing(&data["items"]),
            "queue_update" => self.waiting = data["items"].as_array().map_or(0, Vec::len),
            "assistant_stream_start" => {
                if let (Some(provider), Some(model)) =
                    (data["provider"].as_str(), data["model"].as_str())
                {
                    self.model = format!("{provider}/{model}");
                }
            }
            _ => {}
        }
    }

    /// Another session, of which nothing is known.
    pub(super) fn reset(&mut self) {
        *self = Self {
            agent: std::mem::take(&mut self.agent),
            model: std::mem::take(&mut self.model),
            ..Self::default()
        };
    }

    fn run(&mut self, run: &Value) {
        self.run = (run["status"] != "idle").then(|| run.clone());
    }

    fn standing(&mut self, items: &Value) {
        let items = serde_json::from_value::<Vec<StandingApproval>>(items.clone());
        self.accepts_edits = items.unwrap_or_default().iter().any(accepts_edits);
    }

    fn tokens(&mut self, tokens: &Value) {
        let context = &tokens["context"];
        let max = context["maxTokens"].as_u64().unwrap_or(0);
        self.context = context["percent"]
            .as_f64()
            .filter(|_| max > 0)
            .map(|percent| (percent, max));
        let cost = |part: &str| tokens[part]["cost"].as_f64().unwrap_or(0.0);
        self.cost = cost("current") + cost("auxiliary");
    }

    fn todo(&mut self, todo: &Value) {
        let items = todo["items"].as_array().map_or(&[][..], Vec::as_slice);
        let is_open =
            |item: &&Value| item["status"] == "pending" || item["status"] == "in_progress";
        let open = items.iter().filter(is_open).count();
        self.todo = (open > 0).then_some((items.len() - open, items.len()));
    }

    /// The line, without its least important parts if there is no room for them.
    pub(super) fn line(&self, lang: Lang, width: usize) -> Line {
        let context = self.context.map(|(percent, max)| {
            let max = match max {
                ..10_000 => max.to_string(),
                _ => format!("{}k", max / 1_000),
            };
            lang.chat_status_context(format!("{percent:.0}"), max)
        });
        let cost = (self.cost > 0.0).then(|| match self.cost < 0.1 {
            true => format!("${:.4}", self.cost),
            false => format!("${:.2}", self.cost),
        });
        let waiting = (self.waiting > 0).then(|| lang.chat_status_queued(self.waiting));
        let edits = self.accepts_edits.then(|| lang.chat_status_edits());
        let todo = self
            .todo
            .map(|(done, all)| lang.chat_status_todo(done, all));
        // From the left; the number says how soon a part gives way.
        let mut parts: Vec<(u8, String)> = [
            (1, self.doing(lang, now_ms())),
            (3, Some(self.agent.clone())),
            (2, Some(self.model.clone())),
            (2, context),
            (4, cost),
            (2, waiting),
            (2, edits),
            (5, todo),
        ]
        .into_iter()
        .filter_map(|(rank, part)| Some((rank, part.filter(|part| !part.is_empty())?)))
        .collect();
        loop {
            let texts: Vec<&str> = parts.iter().map(|(_, text)| text.as_str()).collect();
            let line = Line::of(&texts.join(" · "), DIM);
            if line.width() <= width || parts.len() <= 1 {
                return line.cut(width);
            }
            let least = parts.iter().map(|(rank, _)| *rank).max();
            if let Some(at) = parts.iter().rposition(|(rank, _)| Some(*rank) == least) {
                parts.remove(at);
            }
        }
    }

    /// What the run does, and for how long it has worked: the time for which it waited for users and
    /// for retries does not count.
    fn doing(&self, lang: Lang, now_ms: i64) -> Option<String> {
        let run = self.run.as_ref()?;
        let phase = run["phase"].as_str().unwrap_or_default();
        let phase = match run["status"] == "stopping" {
            true => "stopping",
            false => phase,
        };
        let word = match phase {
            "streaming" => lang.chat_doing_answering(),
            "running_tools" => lang.chat_doing_tools(),
            "waiting_for_user" => lang.chat_doing_user(),
            "compacting" => lang.chat_doing_compacting(),
            "stopping" => lang.chat_stopping(),
            "retrying" => match retry_text(lang, run, now_ms) {
                Some(words) => return Some(words),
                None => lang.chat_doing_waiting(),
            },
            _ => lang.chat_doing_waiting(),
        };
        let since = run["since"].as_i64().unwrap_or(now_ms);
        let until = match phase {
            "waiting_for_user" | "retrying" => since,
            _ => now_ms,
        };
        let begun = run["startedAt"].as_i64().unwrap_or(since);
        let waited = run["waitedMs"].as_i64().unwrap_or(0);
        let worked = u64::try_from(until - begun - waited).unwrap_or(0);
        Some(format!("{word} {}", seconds(worked / 1_000)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_clock_of_a_run_stands_still_while_it_waits_for_a_user() {
        let doing = |run: Value, lang| {
            let mut status = Status::default();
            status.snapshot(&json!({ "run": run }));
            status.doing(lang, 100_000).unwrap()
        };
        let run = json!({"status": "running", "phase": "waiting_for_user", "startedAt": 30_000,
            "since": 40_000, "waitedMs": 4_000});
        assert_eq!(doing(run, Lang::En), "waiting for you 6 s");
        let run = json!({"status": "running", "phase": "running_tools", "startedAt": 30_000,
            "since": 90_000, "waitedMs": 54_000});
        assert_eq!(doing(run, Lang::En), "running tools 16 s");
        let trouble = json!({"words": {"en": "Too busy.", "zh": "供应商繁忙。"}});
        let run = json!({"status": "running", "phase": "retrying", "detail": "too busy, again",
            "since": 99_000, "retry": {"trouble": trouble, "at": 103_500}});
        assert_eq!(doing(run, Lang::Zh), "供应商繁忙。 4 秒后重试。");
    }

    #[test]
    fn parts_give_way_when_the_window_is_narrow() {
        let mut status = Status {
            agent: "default".to_owned(),
            ..Status::default()
        };
        status.snapshot(&json!({"run": {"status": "idle"},
            "model": {"provider": "fake", "modelId": "alpha"},
            "queue": {"items": [{}]},
            "tokens": {"context": {"maxTokens": 32_000, "percent": 12.4},
                "current": {"cost": 0.01}, "auxiliary": {"cost": 0.002}}}));
        let said = |width| status.line(Lang::En, width).written(false);
        assert_eq!(
            said(100),
            "default · fake/alpha · 12% of 32k · $0.0120 · 1 queued"
        );
        assert_eq!(said(45), "default · fake/alpha · 12% of 32k · 1 queued");
        assert_eq!(said(35), "fake/alpha · 12% of 32k · 1 queued");
        assert_eq!(said(12), "fake/alpha");
        assert_eq!(said(6), "fake/…");
    }
}
