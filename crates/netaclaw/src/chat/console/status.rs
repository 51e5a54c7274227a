//! The status line: with whom one talks, how full the context is, what it costs, what goes on.

use super::line::{DIM, Line};
use super::tools::seconds;
use crate::text::Lang;
use serde_json::Value;
use std::time::Instant;

#[derive(Debug, Default)]
pub(super) struct Status {
    pub(super) agent: String,
    pub(super) model: String,
    context: Option<(f64, u64)>,
    cost: f64,
    phase: Option<String>,
    detail: Option<String>,
    /// Since when something goes on.
    since: Option<Instant>,
    pub(super) waiting: usize,
    todo: Option<(usize, usize)>,
}

impl Status {
    pub(super) fn is_running(&self) -> bool {
        self.since.is_some()
    }

    pub(super) fn snapshot(&mut self, snapshot: &Value) {
        self.run(&snapshot["run"]);
        self.tokens(&snapshot["tokens"]);
        self.todo(&snapshot["todo"]);
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
        let owned = |value: &Value| value.as_str().map(str::to_owned);
        if run["status"] == "idle" {
            self.since = None;
            self.phase = None;
            self.detail = None;
            return;
        }
        self.since.get_or_insert_with(Instant::now);
        self.phase = match run["status"] == "stopping" {
            true => Some("stopping".to_owned()),
            false => owned(&run["phase"]),
        };
        self.detail = owned(&run["detail"]);
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
        let todo = self
            .todo
            .map(|(done, all)| lang.chat_status_todo(done, all));
        // From the left; the number says how soon a part gives way.
        let mut parts: Vec<(u8, String)> = [
            (1, self.doing(lang)),
            (3, Some(self.agent.clone())),
            (2, Some(self.model.clone())),
            (2, context),
            (4, cost),
            (2, waiting),
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

    fn doing(&self, lang: Lang) -> Option<String> {
        let since = self.since?;
        let word = match self.phase.as_deref().unwrap_or_default() {
            "streaming" => lang.chat_doing_answering(),
            "running_tools" => lang.chat_doing_tools(),
            "waiting_for_user" => lang.chat_doing_user(),
            "compacting" => lang.chat_doing_compacting(),
            "stopping" => lang.chat_stopping(),
            "retrying" => match &self.detail {
                Some(detail) => return Some(detail.clone()),
                None => lang.chat_doing_waiting(),
            },
            _ => lang.chat_doing_waiting(),
        };
        Some(format!("{word} {}", seconds(since.elapsed().as_secs())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
