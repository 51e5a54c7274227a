//! Skills on the real server: what people see while one works, after a reload, and in its log.

use crate::served::{Server, World};
use netaclaw_testkit::fake_model::Reply;
use netaclaw_testkit::socket::Client;
use serde_json::{Value, json};
use std::fs;

/// Reports as many steps as its input says, prints a few lines in between, and waits for a file
/// where its input says so.
const COUNTER: &str = r#"
import json, os, sys, time
given = json.load(sys.stdin)
name, count = given["name"], given["count"]
def step(**event):
    sys.stderr.write(json.dumps({"type": "process_event", **event}) + "\n")
for number in range(1, count + 1):
    step(stage="count", message=f"{name} {number}", current=number, total=count,
         note=os.environ.get("SKILL_TEST_KEY", ""), password="in-a-payload-Marker")
    sys.stderr.flush()
    if given.get("pauseAt") == number:
        while not os.path.exists(os.path.join(os.environ["NETACLAW_WORKSPACE"], "go-on")):
            time.sleep(0.01)
step(message="token=in-a-message-Marker", detail="Authorization: Bearer in-a-detail-Marker")
print(json.dumps({"ok": True, "name": name, "count": count}))
"#;
const SKILL: &str = "---\nname: counter\ndescription: Counts.\nmetadata:\n  entry: main.py\n  \
                     env: [SKILL_TEST_KEY]\n  input:\n    type: object\n    properties:\n      \
                     count: { type: integer }\n    required: [count]\n---\nCount to the number.\n";

async fn world() -> World {
    let mut world = World::new().await;
    world
        .workspace
        .set("SKILL_TEST_KEY", "in-the-environment-Marker");
    // In the data directory, where it is trusted with a variable.
    let trusted = "home/.netaclaw/skills/counter";
    world
        .workspace
        .write(&format!("{trusted}/main.py"), COUNTER);
    world.workspace.write(&format!("{trusted}/SKILL.md"), SKILL);
    world
}

fn count(reply: Reply, id: &str, name: &str, input: Value) -> Reply {
    let mut input = input;
    input["name"] = json!(name);
    let args = json!({"name": "counter", "input": input});
    reply.and_tool_call(id, "execute_skill", &args.to_string())
}

fn steps(client: &Client, call: &str) -> Vec<Value> {
    let events = client.events.iter();
    let steps = events.filter(|event| {
        event["type"] == "tool_process_event" && event["data"]["toolCallId"] == call
    });
    steps.map(|event| event["data"].clone()).collect()
}

async fn completed(client: &mut Client, call: &str) -> Value {
    let mine = |data: &Value| data["toolCallId"] == call;
    client.wait("tool_call_completed", mine).await["data"].clone()
}

async fn log(server: &Server, session: &str, call: &str, page: u32, size: u32) -> Value {
    let asked = format!(
        "session/process_log?sessionId={session}&operationId=tool-{call}&page={page}&size={size}"
    );
    let (status, log) = server.http("GET", &asked, None).await;
    assert_eq!(status, 200, "{log}");
    log
}

#[tokio::test(flavor = "multi_thread")]
async fn long_work_shows_where_it_is_live_after_a_reload_and_in_its_log() {
    let world = world().await;
    let script = world.model.script();
    script.push(count(
        Reply::default(),
        "c1",
        "one",
        json!({"count": 4, "pauseAt": 2}),
    ));
    script.push(Reply::text("Counted."));
    let server = world.serve().await;
    let (id, mut client) = server.session("Count to four.").await;
    let second = |data: &Value| data["message"] == "one 2";
    let seen = client.wait("tool_process_event", second).await["data"].clone();
    assert_eq!(
        (
            &seen["operationId"],
            &seen["toolName"],
            &seen["percent"],
            &seen["targetType"]
        ),
        (
            &json!("tool-c1"),
            &json!("execute_skill"),
            &json!(50.0),
            &json!("skill")
        )
    );
    assert!(
        client
            .events
            .iter()
            .any(|event| event["type"] == "skill_start")
    );

    // A page that is opened now shows the same.
    let mut late = server.client().await;
    let opened = late.call("session_open", json!({"sessionId": id})).await;
    let open = &opened["snapshot"]["tools"][0];
    assert_eq!(open["latestProcessEvent"]["message"], "one 2");
    assert_eq!(open["processEvents"].as_array().unwrap().len(), 3);
    // And a client that reconnects with an older state receives the steps again.
    let (epoch, seq) = (&opened["epoch"], &opened["seq"]);
    let mut back = server.client().await;
    let known = json!({"sessionId": id, "epoch": epoch, "lastSeq": seq});
    assert_eq!(back.call("session_open", known).await["mode"], "live");
    back.wait("tool_process_event", second).await;

    world.workspace.write("project/go-on", "");
    let result = completed(&mut client, "c1").await;
    client.wait("done", |_| true).await;
    let details = &result["details"];
    let kept = details["processEvents"].as_array().unwrap();
    let told: Vec<(u64, &str, &str)> = kept
        .iter()
        .map(|event| {
            let text = |name: &str| event[name].as_str().unwrap();
            (
                event["sequence"].as_u64().unwrap(),
                text("status"),
                text("message"),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (1, "started", "counter"),
            (2, "running", "one 1"),
            (3, "running", "one 2"),
            (4, "running", "one 3"),
            (5, "running", "one 4"),
            (6, "running", "token=[redacted]"),
            (7, "completed", "Done."),
        ]
    );
    // The last one about the work; that it completed is the status of the call.
    assert_eq!(details["latestProcessEvent"], kept[5]);
    let reference = json!({
        "kind": "runtime_process_log", "sessionId": id, "operationId": "tool-c1", "toolCallId": "c1"
    });
    assert_eq!(details["processLogRef"], reference);

    // Also with the answer, for clients that load the session.
    let opened = late.call("session_open", json!({"sessionId": id})).await;
    let entries = opened["snapshot"]["entries"].as_array().unwrap();
    let answer = entries
        .iter()
        .find(|entry| entry["metadata"].is_object())
        .unwrap();
    let execution = &answer["metadata"]["toolExecutions"][0];
    assert_eq!(answer["message"]["role"], "assistant");
    assert_eq!(execution["processEvents"], details["processEvents"]);

    let first = log(&server, &id, "c1", 1, 5).await;
    let second = log(&server, &id, "c1", 2, 5).await;
    assert_eq!(
        (&first["total"], first["items"].as_array().unwrap().len()),
        (&json!(7), 5)
    );
    let all = [
        first["items"].as_array().unwrap().clone(),
        second["items"].as_array().unwrap().clone(),
    ];
    assert_eq!(Value::from(all.concat()), details["processEvents"]);

    // No secret anywhere, and nothing of all this for the model.
    let asked = world.model.script().last_request().body.to_string();
    assert!(
        !asked.contains("processEvents") && !asked.contains("one 2"),
        "{asked}"
    );
    let everything = [
        client.events.iter().map(Value::to_string).collect(),
        asked,
        stored(&world),
    ];
    assert!(!everything.concat().contains("-Marker"), "a secret passed");
    let shown: String = client.events.iter().map(Value::to_string).collect();
    let place = world
        .workspace
        .path("project")
        .to_string_lossy()
        .into_owned();
    assert!(!shown.contains(&place), "a path passed");
    server.kill().await;
}

/// Everything that the server has written about sessions.
fn stored(world: &World) -> String {
    let mut texts = String::new();
    let mut dirs = vec![
        world.workspace.path("home/.netaclaw/sessions"),
        world.workspace.path("home/.netaclaw/process-logs"),
    ];
    while let Some(dir) = dirs.pop() {
        for item in fs::read_dir(&dir).unwrap().flatten() {
            match item.path().is_dir() {
                true => dirs.push(item.path()),
                false => texts.push_str(&String::from_utf8_lossy(&fs::read(item.path()).unwrap())),
            }
        }
    }
    assert!(
        texts.contains("processEvents") && texts.contains("one 2"),
        "it was looked at"
    );
    texts
}

/// The steps without what differs between two runs: their times, and their owners.
fn comparable(details: &Value) -> Vec<Value> {
    let events = details["processEvents"].as_array().unwrap().iter();
    let plain = events.map(|event| {
        let mut event = event.clone();
        for field in ["timestamp", "operationId"] {
            event.as_object_mut().unwrap().remove(field);
        }
        event
    });
    plain.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_calls_at_once_are_each_as_if_alone() {
    let world = world().await;
    let server = world.serve().await;
    let mut solo = Vec::new();
    for number in 0..8 {
        let script = world.model.script();
        script.push(count(
            Reply::default(),
            "c",
            &format!("n{number}"),
            json!({"count": 30}),
        ));
        script.push(Reply::text("Done."));
        let (_, mut client) = server.session("Count.").await;
        solo.push(comparable(&completed(&mut client, "c").await["details"]));
        client.wait("done", |_| true).await;
    }
    let all = (0..8).fold(Reply::default(), |reply, number| {
        count(
            reply,
            &format!("c{number}"),
            &format!("n{number}"),
            json!({"count": 30}),
        )
    });
    world.model.script().push(all);
    world.model.script().push(Reply::text("Done."));
    let (_, mut client) = server.session("Count, all of you.").await;
    client.wait("done", |_| true).await;
    for (number, solo) in solo.iter().enumerate() {
        let id = format!("c{number}");
        let mut events = client.events.iter();
        let done = events.find(|event| {
            event["type"] == "tool_call_completed" && event["data"]["toolCallId"] == id.as_str()
        });
        assert_eq!(&comparable(&done.unwrap()["data"]["details"]), solo);
        for step in steps(&client, &id) {
            let message = step["message"].as_str().unwrap();
            let mine = message.starts_with(&format!("n{number} "));
            let common = ["counter", "token=[redacted]", "Done."].contains(&message);
            assert!(mine || common, "{step}");
        }
    }
    server.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_flood_every_step_is_counted_and_few_are_shown() {
    const COUNT: u64 = 100_000;
    let world = world().await;
    let script = world.model.script();
    script.push(count(
        Reply::default(),
        "c1",
        "n",
        json!({ "count": COUNT }),
    ));
    script.push(Reply::text("Done."));
    let server = world.serve().await;
    let (id, mut client) = server.session("Count far.").await;
    let details = completed(&mut client, "c1").await["details"].clone();
    client.wait("done", |_| true).await;
    let total = COUNT + 3;
    assert_eq!(details["processEventCount"], total);
    assert_eq!(details["processEventsDropped"], Value::Null);
    let sequences = |events: &[Value]| -> Vec<u64> {
        let numbers = events
            .iter()
            .map(|event| event["sequence"].as_u64().unwrap());
        numbers.collect()
    };
    let kept = sequences(details["processEvents"].as_array().unwrap());
    let expected: Vec<u64> = (1..=10).chain(total - 39..=total).collect();
    assert_eq!(kept, expected);
    let shown = sequences(&steps(&client, "c1"));
    assert!(
        shown.is_sorted() && shown.last() == Some(&total),
        "{shown:?}"
    );
    assert!(shown.len() < 5_000, "{}", shown.len());
    let last = log(&server, &id, "c1", 101, 1000).await;
    assert_eq!(last["total"], total);
    let expected: Vec<u64> = (COUNT + 1..=total).collect();
    assert_eq!(sequences(last["items"].as_array().unwrap()), expected);
    server.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_the_skill_with_one_last_step() {
    let world = world().await;
    let script = world.model.script();
    script.push(count(
        Reply::default(),
        "c1",
        "one",
        json!({"count": 2, "pauseAt": 1}),
    ));
    let server = world.serve().await;
    let (id, mut client) = server.session("Count.").await;
    client
        .wait("tool_process_event", |data| data["message"] == "one 1")
        .await;
    client.call("stop", json!({"sessionId": id})).await;
    let details = completed(&mut client, "c1").await["details"].clone();
    client
        .wait("done", |data| data["outcome"] == "stopped")
        .await;
    let kept = details["processEvents"].as_array().unwrap();
    let ends = ["completed", "failed", "cancelled"];
    let ends = kept
        .iter()
        .filter(|event| ends.contains(&event["status"].as_str().unwrap()));
    assert_eq!(ends.collect::<Vec<_>>(), [kept.last().unwrap()]);
    assert_eq!(kept.last().unwrap()["status"], "cancelled");
    server.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_can_name_a_skill_and_its_input() {
    let world = world().await;
    let server = world.serve().await;
    // With an input the program runs before any model is asked.
    world.model.script().push(Reply::text("Seen."));
    let (_, mut client) = server
        .session("/skill counter {\"name\": \"x\", \"count\": 1}")
        .await;
    client
        .wait("done", |data| data["outcome"] == "completed")
        .await;
    let asked = world.model.script().last_request().body;
    let messages = asked["messages"].as_array().unwrap();
    let result = messages.iter().find(|one| one["role"] == "tool").unwrap();
    assert!(
        result["content"].to_string().contains("\\\"count\\\": 1"),
        "{result}"
    );
    // With words the model gets the instructions.
    world.model.script().push(Reply::text("I would count."));
    let (_, mut client) = server.session("/skill counter up to three, please").await;
    client
        .wait("done", |data| data["outcome"] == "completed")
        .await;
    let asked = world.model.script().last_request().body["messages"].to_string();
    assert!(asked.contains("Count to the number."), "{asked}");
    assert!(asked.contains("up to three, please"), "{asked}");
    // And the user reads what is missing.
    let (_, mut client) = server.session("/skill counting").await;
    let done = client.wait("done", |data| data["outcome"] == "error").await;
    let words = done["data"]["trouble"]["words"]["en"].as_str().unwrap();
    assert!(
        words.starts_with("There is no skill `counting`. Available skills: counter,"),
        "{words}"
    );
    server.kill().await;
}

/// Says which model that sees it was given, if any.
const SEES: &str = r#"
import json, os
given = {name: os.environ.get("NETACLAW_VISION_" + name) for name in ("URL", "MODEL", "KEY")}
print(json.dumps({"ok": True, "given": given}))
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_program_gets_a_model_that_sees_only_where_it_may_use_the_network() {
    let world = world().await;
    let dir = "home/.netaclaw/skills/sees";
    world.workspace.write(&format!("{dir}/main.py"), SEES);
    let names = ["URL", "MODEL", "KEY"].map(|name| format!("NETACLAW_VISION_{name}"));
    let text = format!(
        "---\nname: sees\ndescription: Sees.\nmetadata:\n  entry: main.py\n  env: [{}]\n---\n",
        names.join(", ")
    );
    world.workspace.write(&format!("{dir}/SKILL.md"), text);
    let url = world.model.openai_url();
    let mut workspace = world.workspace;
    workspace.set("SEEING_KEY", "key-of-a-channel-Marker");
    workspace.out(&format!(
        "channel add seeing --supplier compatible --base-url {url} --model gpt-4o --api-key-env \
         SEEING_KEY --default"
    ));
    let world = World { workspace, ..world };
    let run = async |world: &World| {
        let server = world.serve().await;
        world.model.script().push(Reply::text("Seen."));
        let (_, mut client) = server.session("/skill sees {}").await;
        let done = client.wait("tool_call_completed", |_| true).await["data"].clone();
        client.wait("done", |_| true).await;
        server.kill().await;
        done["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let locked_in = run(&world).await;
    assert!(locked_in.contains("\"URL\": null"), "{locked_in}");
    world
        .workspace
        .out("agent edit default --set sandbox.network=true");
    let free = run(&world).await;
    assert!(free.contains(&format!("{url}/chat/completions")), "{free}");
    assert!(
        free.contains("gpt-4o") && free.contains("\"KEY\": \"[redacted]\""),
        "{free}"
    );
    assert!(!free.contains("-Marker"), "{free}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_list_skills_show_one_and_try_one() {
    let world = world().await;
    let server = world.serve().await;
    let (_, list) = server.http("GET", "skills", None).await;
    let of = |name: &str| {
        let mut skills = list["items"].as_array().unwrap().iter();
        skills.find(|skill| skill["name"] == name).unwrap().clone()
    };
    assert_eq!(
        (&of("counter")["state"], &of("counter")["source"]),
        (&json!("ready"), &json!("data"))
    );
    assert_eq!(of("folder-audit")["source"], "shipped");
    let (_, detail) = server.http("GET", "skills/counter", None).await;
    assert_eq!(detail["body"], "Count to the number.");
    assert_eq!(detail["files"], json!(["main.py"]));
    assert_eq!(server.http("GET", "skills/none", None).await.0, 404);

    // The arguments are named, and a list has no names.
    for input in [json!([]), json!(["tried", 2]), json!("tried"), json!(2)] {
        let body = Some(json!({ "input": input }));
        let (status, refused) = server.http("POST", "skills/counter/try", body).await;
        assert_eq!(status, 400, "{input}: {refused}");
    }

    world.model.script().push(Reply::text("Seen."));
    let input = json!({"input": {"name": "tried", "count": 2}});
    let (status, tried) = server.http("POST", "skills/counter/try", Some(input)).await;
    assert_eq!(status, 201, "{tried}");
    let mut client = server.client().await;
    let id = tried["sessionId"].as_str().unwrap();
    let opened = client.call("session_open", json!({"sessionId": id})).await;
    if opened["snapshot"]["run"]["status"] != "idle" {
        client.wait("done", |_| true).await;
    }
    let call = tried["toolCallId"].as_str().unwrap();
    assert_eq!(log(&server, id, call, 1, 10).await["total"], 5);

    // Ids cannot lead anywhere else.
    for asked in [
        format!("session/process_log?sessionId={id}&operationId=../../admin"),
        format!("session/process_log?sessionId=../{id}&operationId=tool-{call}"),
        format!("session/process_log?sessionId={id}&operationId=tool-none"),
    ] {
        assert_eq!(server.http("GET", &asked, None).await.0, 404, "{asked}");
    }
    server.kill().await;
}

#[test]
fn a_new_skill_can_be_checked_and_run_at_once() {
    let mut workspace = crate::support::Workspace::new();
    workspace.set("PATH", "/usr/local/bin:/usr/bin:/bin");
    let made = workspace.run("skill new greet --dir .");
    assert_eq!(made.code, 0, "{}", made.err);
    let checked = workspace.run("skill check greet");
    assert!(
        checked.out.starts_with("greet: no problems found\n"),
        "{}",
        checked.out
    );
    let ran = workspace.run("skill run ./greet --input {\"names\":[\"Ada\"]}");
    assert!(
        ran.out.contains("\"Hello, Ada!\""),
        "{} {}",
        ran.out,
        ran.err
    );
    assert!(
        ran.err.contains("100% [greet] Greeting Ada 1/1"),
        "{}",
        ran.err
    );
    let refused = workspace.run("skill run ./greet --input {}");
    assert!(
        refused.code != 0 && refused.out.contains("The input does not match"),
        "{}",
        refused.out
    );
    let listed = workspace.run("--lang zh skill list");
    assert!(listed.out.contains("folder-audit"), "{}", listed.out);
    for bad in [
        "skill new Greet --dir .",
        "skill new greet --dir .",
        "skill check .",
        "skill run greet --input 5",
    ] {
        let ran = workspace.run(bad);
        assert!(
            ran.code != 0 && ran.err.lines().count() == 1,
            "{bad}: {} {}",
            ran.out,
            ran.err
        );
    }
}
