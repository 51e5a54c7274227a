//! Programs of skills: however one behaves, there is one typed end, and nothing is left running.

use crate::call_in;
use crate::gate::Yard;
use netaclaw_protocol::{ContentBlock, SandboxConfig};
use netaclaw_tools::contract::{Subject, check, context};
use netaclaw_tools::process::EndStatus;
use netaclaw_tools::skills::SkillDirs;
use netaclaw_tools::spawn::Spawner;
use netaclaw_tools::{
    ExecuteSkill, Executed, ListSkills, ProcessUpdate, ReadSkill, ToolContext, ToolUpdate, Updates,
    Workspace,
};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// A yard with skills in a hidden place, as the data directory is one.
struct School {
    yard: Yard,
    updates: Arc<Mutex<Vec<ToolUpdate>>>,
}

impl School {
    fn new() -> Self {
        Self {
            yard: Yard::new(),
            updates: Arc::default(),
        }
    }

    fn with(self, name: &str, program: &str) -> Self {
        self.with_metadata(name, program, "")
    }

    fn with_metadata(self, name: &str, program: &str, more: &str) -> Self {
        let dir = self.skills().join(name);
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("main.py"), program).unwrap();
        let text = format!(
            "---\nname: {name}\ndescription: For a test.\nmetadata:\n  entry: main.py\n{more}---\n\
             Instructions of {name}.\n"
        );
        fs::write(dir.join("SKILL.md"), text).unwrap();
        self
    }

    fn skills(&self) -> std::path::PathBuf {
        self.yard.outside.path().join("keys/skills")
    }

    fn context(&self) -> ToolContext {
        let keep = self.updates.clone();
        ToolContext {
            workspace: Arc::new(Workspace::new(self.yard.workspace.path(), &[]).unwrap()),
            spawner: Spawner {
                gate: self.yard.gate.clone(),
                sandbox: SandboxConfig::default(),
                session: Arc::from("a session"),
            },
            updates: Updates::new(move |update| keep.lock().unwrap().push(update)),
            skills: SkillDirs {
                data: Some(self.skills()),
                environment: Arc::new(
                    std::env::vars_os()
                        .chain([("MY_API_KEY".into(), "Marker-of-a-key".into())])
                        .collect(),
                ),
                ..SkillDirs::default()
            },
            ..context(self.yard.workspace.path())
        }
    }

    async fn execute(&self, name: &str, input: Value) -> Executed {
        let call = call_in(
            self.context(),
            "execute_skill",
            json!({"name": name, "input": input}),
        );
        tokio::time::timeout(PATIENCE, call).await.unwrap()
    }

    fn steps(&self) -> Vec<ProcessUpdate> {
        let updates = self.updates.lock().unwrap();
        let steps = updates.iter().filter_map(|update| match update {
            ToolUpdate::Process(step) => Some(step.clone()),
            ToolUpdate::Output(_) => None,
        });
        steps.collect()
    }

    fn output(&self) -> String {
        let updates = self.updates.lock().unwrap();
        let texts = updates.iter().filter_map(|update| match update {
            ToolUpdate::Output(text) => Some(text.as_str()),
            ToolUpdate::Process(_) => None,
        });
        texts.collect()
    }
}

#[track_caller]
fn ended(executed: &Executed, status: EndStatus, ending: &str, text: &str) {
    let output = &executed.output;
    let end = output.process_end.as_ref().expect("how it ended");
    let details = output.details.as_ref().expect("details");
    assert_eq!(
        (end.status, details["skillEnding"].as_str()),
        (status, Some(ending)),
        "{executed:?}"
    );
    assert!(output.joined_text().contains(text), "{executed:?}");
    assert_eq!(output.is_error, status != EndStatus::Completed);
}

/// No process of ours has this in its command line.
fn no_process_with(mark: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    !processes
        .filter_map(|process| fs::read(process.path().join("cmdline")).ok())
        .any(|line| String::from_utf8_lossy(&line).contains(mark))
}

#[tokio::test]
async fn skill_tools_keep_the_contract() {
    let school = School::new().with("one", "print('{}')");
    check(|| Subject {
        tool: Arc::new(ListSkills),
        context: school.context(),
        examples: vec![json!({})],
    })
    .await;
    check(|| Subject {
        tool: Arc::new(ReadSkill),
        context: school.context(),
        examples: vec![
            json!({"name": "one"}),
            json!({"name": "one", "file": "main.py"}),
        ],
    })
    .await;
    check(|| Subject {
        tool: Arc::new(ExecuteSkill),
        context: school.context(),
        examples: vec![json!({"name": "one", "input": {}})],
    })
    .await;
}

#[tokio::test]
async fn steps_result_and_pictures_come_from_where_they_belong() {
    let program = r#"
import base64, json, os, sys
given = json.load(sys.stdin)
def step(**event):
    print(json.dumps({"type": "process_event", **event}), file=sys.stderr)
step(stage="scan", status="started", message="Scanning")
print("a plain line", file=sys.stderr)
step(stage="scan", message="Scanning", batch=1, totalBatches=2, files=given["files"])
png = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
path = os.path.join(os.environ["NETACLAW_OUTPUT_DIR"], "a.png")
open(path, "wb").write(png)
inside = os.path.relpath(path, os.environ["NETACLAW_WORKSPACE"])
print(json.dumps({"ok": True, "cwd": os.listdir("."), "images": [{"path": inside}, "/etc/passwd"]}))
"#;
    let school = School::new().with("one", program);
    let executed = school.execute("one", json!({"files": 7})).await;
    ended(&executed, EndStatus::Completed, "completed", "\"cwd\": []");
    let images = executed.output.content.iter();
    let images = images.filter(|block| matches!(block, ContentBlock::Image { .. }));
    assert_eq!(images.count(), 1);
    let steps = school.steps();
    let said: Vec<_> = steps
        .iter()
        .map(|step| (step.stage.as_deref(), step.message.as_str()))
        .collect();
    assert_eq!(
        said,
        [
            (None, "one"),
            (Some("scan"), "Scanning"),
            (Some("scan"), "Scanning")
        ]
    );
    assert_eq!((steps[2].current, steps[2].total), (Some(1), Some(2)));
    assert_eq!(steps[2].payload["files"], 7);
    assert_eq!(school.output(), "a plain line\n");
}

#[tokio::test]
async fn an_input_that_does_not_fit_starts_nothing() {
    let schema = "  input:\n    type: object\n    properties:\n      path: { type: string }\n    required: [path]\n";
    let school = School::new().with_metadata("one", "open('/proc/self/x')", schema);
    let executed = school.execute("one", json!({"path": 5})).await;
    let text = executed.output.joined_text();
    assert!(
        text.starts_with("The input does not match the schema of the skill `one`"),
        "{text}"
    );
    assert!(executed.output.is_error && school.steps().is_empty());
    let unknown = school.execute("two", json!({})).await;
    assert_eq!(
        unknown.output.joined_text(),
        "There is no skill `two`. Available skills: one."
    );
}

#[tokio::test]
async fn floods_on_both_pipes_are_drained_and_bounded() {
    let program = r#"
import sys, threading
def flood(stream):
    for _ in range(160):
        stream.write("x" * 65535 + "\n")
    stream.flush()
other = threading.Thread(target=flood, args=(sys.stderr,))
other.start()
flood(sys.stdout)
other.join()
"#;
    let school = School::new().with("one", program);
    let executed = school.execute("one", json!({})).await;
    ended(
        &executed,
        EndStatus::Failed,
        "bad_result",
        "The result is longer than 4 MiB.",
    );
    assert!(executed.output.joined_text().len() < 40_000);
}

#[tokio::test]
async fn single_bytes_split_characters_and_garbage_are_read_as_they_are_meant() {
    let program = r#"
import os
text = '{"type":"process_event","message":"检查 🚗"}\n'.encode()
for byte in text + b"\xff\xfe broken\n" + b"{not json process_event}\n":
    os.write(2, bytes([byte]))
for byte in '{"ok": true, "水": "é"}'.encode():
    os.write(1, bytes([byte]))
"#;
    let school = School::new().with("one", program);
    let executed = school.execute("one", json!({})).await;
    ended(
        &executed,
        EndStatus::Completed,
        "completed",
        "\"水\": \"é\"",
    );
    assert_eq!(school.steps()[1].message, "检查 🚗");
    assert_eq!(
        school.output(),
        "\u{fffd}\u{fffd} broken\n{not json process_event}\n"
    );
}

#[tokio::test]
async fn a_line_of_megabytes_is_cut_and_counted() {
    let program = r#"
import sys
sys.stderr.write('{"type":"process_event","message":"' + "x" * 5_000_000 + '"}\n')
sys.stderr.write('{"type":"process_event","message":"after"}\n')
print("{}")
"#;
    let school = School::new().with("one", program);
    let executed = school.execute("one", json!({})).await;
    ended(&executed, EndStatus::Completed, "completed", "{}");
    let details = executed.output.details.unwrap();
    assert!(
        details["logBytesDropped"].as_u64().unwrap() > 4_000_000,
        "{details}"
    );
    assert_eq!(school.steps().last().unwrap().message, "after");
}

#[tokio::test]
async fn every_bad_end_has_a_name() {
    let school = School::new()
        .with("silent", "pass")
        .with("prose", "print('all is well')")
        .with("code", "import sys; print('why', file=sys.stderr); print('{\"error\": \"no disk\"}'); sys.exit(3)")
        .with("signal", "import os; os.kill(os.getpid(), 9)")
        .with("refuses", "print('{\"ok\": false, \"error\": \"nothing to do\"}')");
    for (name, ending, text) in [
        (
            "silent",
            "bad_result",
            "The program ended without writing a result.",
        ),
        ("prose", "bad_result", "The result is not valid JSON."),
        ("code", "exit_code", "exit code 3. no disk"),
        ("signal", "signal", "killed by signal 9"),
        ("refuses", "failed", "nothing to do"),
    ] {
        ended(
            &school.execute(name, json!({})).await,
            EndStatus::Failed,
            ending,
            text,
        );
    }
    let log = school.execute("code", json!({})).await.output.joined_text();
    assert!(log.contains("The last lines of its log:\nwhy\n"), "{log}");
}

#[tokio::test]
async fn what_never_ends_is_ended_with_everything_below_it() {
    let program = r#"
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(["setsid", "sh", "-c", "trap '' TERM; exec sleep 86399"])
print('{"ok": true}', flush=True)
print('{"type":"process_event","message":"hanging"}', file=sys.stderr, flush=True)
time.sleep(86400)
"#;
    let school = School::new().with_metadata("one", program, "  timeoutSeconds: 1\n");
    let executed = school.execute("one", json!({"taskId": "audit-7"})).await;
    ended(
        &executed,
        EndStatus::Failed,
        "timed_out",
        "Execution timed out after 1000 ms",
    );
    let end = executed.output.process_end.unwrap();
    assert_eq!(
        (end.stage.as_deref(), end.task_id.as_deref()),
        (Some("skill-timeout"), Some("audit-7"))
    );
    assert!(no_process_with("sleep\x0086399"));
}

#[tokio::test]
async fn a_daemon_that_is_left_behind_does_not_hold_the_call() {
    let program = r#"
import subprocess
subprocess.Popen(["sh", "-c", "exec sleep 86398"], start_new_session=True)
print('{"ok": true}')
"#;
    let school = School::new().with("one", program);
    ended(
        &school.execute("one", json!({})).await,
        EndStatus::Completed,
        "completed",
        "true",
    );
    assert!(no_process_with("sleep\x0086398"));
}

#[tokio::test]
async fn a_stop_ends_it_at_once() {
    let program = "import sys, time\nprint('{\"type\":\"process_event\",\"message\":\"here\"}', file=sys.stderr, flush=True)\ntime.sleep(86397)";
    let school = School::new().with("one", program);
    let (tx, mut rx) = tokio::sync::mpsc::unbounded_channel();
    let context = ToolContext {
        updates: Updates::new(move |update| {
            if let ToolUpdate::Process(step) = update {
                tx.send(step.message).unwrap();
            }
        }),
        ..school.context()
    };
    let cancel = context.cancel.clone();
    let call = call_in(context, "execute_skill", json!({"name": "one"}));
    let stop = async {
        while rx.recv().await.unwrap() != "here" {}
        cancel.cancel();
    };
    let both = async { tokio::join!(call, stop) };
    let (executed, ()) = tokio::time::timeout(PATIENCE, both).await.unwrap();
    assert_eq!(executed.ending, netaclaw_tools::Ending::Cancelled);
    assert!(executed.output.is_error);
}

#[tokio::test]
async fn secrets_of_the_environment_and_places_of_the_machine_stay_behind() {
    let program = r#"
import json, os, sys
key = os.environ["MY_API_KEY"]
event = {"type": "process_event", "message": f"using {key}", "detail": f"in {os.getcwd()}/x",
         "note": key, "stage": key, "password": "p", "script": os.path.abspath(__file__)}
print(json.dumps(event), file=sys.stderr)
print("log", key, os.environ["NETACLAW_WORKSPACE"] + "/a", file=sys.stderr)
print(json.dumps({"ok": True, "key": key, "other": sorted(n for n in os.environ if "SECRET" in n)}))
"#;
    let school = School::new().with_metadata("one", program, "  env: [MY_API_KEY]\n");
    let executed = school.execute("one", json!({})).await;
    ended(&executed, EndStatus::Completed, "completed", "[redacted]");
    let all = format!("{executed:?} {:?} {}", school.steps(), school.output());
    assert!(!all.contains("Marker-of-a-key"), "{all}");
    let place = |path: &Path| path.to_string_lossy().into_owned();
    let steps = format!("{:?} {}", school.steps(), school.output());
    assert!(
        !steps.contains(&place(school.yard.workspace.path())),
        "{steps}"
    );
    assert!(!steps.contains(&place(&school.skills())), "{steps}");
    assert!(!steps.contains("/tmp/"), "{steps}");
    assert!(
        school.output().contains("log [redacted] a\n"),
        "{}",
        school.output()
    );
}

#[tokio::test]
async fn it_writes_only_where_it_may() {
    let program = r#"
import json, os
def tried(path):
    try:
        open(path, "w").write("x")
        return True
    except OSError:
        return False
there = os.environ["NETACLAW_SKILL_DIR"]
print(json.dumps({"here": tried("x"), "workspace": tried(os.environ["NETACLAW_WORKSPACE"] + "/x"),
    "itself": tried(there + "/x"), "keys": os.access(there + "/../../secret", os.R_OK) and tried(there + "/../../secret")}))
"#;
    let school = School::new().with("one", program);
    let executed = school.execute("one", json!({})).await;
    let expected = json!({"here": true, "workspace": true, "itself": false, "keys": false});
    let told: Value = serde_json::from_str(&executed.output.joined_text()).unwrap();
    assert_eq!(told, expected);
}
