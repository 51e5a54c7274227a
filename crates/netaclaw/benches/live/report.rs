//! The figures as a table for people and as JSON for comparing.

use crate::load::{Chats, Load};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// One server in one round. What a server cannot do is left empty.
#[derive(Default)]
pub(crate) struct Figures {
    pub(crate) idle_bytes: u64,
    pub(crate) sessions_bytes: u64,
    pub(crate) connection_bytes: u64,
    pub(crate) tool_turn: Vec<Duration>,
    pub(crate) stops: Vec<Duration>,
    /// At the pace of models.
    pub(crate) paced: Option<Chats>,
    /// The same with clients that get every event in both forms.
    pub(crate) all_events: Option<Chats>,
    pub(crate) flat_out: Option<Chats>,
}

#[derive(Default)]
pub(crate) struct Report {
    direct: Vec<Vec<Duration>>,
    ours: Vec<Figures>,
    /// Another build of NetaClaw, if one was named.
    beside: Vec<Figures>,
    relay: Vec<Figures>,
}

struct Row {
    name: &'static str,
    unit: Unit,
    ours: f64,
    /// NaN where no other build was measured.
    beside: f64,
    /// NaN where the relay has none.
    relay: f64,
    /// What ours should not exceed.
    goal: Option<f64>,
}

impl Report {
    pub(crate) fn add(
        &mut self,
        direct: Vec<Duration>,
        ours: Figures,
        beside: Option<Figures>,
        relay: Figures,
    ) {
        self.direct.push(direct);
        self.ours.push(ours);
        self.beside.extend(beside);
        self.relay.push(relay);
    }

    #[expect(clippy::print_stdout, reason = "a benchmark's output is its purpose")]
    pub(crate) fn print(&self, load: &Load, starts: &[Duration]) {
        println!(
            "{} chats of {} tokens at {} tokens/s each; medians of {} rounds\n",
            load.chats,
            load.tokens,
            load.pace,
            self.ours.len()
        );
        let line = |name: &str, columns: [String; 5]| {
            let [ours, beside, ratio, relay, goal] = columns;
            println!("{name:44} {ours:>12} {beside:>12} {ratio:>7} {relay:>12} {goal:>12}");
        };
        let titles = ["NetaClaw", "other build", "ratio", "Node relay", "goal"];
        line("", titles.map(str::to_owned));
        for row in self.rows(starts) {
            let show = |value: f64| match value.is_nan() {
                true => String::new(),
                false => row.unit.show(value),
            };
            let goal = row
                .goal
                .map(|goal| format!("≤ {}", show(goal)))
                .unwrap_or_default();
            let ratio = row.ours / row.beside;
            let ratio = match ratio.is_finite() {
                true => format!("{ratio:.3}"),
                false => String::new(),
            };
            let columns = [
                show(row.ours),
                show(row.beside),
                ratio,
                show(row.relay),
                goal,
            ];
            line(row.name, columns);
        }
    }

    pub(crate) fn write(&self, path: &Path, starts: &[Duration]) -> anyhow::Result<()> {
        let rows = self.rows(starts).into_iter();
        let figures: serde_json::Map<String, Value> = rows
            .map(|row| {
                let figure = json!({
                    "netaclaw": row.ours,
                    "beside": row.beside,
                    "relay": row.relay,
                    "goal": row.goal,
                    "unit": row.unit.name(),
                });
                (row.name.to_owned(), figure)
            })
            .collect();
        Ok(std::fs::write(
            path,
            serde_json::to_string_pretty(&figures)?,
        )?)
    }

    fn rows(&self, starts: &[Duration]) -> Vec<Row> {
        let mut rows = self.speed();
        rows.extend(self.memory());
        rows.push(Row {
            name: "start to ready, p50",
            unit: Unit::Millis,
            ours: 1e3 * percentile(starts, 50.0),
            beside: f64::NAN,
            relay: f64::NAN,
            goal: Some(50.0),
        });
        rows
    }

    fn speed(&self) -> Vec<Row> {
        let cpu = |chats: Option<&Chats>| {
            chats.map_or(f64::NAN, |chats| 1e6 * chats.cpu_per_token.as_secs_f64())
        };
        // Seven microseconds, or a third of the relay's, whichever is more.
        let against_relay = |row: Row| Row {
            goal: Some((row.relay / 3.0).max(7.0)),
            ..row
        };
        let no_more_than_relay = |row: Row| Row {
            goal: Some(row.relay),
            ..row
        };
        let extra = |of: f64| {
            move |figures: &Figures, direct: &[Duration]| {
                let first = figures.paced.as_ref().map(|chats| &chats.first_token);
                first.map_or(f64::NAN, |first| {
                    1e3 * (percentile(first, of) - percentile(direct, of))
                })
            }
        };
        use Unit::{Count, Micros, Millis};
        vec![
            against_relay(
                self.row("CPU per token, as models speak", Micros, None, |f, _| {
                    cpu(f.paced.as_ref())
                }),
            ),
            self.row(
                "  with the older forms of events too",
                Micros,
                None,
                |f, _| cpu(f.all_events.as_ref()),
            ),
            against_relay(self.row("CPU per token, flat out", Micros, None, |f, _| {
                cpu(f.flat_out.as_ref())
            })),
            self.row("tokens per second, flat out", Count, None, |f, _| {
                let chats = f.flat_out.as_ref();
                chats.map_or(f64::NAN, |chats| chats.tokens_per_second)
            }),
            self.row(
                "first token, without a server",
                Millis,
                None,
                |_, direct| 1e3 * percentile(direct, 50.0),
            ),
            self.row(
                "first token over direct, p50",
                Millis,
                Some(3.0),
                extra(50.0),
            ),
            self.row(
                "first token over direct, p99",
                Millis,
                Some(5.0),
                extra(99.0),
            ),
            no_more_than_relay(
                self.row("first token, all at once, p50", Millis, None, |f, _| {
                    let chats = f.flat_out.as_ref();
                    chats.map_or(f64::NAN, |chats| 1e3 * percentile(&chats.first_token, 50.0))
                }),
            ),
            self.row(
                "turn with three tool calls, p50",
                Millis,
                Some(8.0),
                |f, _| 1e3 * percentile(&f.tool_turn, 50.0),
            ),
            self.row("stop to the end of the run, p50", Millis, None, |f, _| {
                1e3 * percentile(&f.stops, 50.0)
            }),
            self.row(
                "stop to the end of the run, longest",
                Millis,
                Some(1e3),
                |f, _| 1e3 * percentile(&f.stops, 100.0),
            ),
        ]
    }

    fn memory(&self) -> Vec<Row> {
        use Unit::{Kilobytes, Megabytes};
        vec![
            self.row(
                "memory of an idle connection",
                Kilobytes,
                Some(27e3),
                |f, _| f.connection_bytes as f64,
            ),
            self.row(
                "memory before anything was done",
                Megabytes,
                Some(25e6),
                |f, _| f.idle_bytes as f64,
            ),
            self.row(
                "memory after the sessions",
                Megabytes,
                Some(60e6),
                |f, _| f.sessions_bytes as f64,
            ),
        ]
    }

    fn row(
        &self,
        name: &'static str,
        unit: Unit,
        goal: Option<f64>,
        figure: impl Fn(&Figures, &[Duration]) -> f64,
    ) -> Row {
        let over = |figures: &[Figures]| {
            let rounds = figures.iter().zip(&self.direct);
            median(rounds.map(|(figures, direct)| figure(figures, direct)))
        };
        Row {
            name,
            unit,
            ours: over(&self.ours),
            beside: over(&self.beside),
            relay: over(&self.relay),
            goal,
        }
    }
}

#[derive(Clone, Copy)]
enum Unit {
    Micros,
    Millis,
    Kilobytes,
    Megabytes,
    Count,
}

impl Unit {
    fn show(self, value: f64) -> String {
        match self {
            Self::Micros => format!("{value:.1} µs"),
            Self::Millis => format!("{value:.2} ms"),
            Self::Kilobytes => format!("{:.1} kB", value / 1e3),
            Self::Megabytes => format!("{:.1} MB", value / 1e6),
            Self::Count => format!("{value:.0}"),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Micros => "µs",
            Self::Millis => "ms",
            Self::Kilobytes | Self::Megabytes => "bytes",
            Self::Count => "1/s",
        }
    }
}

/// In seconds; NaN of nothing.
pub(crate) fn percentile(values: &[Duration], of: f64) -> f64 {
    let mut sorted: Vec<f64> = values.iter().map(Duration::as_secs_f64).collect();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    let at = (of / 100.0 * last as f64).ceil() as usize;
    sorted.get(at).copied().unwrap_or(f64::NAN)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
