//! One meaning everywhere: over random trees a context is the same from a file, from MySQL, from
//! the pure function and, where it can read the tree, from the real Pi.

use crate::file::Files;
use netaclaw_session::contract::{Step, random_log};
use netaclaw_session::{
    EntryId, ImportSession, SessionId, SessionLog, SessionTree, SessionTreeProvider,
    build_session_context,
};
use netaclaw_store::{MysqlProvider, MysqlSettings, new_session_id};
use netaclaw_testkit::{MariaDb, Pi};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use std::cell::RefCell;

const CASES: u32 = 96;
/// The kind of step that makes a `context_edit`, which Pi supports only since 0.87.
const CONTEXT_EDIT: u8 = 16;

/// The contexts at every entry and before the first, as text.
fn contexts(tree: &SessionTree) -> Vec<(Option<EntryId>, String)> {
    let leaves = tree
        .entries()
        .iter()
        .map(|entry| Some(entry.id().clone()))
        .chain([None]);
    leaves
        .map(|leaf| {
            let context = build_session_context(tree, leaf.as_ref()).unwrap();
            let text = serde_json::to_string(&context).unwrap();
            (leaf, text)
        })
        .collect()
}

#[test]
fn contexts_are_the_same_everywhere() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let server = MariaDb::start().unwrap();
    let database = server.fresh_database().unwrap();
    let mysql = runtime
        .block_on(MysqlProvider::connect(MysqlSettings::new(database.url())))
        .unwrap();
    let pi = RefCell::new(Pi::start().unwrap());

    let step = (any::<u8>(), any::<u16>(), any::<u16>()).prop_map(|(kind, parent, other)| Step {
        kind,
        parent,
        other,
    });
    let trees = proptest::collection::vec(step, 0..60);
    // The same trees every time, so that failures can be reproduced.
    let config = ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    runner
        .run(&trees, |steps| {
            let session = new_session_id();
            let text = random_log(session.as_str(), &steps);
            let pure = SessionTree::new(SessionLog::parse(text.clone().into_bytes()).unwrap());
            let expected = contexts(&pure);

            let files = Files::new();
            let path = files.put("random.jsonl", &text);
            let provider = files.open();
            let look = |provider: &dyn SessionTreeProvider, session: &SessionId| {
                let tree = runtime.block_on(provider.load_tree(session)).unwrap();
                prop_assert_eq!(contexts(&tree), expected.clone());
                prop_assert_eq!(tree.leaf(), pure.leaf());
                Ok(())
            };
            look(&provider, &session)?;
            let log = pure.to_log();
            runtime
                .block_on(mysql.import_session(ImportSession { log, id: None }))
                .unwrap();
            look(&mysql, &session)?;
            runtime.block_on(mysql.release(&session)).unwrap();
            look(&mysql, &session)?;

            if steps.iter().all(|step| step.kind % 19 != CONTEXT_EDIT) {
                let leaves: Vec<Value> = expected.iter().map(|(leaf, _)| json!(leaf)).collect();
                let theirs = pi
                    .borrow_mut()
                    .ask("contexts", json!({"file": path, "leaves": leaves}))
                    .unwrap();
                for ((leaf, ours), theirs) in expected.iter().zip(theirs.as_array().unwrap()) {
                    let ours: Value = serde_json::from_str(ours).unwrap();
                    for part in ["messages", "thinkingLevel", "model"] {
                        prop_assert_eq!(&ours[part], &theirs[part], "{} at {:?}", part, leaf);
                    }
                }
            }
            Ok(())
        })
        .unwrap();
}
