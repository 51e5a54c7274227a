//! The contract suite: what every model client must do, written once.
//!
//! There are three groups. `every` needs only a client that answers; the demo model runs it too.
//! `arranged` needs a client whose answers the test decides. `wire` needs a strict server behind
//! the client that validates each request.

#![expect(
    clippy::unwrap_used,
    reason = "these are tests, and a test fails by panicking"
)]

mod arranged;
mod every;
mod subject;
mod wire;

use crate::client::ModelClient;
use futures::future::BoxFuture;
use netaclaw_protocol::{StopReason, Usage};
use serde_json::Value;
use std::sync::Arc;

/// Makes the client under test. Every test gets a harness of its own.
pub trait ContractHarness: Send + Sync {
    fn client(&self) -> Arc<dyn ModelClient>;

    /// The model that requests name.
    fn model(&self) -> String {
        "fake-model".into()
    }

    /// Prepares the answer to the next request. A client with fixed answers, such as the demo,
    /// ignores it and runs only the group `every`.
    fn arrange(&self, scene: Scene);

    /// Waits until the other end has noticed the disconnect.
    fn hung_up(&self) -> BoxFuture<'_, ()>;

    /// How the other end took the last request: nothing, or why it refused. For the group `wire`.
    fn refusal(&self) -> Option<String> {
        None
    }

    /// The last request as JSON text. For the group `wire`.
    fn last_request(&self) -> String {
        String::new()
    }
}

/// An answer the test decided on.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    pub parts: Vec<ScenePart>,
    pub usage: Option<Usage>,
    pub ending: Ending,
}

#[derive(Clone, Debug)]
pub enum ScenePart {
    Text(String),
    Thinking(String),
    Call {
        id: String,
        name: String,
        arguments: Value,
    },
    /// Arguments that are not JSON.
    BrokenCall {
        id: String,
        name: String,
        arguments: String,
    },
}

#[derive(Clone, Debug, Default)]
pub enum Ending {
    #[default]
    Proper,
    With(StopReason),
    /// The connection breaks after the parts.
    Broken,
    /// Nothing more comes after the parts.
    Hanging,
    /// Refused: the context is too long.
    TooLong,
    /// Refused: too many requests, with a `retry-after` of this many seconds.
    RateLimited(u64),
}

impl Scene {
    fn with_text(parts: impl IntoIterator<Item = ScenePart>) -> Self {
        Self {
            parts: parts.into_iter().collect(),
            ..Self::default()
        }
    }

    fn ending(self, ending: Ending) -> Self {
        Self { ending, ..self }
    }
}

/// Declares the suite: one list from which both the public functions and the macro are made.
macro_rules! suite {
    ($dollar:tt $($group:ident: $($name:ident),+;)+) => {
        /// The tests by name, for [`contract_suite!`](crate::contract_suite).
        pub mod tests {
            use super::ContractHarness;
            $($(
                pub async fn $name(harness: &dyn ContractHarness) {
                    super::$group::$name(harness).await;
                }
            )+)+
        }

        /// Expands to one test for each behaviour of a group of the contract. The expression
        /// makes a [`ContractHarness`](crate::contract::ContractHarness); it may await. The
        /// caller's crate needs `tokio` with `macros` and `rt-multi-thread`.
        #[macro_export]
        macro_rules! contract_suite {
            $(($group: $dollar harness:expr) => {
                $(
                    #[::tokio::test(flavor = "multi_thread", worker_threads = 2)]
                    async fn $name() {
                        let harness = $dollar harness;
                        $dollar crate::contract::tests::$name(&harness).await;
                    }
                )+
            };)+
        }
    };
}

suite! { $
    every:
        there_is_one_last_event_and_it_is_the_end,
        parts_start_in_order_and_end_before_the_last_event,
        the_message_is_what_the_events_showed,
        a_cancelled_stream_says_so_once,
        a_cancelled_stream_keeps_what_had_arrived,
        a_dropped_stream_leaves_the_client_usable,
        usage_is_counted,
        streams_do_not_mix;
    arranged:
        nothing_is_requested_before_the_stream_is_polled,
        every_character_arrives_whole,
        thinking_arrives_apart_from_text,
        calls_in_fragments_arrive_whole,
        many_calls_keep_their_order_and_arguments,
        broken_arguments_are_handed_on_as_text,
        usage_with_cache_is_taken_over,
        an_answer_cut_by_length_is_an_answer,
        nothing_at_all_is_a_failure,
        a_context_that_is_too_long_is_recognised,
        a_rate_limit_tells_how_long_to_wait,
        a_broken_stream_keeps_its_text,
        a_stop_reaches_the_other_end,
        dropping_reaches_the_other_end;
    wire:
        a_plain_conversation_is_accepted,
        orphans_never_reach_the_server,
        stopped_answers_never_reach_the_server,
        pictures_are_accepted_in_messages_and_results,
        thinking_goes_back_as_it_came,
        instructions_and_tools_arrive;
}
