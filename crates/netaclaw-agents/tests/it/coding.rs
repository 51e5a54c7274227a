//! A coding task from the first look to the last edit, over a real repository, with a model that
//! follows a script.

use crate::world::{APIS, World};
use netaclaw_protocol::{ApprovalMode, Supplier};
use netaclaw_testkit::engine::within;
use netaclaw_testkit::fake_model::Reply;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A small project under version control, with a file that must not change.
fn repository(root: &Path) {
    let files = [
        (".gitignore", "build/\n"),
        ("AGENTS.md", "Names of functions are verbs.\n"),
        (
            "greet.py",
            "def greet(name):\n    return f\"Hello, {name}\"\n",
        ),
        (
            "app/main.py",
            "from greet import greet\r\n\r\nprint(greet(\"you\"))\r\n",
        ),
        ("build/old.py", "greet\n"),
    ];
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    #[expect(clippy::disallowed_methods, reason = "git makes the repository")]
    let made = Command::new("git")
        .args(["init", "-q"])
        .current_dir(root)
        .status();
    assert!(made.unwrap().success());
}

fn call(reply: Reply, id: &str, tool: &str, args: Value) -> Reply {
    reply.and_tool_call(id, tool, &args.to_string())
}

#[tokio::test]
async fn a_task_is_done_with_the_tools_there_are() {
    for supplier in APIS {
        let world = World::start(supplier).await;
        repository(&world.work_dir());
        world
            .change_agent(|spec| spec.approval = ApprovalMode::Never)
            .await;
        let todo = |status: &str| json!({"items": [{"text": "Rename greet", "status": status}]});
        let look = call(Reply::default(), "c1", "todo", todo("in_progress"));
        let look = call(look, "c2", "find", json!({"pattern": "*.py"}));
        let look = call(look, "c3", "grep", json!({"pattern": r"\bgreet\b"}));
        let change = call(Reply::default(), "c4", "read", json!({"path": "greet.py"}));
        let change = call(
            change,
            "c5",
            "edit",
            json!({"path": "greet.py", "edits": [
                {"old_text": "def greet(", "new_text": "def welcome("},
            ]}),
        );
        // Two edits of one file in one answer: the second sees what the first has done.
        let change = call(
            change,
            "c6",
            "edit",
            json!({"path": "app/main.py", "edits": [
                {"old_text": "from greet import greet\n\nprint(greet", "new_text": "from greet import welcome\n\nprint(welcome"},
            ]}),
        );
        let change = call(
            change,
            "c7",
            "edit",
            json!({"path": "app/main.py", "edits": [
                {"old_text": "welcome(\"you\")", "new_text": "welcome(\"everyone\")"},
            ]}),
        );
        let change = call(
            change,
            "c8",
            "write",
            json!({"path": "docs/CHANGES.md", "content": "greet is welcome now.\n"}),
        );
        let finish = call(Reply::default(), "c9", "todo", todo("done"));
        for reply in [look, change, finish, Reply::text("Renamed.")] {
            world.script().push(reply);
        }
        let (session, client) = world.session().await;
        world.chat(&session, "Rename greet to welcome.").await;
        within(client.done(1)).await;

        let read = |path: &str| fs::read_to_string(world.work_dir().join(path)).unwrap();
        assert_eq!(
            read("greet.py"),
            "def welcome(name):\n    return f\"Hello, {name}\"\n"
        );
        assert_eq!(
            read("app/main.py"),
            "from greet import welcome\r\n\r\nprint(welcome(\"everyone\"))\r\n"
        );
        assert_eq!(read("docs/CHANGES.md"), "greet is welcome now.\n");
        assert_eq!(
            read("build/old.py"),
            "greet\n",
            "what is ignored is left alone"
        );

        let results = results(&client.events());
        let text = |id: &str| {
            results[id]["content"][0]["text"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        assert_eq!(text("c2"), "app/main.py\ngreet.py\n");
        assert_eq!(
            text("c3"),
            "app/main.py\n1:from greet import greet\n3:print(greet(\"you\"))\n\ngreet.py\n1:def \
             greet(name):\n"
        );
        assert_eq!(
            results["c5"]["details"]["diff"],
            "@@ -1,2 +1,2 @@\n-def greet(name):\n+def welcome(name):\n     return f\"Hello, \
             {name}\"\n"
        );
        assert_eq!(results["c8"]["details"]["change"], "created");
        assert!(results.values().all(|result| result["isError"] == false));
        let last = world.path(&session).await.pop().unwrap();
        assert_eq!(last, "assistant: Renamed.");
        // The request holds the project's instructions, before anything else happened.
        assert!(system_text(&world, supplier).contains("Names of functions are verbs."));
    }
}

fn results(events: &[Value]) -> std::collections::BTreeMap<String, Value> {
    let completed = events
        .iter()
        .filter(|event| event["type"] == "tool_call_completed");
    completed
        .map(|event| {
            let data = event["data"].clone();
            (data["toolCallId"].as_str().unwrap().to_owned(), data)
        })
        .collect()
}

fn system_text(world: &World, supplier: Supplier) -> String {
    let body = &world.requests()[0].body;
    match supplier {
        Supplier::Anthropic => body["system"].to_string(),
        _ => body["messages"][0]["content"].to_string(),
    }
}
