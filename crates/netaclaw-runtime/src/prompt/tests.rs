use super::*;
use netaclaw_governance::{ModelAbilities, ResolveInput, ToolResolver, ToolScope};
use netaclaw_protocol::{AgentSpec, TodoItem, TodoStatus, ToolChoice};
use netaclaw_tools::ToolRegistry;
use std::collections::BTreeMap;

fn tools(disabled: &[&str]) -> ResolvedTools {
    let agent = AgentSpec {
        tools: ToolChoice {
            enabled: Vec::new(),
            disabled: disabled.iter().map(|&name| name.to_owned()).collect(),
        },
        ..AgentSpec::default()
    };
    ToolResolver::resolve(&ResolveInput {
        catalogue: &ToolRegistry::builtin().catalogue(),
        global: &BTreeMap::new(),
        agent: &agent,
        model: ModelAbilities {
            tools: true,
            vision: true,
        },
        environment: &BTreeMap::new(),
        seat: ToolScope::Main,
    })
}

fn sources() -> PromptSources {
    let file = |name: &str, text: &str| InstructionFile {
        name: name.into(),
        text: text.into(),
    };
    PromptSources {
        rules: vec!["Never speak of the competition.".into()],
        environment: Environment {
            date: "2026-11-03".into(),
            cwd: "~/shop".into(),
            platform: "Linux x86_64".into(),
        },
        instructions: vec![
            file("~/AGENTS.md", "Use metric units.\n"),
            file("~/shop/AGENTS.md", "Prices are in euro."),
        ],
        memory: vec!["The user is called Lin.".into()],
        skills: vec![SkillLine {
            name: "invoice".into(),
            description: "Writes\n  invoices.".into(),
        }],
    }
}

fn todo() -> TodoList {
    let item = |id: &str, text: &str, status| TodoItem {
        id: id.into(),
        text: text.into(),
        status,
    };
    TodoList {
        revision: 3,
        items: vec![
            item("1", "Look around", TodoStatus::Done),
            item("2", "Count the stock", TodoStatus::InProgress),
            item("3", "Write the report", TodoStatus::Pending),
        ],
    }
}

/// Compares with a golden file; `UPDATE_GOLDEN=1` updates it.
#[track_caller]
fn check_golden(name: &str, golden: &str, actual: &str) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let path = format!("{}/src/prompt/golden/{name}", env!("CARGO_MANIFEST_DIR"));
        return std::fs::write(path, actual).unwrap();
    }
    assert_eq!(actual, golden, "set UPDATE_GOLDEN=1 if the change is meant");
}

#[test]
fn all_layers_stand_in_their_order() {
    let prompt = Prompt::new("You keep the stock of a shop.", &sources(), &tools(&[]));
    let system = prompt.system(&todo());
    let whole = format!("{}\n-----\n{}\n", system.stable, system.volatile);
    check_golden("full.txt", include_str!("golden/full.txt"), &whole);
}

#[test]
fn what_is_not_there_leaves_no_trace() {
    let prompt = Prompt::new("", &PromptSources::default(), &ResolvedTools::default());
    let system = prompt.system(&TodoList::default());
    check_golden("bare.txt", include_str!("golden/bare.txt"), &system.stable);
    assert_eq!(system.volatile, "");
}

#[test]
fn the_stable_part_does_not_move_with_date_and_list() {
    let before = Prompt::new("x", &sources(), &tools(&[])).system(&todo());
    let mut later = sources();
    later.environment.date = "2026-11-04".into();
    let after = Prompt::new("x", &later, &tools(&[])).system(&TodoList::default());
    assert_eq!(before.stable, after.stable);
    assert_ne!(before.volatile, after.volatile);
    assert_eq!(after.volatile, "Today is 2026-11-04.");
}

#[test]
fn a_finished_list_is_shown_as_finished() {
    let mut list = todo();
    list.items.truncate(1);
    let prompt = Prompt::new("x", &PromptSources::default(), &ResolvedTools::default());
    assert_eq!(
        prompt.system(&list).volatile,
        "The to-do list has no open items."
    );
}

#[test]
fn guidance_is_only_for_tools_that_are_there() {
    let text = |disabled: &[&str]| {
        let prompt = Prompt::new("x", &PromptSources::default(), &tools(disabled));
        prompt.system(&TodoList::default()).stable
    };
    assert!(text(&[]).contains("`clarify`"));
    assert!(!text(&["clarify"]).contains("`clarify`"));
    assert!(!text(&["*"]).contains("# Tools"));
}

#[test]
fn what_exceeds_a_budget_is_named() {
    let mut sources = sources();
    sources.skills = (0..100)
        .map(|n| SkillLine {
            name: format!("skill{n}"),
            description: "long ".repeat(60),
        })
        .collect();
    sources.memory = vec!["m".repeat(9_000), "short".into()];
    sources.instructions[0].text = "u".repeat(30_000);
    sources.instructions[1].text = "v".repeat(30_000);
    let system_prompt = "水".repeat(70_000);
    let layers = Prompt::new(&system_prompt, &sources, &tools(&[])).preview(&todo());
    for layer in &layers {
        assert!(
            layer.chars() <= layer.budget + 300,
            "{:?}: {}",
            layer.name,
            layer.chars()
        );
    }
    let omitted = |name| {
        &layers
            .iter()
            .find(|layer| layer.name == name)
            .unwrap()
            .omitted
    };
    assert_eq!(omitted(LayerName::Identity), &["the last 6000 characters"]);
    assert_eq!(omitted(LayerName::Memory).len(), 1);
    assert!(omitted(LayerName::Skills).contains(&"skill99".to_owned()));
    assert_eq!(
        omitted(LayerName::Instructions)[0],
        "~/shop/AGENTS.md: the last 6000 characters"
    );
    assert_eq!(omitted(LayerName::Rules), &Vec::<String>::new());
}
