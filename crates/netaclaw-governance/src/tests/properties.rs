//! What holds for every input.

use super::*;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

const NAMES: [&str; 7] = [
    "read",
    "look",
    "bash",
    "memory_save",
    "clarify",
    "mem*",
    "*",
];

fn lists() -> impl Strategy<Value = Vec<String>> {
    subsequence(NAMES.to_vec(), 0..=NAMES.len()).prop_map(|list| names(&list))
}

prop_compose! {
    fn worlds()(
        global in proptest::collection::btree_map(select(&NAMES[..5]), any::<bool>(), 0..5),
        enabled in lists(),
        disabled in lists(),
        missing in proptest::collection::btree_set(select(&NAMES[..5]), 0..3),
        (tools, vision) in any::<(bool, bool)>(),
    ) -> World {
        let status = |on| match on {
            true => ToolStatus::Enabled,
            false => ToolStatus::Disabled,
        };
        World::new(|world| {
            world.global = global.into_iter().map(|(name, on)| (name.into(), status(on))).collect();
            world.agent.tools.enabled = enabled;
            world.agent.tools.disabled = disabled;
            world.environment = missing.into_iter().map(|name| (name.into(), "gone".into())).collect();
            world.model = ModelAbilities { tools, vision };
        })
    }
}

fn on(tools: &ResolvedTools) -> Vec<String> {
    tools.projection().tool_names
}

proptest! {
    /// No setting of a child gives it what its parent does not have, nor does a longer chain of
    /// delegation; a larger grant never takes anything away.
    #[test]
    fn a_child_never_has_more_than_its_parent(
        parent in worlds(),
        child in worlds(),
        granted in lists(),
        more in lists(),
    ) {
        let parent = parent.resolve();
        let seat = |granted| ToolScope::Subagent { parent: &parent, granted };
        let all = child.resolve_for(seat(None));
        let some = child.resolve_for(seat(Some(&granted[..])));
        let larger: Vec<String> = granted.iter().chain(&more).cloned().collect();
        let larger = child.resolve_for(seat(Some(&larger[..])));
        for name in on(&some) {
            prop_assert!(on(&all).contains(&name) && on(&larger).contains(&name), "{name}");
        }
        for name in on(&all) {
            prop_assert!(on(&parent).contains(&name), "{name}");
            prop_assert!(name != "clarify", "a worker cannot ask the user");
        }
        let grandchild = child.resolve_for(ToolScope::Subagent { parent: &some, granted: None });
        for name in on(&grandchild) {
            prop_assert!(on(&some).contains(&name), "{name}");
        }
    }

    /// What is shown is what can be called, for every tool and every layer; a global "off" is
    /// final.
    #[test]
    fn what_is_shown_is_what_may_run(world in worlds(), other in worlds()) {
        let tools = world.resolve();
        let now = other.resolve();
        for tool in tools.all() {
            let call = || ProposedCall {
                tool_call_id: "c".into(),
                tool_name: tool.name().into(),
                args: json!({}),
            };
            let runs = |current| !matches!(decide(&tools, current, &ForeignContent::default(), call()), Decision::Deny { .. });
            let shown = |tools: &ResolvedTools| on(tools).iter().any(|name| name == tool.name());
            prop_assert_eq!(runs(Ok(&tools)), shown(&tools));
            prop_assert_eq!(runs(Ok(&now)), shown(&tools) && shown(&now));
            prop_assert!(!runs(Err(&Undecided::NotReadable("no database".into()))));
            if world.global.get(tool.name()) == Some(&ToolStatus::Disabled) {
                prop_assert!(!shown(&tools));
            }
        }
    }
}
