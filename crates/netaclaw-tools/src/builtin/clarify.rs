//! `clarify`: asks the user, and waits for the answer.

use crate::context::ToolContext;
use crate::output::ToolOutput;
use crate::service::{ClarifyAnswer, ClarifyQuestion};
use crate::tool::{Call, TypedTool};
use async_trait::async_trait;
use netaclaw_governance::{Concurrency, EgressTarget, ToolManifest, WorkerUse};
use netaclaw_protocol::{ToolCategory, ToolLabel, ToolRisk, ToolStatus};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

const QUESTION_CHARS_MAX: usize = 4000;
const OPTIONS_MAX: usize = 20;
const OPTION_CHARS_MAX: usize = 200;
/// Options nested deeper than this are ignored.
const NESTING_MAX: usize = 4;

/// Asks the people who watch the session.
#[derive(Clone, Copy, Debug)]
pub struct Clarify;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClarifyInput {
    /// The question, in the language of the user.
    #[schemars(length(min = 1))]
    question: String,
    /// Short answers to choose from. The user can also enter another answer.
    #[serde(default)]
    options: Vec<String>,
    /// Whether the user may choose several options.
    #[serde(default)]
    multi: bool,
}

#[async_trait]
impl TypedTool for Clarify {
    type Input = ClarifyInput;

    fn manifest(&self) -> ToolManifest {
        ToolManifest {
            name: "clarify".to_owned(),
            label: ToolLabel {
                zh: "询问用户".to_owned(),
                en: "Ask the user".to_owned(),
            },
            description: "Asks the user a question, waits for the answer and returns it.".into(),
            guidance: "Use `clarify` only if the request has several interpretations that lead to \
                       different work; never ask what a tool can tell you."
                .to_owned(),
            category: ToolCategory::Session,
            schema: Value::Null.into(),
            risk: ToolRisk::Read,
            default_status: ToolStatus::Enabled,
            worker: WorkerUse::Never,
            needs: Vec::new(),
            // Users take their time. The timeout is a setting of the session, so a general deadline
            // of tools must not end the question.
            timeout: None,
            output_cap: 32 << 10,
            concurrency: Concurrency::Parallel,
            outlet: EgressTarget::None,
        }
    }

    /// Models send options as texts, objects, JSON in a text, and lists of these.
    fn normalize(&self, args: &mut Value) {
        let Some(options) = args.get_mut("options") else {
            return;
        };
        let mut labels = Vec::new();
        collect_labels(options, 0, &mut labels);
        *options = labels.into();
    }

    async fn run(&self, call: Call<ClarifyInput>, context: ToolContext) -> ToolOutput {
        let tool_call_id = call.tool_call_id().to_owned();
        let input = call.into_input();
        let question = cut(input.question.trim(), QUESTION_CHARS_MAX);
        if question.is_empty() {
            return ToolOutput::error(
                "The question is empty. Call `clarify` again with a question.",
            );
        }
        let question = ClarifyQuestion {
            tool_call_id,
            question,
            multi: input.multi && !input.options.is_empty(),
            options: input.options,
        };
        let asked = tokio::select! {
            answer = context.clarifier.ask(question) => answer,
            () = context.cancel.cancelled() => {
                return ToolOutput::error("The question was not answered.");
            }
        };
        match asked {
            Ok(answer) => clarify_output(&answer),
            // An answer is never invented: the model would act on it as on a decision of the user.
            Err(error) => ToolOutput::error(format!("The question could not be asked: {error}.")),
        }
    }
}

/// The result of a question that has ended. Also for a question that outlived its run and is
/// answered after a restart.
pub fn clarify_output(answer: &ClarifyAnswer) -> ToolOutput {
    let (status, text) = match answer {
        ClarifyAnswer::Answered(answers) => {
            let text = match answers.as_slice() {
                [one] => format!("The user answered: {one}"),
                several => {
                    let lines = several.iter().map(|answer| format!("\n- {answer}"));
                    format!("The user chose:{}", lines.collect::<String>())
                }
            };
            ("answered", text)
        }
        ClarifyAnswer::Dismissed => (
            "dismissed",
            "The user dismissed the question without an answer.".to_owned(),
        ),
        ClarifyAnswer::TimedOut => (
            "timed_out",
            "There was no answer in time. Do not assume an answer.".to_owned(),
        ),
    };
    let answers = match answer {
        ClarifyAnswer::Answered(answers) => answers.as_slice(),
        _ => &[],
    };
    ToolOutput::text(text).with_details(json!({ "status": status, "answers": answers }))
}

fn collect_labels(value: &Value, depth: usize, labels: &mut Vec<String>) {
    if depth > NESTING_MAX {
        return;
    }
    match value {
        Value::Null => {}
        Value::Array(items) => items
            .iter()
            .for_each(|item| collect_labels(item, depth + 1, labels)),
        Value::Object(members) => match label_of(members) {
            // Again, because the label may be JSON in a text itself.
            Some(label) => collect_labels(&label.into(), depth + 1, labels),
            // A map from keys to options.
            None => members
                .values()
                .for_each(|item| collect_labels(item, depth + 1, labels)),
        },
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner @ (Value::Array(_) | Value::Object(_) | Value::String(_))) => {
                collect_labels(&inner, depth + 1, labels);
            }
            // A list that was written as one text.
            _ if depth == 0 => text.lines().for_each(|line| push(line, labels)),
            _ => push(text, labels),
        },
        plain => push(&plain.to_string(), labels),
    }
}

fn label_of(members: &Map<String, Value>) -> Option<String> {
    let text = |names: &[&str]| {
        names.iter().find_map(|name| {
            let text = members.get(*name)?.as_str()?.trim();
            (!text.is_empty()).then(|| text.to_owned())
        })
    };
    let label = text(&["label", "title", "text", "name", "option", "value"]);
    let description = text(&["description", "detail"]);
    match (label, description) {
        (Some(label), Some(description)) if label != description => {
            Some(format!("{label} – {description}"))
        }
        (label, description) => label.or(description),
    }
}

fn push(label: &str, labels: &mut Vec<String>) {
    let label = label.split_whitespace().collect::<Vec<_>>().join(" ");
    let label = cut(&label, OPTION_CHARS_MAX);
    if !label.is_empty() && labels.len() < OPTIONS_MAX && !labels.contains(&label) {
        labels.push(label);
    }
}

fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(options: Value, expected: &[&str]) {
        let mut args = json!({ "options": options });
        TypedTool::normalize(&Clarify, &mut args);
        assert_eq!(args["options"], json!(expected));
    }

    #[test]
    fn options_of_any_shape_become_labels() {
        check(json!(["a", " b ", "a", "", null]), &["a", "b"]);
        check(
            json!([{"label": "A", "description": "first"}, {"title": "B"}, {"value": "c"}]),
            &["A – first", "B", "c"],
        );
        check(json!(["{\"label\":\"A\"}", "\"B\""]), &["A", "B"]);
        check(json!("[\"a\", {\"text\": \"b\"}]"), &["a", "b"]);
        check(json!("one\ntwo"), &["one", "two"]);
        check(json!({"a": "one", "b": {"label": "two"}}), &["one", "two"]);
        check(json!([1, true, ["x", ["y"]]]), &["1", "true", "x", "y"]);
        check(json!(null), &[]);
        check(json!(["a\nb"]), &["a b"]);
    }

    #[test]
    fn answers_are_distinguished_from_silence() {
        let text = |answer| clarify_output(&answer).joined_text();
        let answered = |list: &[&str]| {
            text(ClarifyAnswer::Answered(
                list.iter().map(|&a| a.to_owned()).collect(),
            ))
        };
        assert_eq!(answered(&["red"]), "The user answered: red");
        assert_eq!(answered(&["a", "b"]), "The user chose:\n- a\n- b");
        assert!(text(ClarifyAnswer::Dismissed).contains("without an answer"));
        assert!(text(ClarifyAnswer::TimedOut).contains("Do not assume"));
    }

    proptest::proptest! {
        /// Whatever the model sends, labels are short single lines and never show JSON objects, so
        /// that users can read them.
        #[test]
        fn labels_are_always_fit_to_be_shown(options in json_value()) {
            let mut labels = Vec::new();
            collect_labels(&options, 0, &mut labels);
            assert!(labels.len() <= OPTIONS_MAX);
            for label in labels {
                assert!(!label.is_empty() && label.chars().count() <= OPTION_CHARS_MAX + 1);
                assert!(!label.chars().any(char::is_control) || !label.contains('\n'));
                let inner = serde_json::from_str::<Value>(&label);
                assert!(!matches!(inner, Ok(Value::Object(_))), "{label}");
            }
        }
    }

    fn json_value() -> impl proptest::strategy::Strategy<Value = Value> {
        use proptest::prelude::*;
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a-z \n]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map("label|text|x|description", inner.clone(), 0..3)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
                inner.prop_map(|value| Value::from(value.to_string())),
            ]
        })
    }
}
