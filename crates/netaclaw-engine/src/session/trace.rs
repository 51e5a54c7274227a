//! Runs as traces, following OpenTelemetry's conventions for generative AI. The program that
//! exports them installs a provider; without one nothing is recorded.
//!
//! A trace has the model, the duration, the cost and the outcome. It never contains messages,
//! answers, tool output or API keys.

use netaclaw_protocol::{
    LocalizedErrorKind, RunId, RunOutcome, SessionId, SessionMeta, StopReason, ToolRoute, Usage,
};
use netaclaw_runtime::RunReport;
use opentelemetry::global::{self, BoxedSpan, BoxedTracer};
use opentelemetry::trace::{Span, SpanKind, Status, TraceContextExt, Tracer};
use opentelemetry::{Array, Context, KeyValue, StringValue, Value};
use std::collections::HashMap;

const OPERATION: &str = "gen_ai.operation.name";
const ERROR: &str = "error.type";

/// The spans of one run. What is still open when it is dropped ends there.
pub(crate) struct RunTrace {
    tracer: BoxedTracer,
    /// Around all others.
    run: Context,
    model: Option<BoxedSpan>,
    /// By the ids of their calls.
    tools: HashMap<String, BoxedSpan>,
}

impl RunTrace {
    pub(crate) fn begin(session: &SessionId, run: &RunId) -> Self {
        let tracer = global::tracer("netaclaw");
        let mut span = tracer.start_with_context("invoke_agent", &Context::new());
        if span.is_recording() {
            span.set_attributes([
                KeyValue::new(OPERATION, "invoke_agent"),
                KeyValue::new("gen_ai.conversation.id", session.to_string()),
                KeyValue::new("netaclaw.run.id", run.to_string()),
            ]);
        }
        Self {
            tracer,
            run: Context::new().with_span(span),
            model: None,
            tools: HashMap::new(),
        }
    }

    /// Whose run it is.
    pub(crate) fn of_session(&self, session: &SessionMeta) {
        let span = self.run.span();
        if let Some(agent) = &session.agent_id
            && span.is_recording()
        {
            span.set_attribute(KeyValue::new("gen_ai.agent.id", agent.clone()));
        }
    }

    pub(crate) fn model_asked(&mut self) {
        // Told again, for example after a compaction, it is the same question.
        if self.model.is_none() {
            self.model = self.child("chat", SpanKind::Client);
        }
    }

    pub(crate) fn retried(&mut self, kind: LocalizedErrorKind) {
        if let Some(span) = &mut self.model {
            span.add_event("retry", vec![KeyValue::new(ERROR, kind.as_str())]);
        }
    }

    pub(crate) fn answer_started(&mut self, channel: &str, model: &str) {
        if let Some(span) = &mut self.model {
            span.update_name(format!("chat {model}"));
            span.set_attributes([
                KeyValue::new("gen_ai.provider.name", channel.to_owned()),
                KeyValue::new("gen_ai.request.model", model.to_owned()),
            ]);
        }
    }

    /// A failed answer has none.
    pub(crate) fn first_part_started(&mut self) {
        if let Some(span) = &mut self.model {
            span.add_event("first_token", Vec::new());
        }
    }

    pub(crate) fn answered(
        &mut self,
        stop: StopReason,
        kind: Option<LocalizedErrorKind>,
        usage: &Usage,
    ) {
        let Some(mut span) = self.model.take() else {
            return;
        };
        let tokens =
            |name, tokens: u64| KeyValue::new(name, i64::try_from(tokens).unwrap_or(i64::MAX));
        let finish = Array::String(vec![StringValue::from(finish_reason(stop))]);
        span.set_attributes([
            KeyValue::new("gen_ai.response.finish_reasons", Value::Array(finish)),
            tokens(
                "gen_ai.usage.input_tokens",
                usage.input + usage.cache_read + usage.cache_write,
            ),
            tokens("gen_ai.usage.output_tokens", usage.output),
            tokens("gen_ai.usage.cache_read.input_tokens", usage.cache_read),
            tokens(
                "gen_ai.usage.cache_creation.input_tokens",
                usage.cache_write,
            ),
        ]);
        if let Some(kind) = kind {
            fail(&mut span, kind.as_str());
        }
        span.end();
    }

    pub(crate) fn tool_started(&mut self, call: &str, tool: &str, route: ToolRoute) {
        let Some(mut span) = self.child("execute_tool", SpanKind::Internal) else {
            return;
        };
        span.set_attribute(KeyValue::new("gen_ai.tool.call.id", call.to_owned()));
        // Models make names up; those of tools that are there are few.
        if route != ToolRoute::Disabled {
            span.update_name(format!("execute_tool {tool}"));
            span.set_attribute(KeyValue::new("gen_ai.tool.name", tool.to_owned()));
        }
        self.tools.insert(call.to_owned(), span);
    }

    pub(crate) fn tool_ended(&mut self, call: &str, is_error: bool) {
        if let Some(mut span) = self.tools.remove(call) {
            if is_error {
                fail(&mut span, "tool_error");
            }
            span.end();
        }
    }

    pub(crate) fn ended(&self, report: &RunReport) {
        let span = self.run.span();
        if !span.is_recording() {
            return;
        }
        let outcome = report.outcome.as_str();
        span.set_attribute(KeyValue::new("netaclaw.run.outcome", outcome));
        if report.outcome == RunOutcome::Error {
            let kind = report.trouble.as_ref().map(|why| why.kind);
            let kind = kind.unwrap_or(LocalizedErrorKind::Internal).as_str();
            span.set_attribute(KeyValue::new(ERROR, kind));
            span.set_status(Status::error(kind));
        }
        span.end();
    }

    /// A span within the run, if the run is recorded.
    fn child(&self, operation: &'static str, kind: SpanKind) -> Option<BoxedSpan> {
        if !self.run.span().is_recording() {
            return None;
        }
        let builder = self.tracer.span_builder(operation).with_kind(kind);
        let builder = builder.with_attributes([KeyValue::new(OPERATION, operation)]);
        Some(self.tracer.build_with_context(builder, &self.run))
    }
}

fn fail(span: &mut BoxedSpan, kind: &'static str) {
    span.set_attribute(KeyValue::new(ERROR, kind));
    span.set_status(Status::error(kind));
}

fn finish_reason(stop: StopReason) -> &'static str {
    match stop {
        StopReason::Stop => "stop",
        StopReason::Length => "length",
        StopReason::ToolUse => "tool_calls",
        StopReason::Error => "error",
        StopReason::Aborted => "aborted",
    }
}
