//! The contract suite: what every admin store must do, written once.
//!
//! A store's tests name a harness and expand [`contract_suite!`](crate::contract_suite); each
//! behavior then is a test of its own. The suite uses only the port, and does not depend on
//! databases.

#![expect(
    clippy::unwrap_used,
    reason = "these are tests, and a test fails by panicking"
)]

mod accounts;
mod agents;
mod approvals;
mod audit;
mod channels;
mod concurrent;
mod mcp;
mod memories;
mod seeds;
mod settings;
mod snapshots;
mod subject;
mod tools;

use crate::AdminStore;
use async_trait::async_trait;
use std::sync::Arc;

/// Makes the store under test. Every test gets a harness of its own, over empty storage.
#[async_trait]
pub trait ContractHarness: Send + Sync {
    /// Opens the storage. Every call is as another process that has the same secret key.
    async fn open(&self) -> Arc<dyn AdminStore>;
}

/// Declares the suite: one list from which both the public functions and the macro are made. A
/// test that is missing here is dead code, which the compiler reports.
macro_rules! suite {
    ($dollar:tt $($module:ident: $($name:ident),+;)+) => {
        /// The tests by name, for [`contract_suite!`](crate::contract_suite).
        pub mod tests {
            use super::ContractHarness;
            $($(
                pub async fn $name(harness: &dyn ContractHarness) {
                    super::$module::$name(harness).await;
                }
            )+)+
        }

        /// Expands to one test for each behaviour of the contract. The argument is an expression
        /// that makes a [`ContractHarness`](crate::contract::ContractHarness) over empty
        /// storage. The caller's crate needs `tokio` with `macros` and `rt-multi-thread`.
        #[macro_export]
        macro_rules! contract_suite {
            ($dollar harness:expr) => {
                $($(
                    #[::tokio::test(flavor = "multi_thread", worker_threads = 4)]
                    async fn $name() {
                        let harness = $dollar harness;
                        $dollar crate::contract::tests::$name(&harness).await;
                    }
                )+)+
            };
        }
    };
}

suite! { $
    agents:
        an_agent_comes_back_as_it_was_kept,
        an_agents_name_is_taken_once,
        an_agent_is_changed_only_at_the_expected_revision,
        a_change_that_changes_nothing_keeps_the_revision,
        there_is_always_one_default_agent,
        the_default_agent_stays_until_there_is_another,
        an_agent_that_breaks_a_rule_is_not_kept,
        an_unknown_agent_is_not_found_but_may_be_guessed;
    channels:
        a_channel_comes_back_as_it_was_kept,
        a_key_goes_in_and_comes_out_only_to_be_used,
        a_key_is_kept_replaced_and_cleared,
        a_channel_is_changed_only_at_the_expected_revision,
        a_channel_that_breaks_a_rule_is_not_kept,
        a_channel_in_use_cannot_be_deleted,
        an_agent_opens_its_models,
        the_auxiliary_model_follows_agent_and_dictionary;
    approvals:
        an_approval_is_of_one_user_and_agent,
        an_approval_is_granted_once,
        a_revoked_approval_is_gone_and_audited,
        approvals_go_with_their_agent;
    tools:
        tools_are_known_since_they_were_first_there,
        a_switch_outlives_its_tool,
        a_switch_is_set_only_at_the_expected_revision,
        sources_keep_to_their_own_tools;
    snapshots:
        a_snapshot_has_every_change_of_its_own_store,
        a_change_of_another_process_is_seen_within_a_second,
        a_snapshot_is_of_one_revision;
    mcp:
        an_mcp_server_comes_back_as_it_was_kept,
        an_mcp_server_is_changed_and_deleted,
        an_mcp_server_that_breaks_a_rule_is_not_kept;
    settings:
        the_dictionary_keeps_groups_and_entries,
        dictionary_values_are_found_by_name,
        dictionary_records_are_changed_only_at_the_expected_revision,
        a_group_takes_its_entries_with_it,
        settings_hold_any_json,
        a_setting_is_changed_only_at_the_expected_revision;
    accounts:
        a_user_logs_in_with_the_password_and_nothing_else,
        a_password_is_replaced_and_cleared,
        passwords_have_a_least_length,
        an_administrator_stays,
        a_user_is_changed_only_at_the_expected_revision,
        a_token_lets_its_user_in,
        a_wrong_token_is_refused,
        a_token_ends_when_it_is_revoked_or_its_user_goes,
        a_token_ends_within_a_second_wherever_it_was_revoked,
        a_browsers_token_ends_with_the_one_it_came_in_with,
        a_changed_password_ends_the_browsers_that_came_in_with_it,
        a_token_expires,
        a_token_needs_a_user_and_a_future,
        dead_tokens_are_forgotten;
    memories:
        a_fact_comes_back_as_it_was_kept,
        a_fact_is_seen_by_its_user_and_agent_only,
        the_same_words_are_kept_once,
        a_fact_is_changed_only_at_the_expected_revision,
        a_fact_that_breaks_a_rule_is_not_kept,
        facts_have_a_number_that_is_not_exceeded,
        facts_go_with_their_agent_and_their_user,
        a_pending_fact_is_no_fact_until_its_user_confirms_it,
        a_pending_correction_takes_its_place_when_it_is_confirmed,
        pending_facts_have_a_number_that_is_not_exceeded;
    audit:
        every_change_is_written_down_without_its_values,
        the_list_has_pages_and_the_newest_comes_first;
    seeds:
        a_first_start_without_anything_gives_a_demo,
        a_first_start_uses_the_best_key,
        a_first_start_is_once,
        what_was_deleted_after_a_first_start_stays_away,
        of_many_first_starts_one_counts;
    concurrent:
        of_concurrent_changes_to_a_revision_one_wins,
        of_concurrent_records_of_one_name_one_is_made,
        concurrent_changes_of_several_processes_are_all_there,
        a_refused_change_leaves_nothing_behind;
}
