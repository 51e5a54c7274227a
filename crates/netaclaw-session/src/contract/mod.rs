//! The contract suite: what every session provider must do, written once.
//!
//! A provider's tests name a harness and expand [`contract_suite!`](crate::contract_suite); each
//! behavior then is a test of its own. The suite uses only the port, and does not depend on how or
//! where sessions are stored.

#![expect(
    clippy::unwrap_used,
    reason = "these are tests, and a test fails by panicking"
)]

mod append;
mod branch;
mod concurrent;
mod fork;
mod in_flight;
mod labels;
mod leaf;
mod list;
mod lossless;
mod meta;
mod random;
mod subject;

pub use random::{Step, random_log, random_steps};

use crate::SessionTreeProvider;
use async_trait::async_trait;
use std::sync::Arc;

/// Makes the provider under test. Every test gets a harness of its own, over empty storage.
#[async_trait]
pub trait ContractHarness: Send + Sync {
    /// Opens the storage. Called again after the provider before was dropped, it must show what
    /// a new process would find after the old one ended without a word.
    async fn open(&self) -> Arc<dyn SessionTreeProvider>;
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
        /// storage; it may await. The caller's crate needs `tokio` with `macros` and
        /// `rt-multi-thread`.
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
    append:
        a_new_session_is_empty,
        appends_form_a_chain_and_move_the_leaf,
        every_kind_of_entry_is_written_in_its_form,
        a_given_id_is_kept_and_a_taken_one_refused,
        an_unknown_parent_is_refused,
        an_append_that_expects_the_leaf_is_written,
        an_append_that_expects_another_leaf_changes_nothing,
        every_text_may_be_any_text;
    branch:
        branches_keep_their_siblings,
        a_branch_summary_hangs_at_its_target_and_names_the_leaf_left,
        a_branch_summary_can_begin_a_root,
        the_append_after_a_reset_is_a_second_root,
        a_leaf_cannot_move_to_an_unknown_entry,
        a_leaf_that_moves_to_a_label_rests_above_it,
        a_compaction_stands_in_for_what_it_covers,
        a_compaction_may_keep_nothing;
    labels:
        labels_are_set_replaced_and_cleared,
        labels_and_names_do_not_move_the_leaf,
        a_label_for_an_unknown_entry_is_refused,
        the_last_name_counts_and_an_empty_one_clears;
    leaf:
        a_moved_leaf_survives_a_restart,
        a_reset_leaf_survives_a_restart,
        a_label_does_not_move_the_leaf_of_the_next_process,
        snapshots_are_the_same_after_a_restart;
    fork:
        a_branched_session_holds_the_path_and_its_labels,
        branching_leaves_the_source_alone,
        branching_at_an_unknown_entry_makes_nothing,
        branching_into_a_taken_id_changes_nothing;
    concurrent:
        concurrent_appends_are_all_there_once_and_in_one_order,
        of_concurrent_appends_that_expect_a_leaf_one_wins,
        concurrent_sessions_do_not_mix;
    in_flight:
        an_entry_in_flight_shows_beside_the_log,
        completing_an_entry_in_flight_leaves_one_entry,
        an_entry_in_flight_is_closed_by_the_next_writer,
        closing_an_entry_in_flight_does_not_take_the_leaf_from_another_branch,
        a_completed_entry_leaves_nothing_for_the_next_writer;
    lossless:
        foreign_entries_survive_byte_for_byte,
        duplicate_ids_and_orphans_stay,
        circles_are_kept_and_end_in_typed_errors,
        entries_of_five_megabytes_are_ordinary,
        ten_thousand_entries_are_ordinary,
        contexts_are_those_of_the_pure_function,
        random_trees_give_the_contexts_of_the_pure_function;
    meta:
        sessions_are_known_by_what_they_were_made_with,
        an_imported_session_keeps_its_data,
        an_id_is_taken_once,
        a_request_makes_one_session,
        metadata_changes_member_by_member,
        a_newer_format_is_not_taken_in,
        ids_that_could_name_a_path_are_refused,
        a_patch_changes_what_it_names,
        a_patched_session_is_the_same_after_a_restart,
        a_deleted_session_takes_no_entries_until_it_is_restored,
        only_a_deleted_session_is_purged,
        a_purged_session_leaves_nothing_for_its_id,
        an_unknown_session_is_not_found;
    list:
        lists_are_paged_and_newest_first,
        lists_are_filtered_by_owner_and_status,
        lists_are_filtered_by_a_member_of_the_metadata,
        lists_are_searched_whatever_the_case,
        bookkeeping_is_no_news;
}
