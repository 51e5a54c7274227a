use crate::call_in;
use crate::gate::Yard;
use netaclaw_protocol::SandboxConfig;
use netaclaw_tools::contract::{Subject, check, context};
use netaclaw_tools::spawn::Spawner;
use netaclaw_tools::{Bash, Ending, ToolContext, ToolOutput, ToolUpdate, Updates, Workspace};
use serde_json::{Value, json};
use std::fs;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

fn surroundings(yard: &Yard) -> ToolContext {
    let workspace = Workspace::new(yard.workspace.path(), &[]).unwrap();
    let workspace = workspace.hiding(yard.gate.hidden().clone());
    let scratch = yard.gate.scratch("a session").dir().to_owned();
    ToolContext {
        workspace: Arc::new(workspace.with_root(scratch)),
        spawner: Spawner {
            gate: yard.gate.clone(),
            sandbox: SandboxConfig::default(),
            session: Arc::from("a session"),
        },
        ..context(yard.workspace.path())
    }
}

async fn bash(yard: &Yard, args: Value) -> ToolOutput {
    let executed = call_in(surroundings(yard), "bash", args).await;
    assert_eq!(executed.ending, Ending::Finished, "{executed:?}");
    executed.output
}

#[tokio::test]
async fn bash_keeps_the_contract() {
    let yard = Yard::new();
    check(|| Subject {
        tool: Arc::new(Bash),
        context: surroundings(&yard),
        examples: vec![
            json!({"command": "echo hello"}),
            json!({"command": "pwd", "cwd": "."}),
        ],
    })
    .await;
}

#[tokio::test]
async fn output_errors_and_exit_code_come_in_order() {
    let yard = Yard::new();
    fs::create_dir(yard.workspace.path().join("sub")).unwrap();
    let output = bash(
        &yard,
        json!({"command": "echo one; echo 二 >&2; echo three; exit 3"}),
    )
    .await;
    assert_eq!(output.joined_text(), "one\n二\nthree\n[Exit code 3.]");
    assert!(output.is_error);
    let details = output.details.unwrap();
    assert_eq!(details["exitCode"], 3);
    assert_eq!(details["truncated"], false);
    assert_eq!(details["sandbox"]["network"], false);
    assert!(details["sandbox"]["landlock"].is_number(), "{details}");

    let output = bash(&yard, json!({"command": "basename $PWD", "cwd": "sub"})).await;
    assert_eq!(output.joined_text(), "sub\n");
    let output = bash(&yard, json!({"command": "true"})).await;
    assert_eq!(output.joined_text(), "(no output)");
    assert!(!output.is_error);
    let output = bash(&yard, json!({"command": "kill -9 $$"})).await;
    assert_eq!(output.joined_text(), "[Killed by signal 9.]");
}

#[tokio::test]
async fn a_directory_outside_is_refused() {
    let yard = Yard::new();
    for cwd in ["..", "/etc", "no-such"] {
        let output = bash(&yard, json!({"command": "echo ran", "cwd": cwd})).await;
        assert!(
            output.is_error && !output.joined_text().contains("ran\n"),
            "{output:?}"
        );
    }
}

#[tokio::test]
async fn output_is_shown_while_the_command_runs() {
    let yard = Yard::new();
    let gate = yard.workspace.path().join("gate");
    let (tx, mut rx) = mpsc::unbounded_channel();
    let context = ToolContext {
        updates: Updates::new(move |update| {
            if let ToolUpdate::Output(text) = update {
                tx.send(text).unwrap();
            }
        }),
        ..surroundings(&yard)
    };
    let command = "mkfifo gate; echo ready; read word < gate; echo $word";
    let running = tokio::spawn(call_in(context, "bash", json!({"command": command})));
    assert_eq!(rx.recv().await.as_deref(), Some("ready\n"));
    tokio::task::spawn_blocking(move || fs::write(gate, "go on\n").unwrap())
        .await
        .unwrap();
    let output = running.await.unwrap().output;
    assert_eq!(output.joined_text(), "ready\ngo on\n");
    assert_eq!(rx.recv().await.as_deref(), Some("go on\n"));
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_ended_with_what_it_said() {
    let yard = Yard::new();
    let command = "echo begun; trap '' TERM; sleep 1000";
    let output = bash(&yard, json!({"command": command, "timeout": 1})).await;
    let text = output.joined_text();
    assert!(
        text.starts_with("begun\n[Killed after a timeout of 1 s"),
        "{text}"
    );
    assert_eq!(output.details.unwrap()["timedOut"], true);
}

#[tokio::test]
async fn a_stopped_call_ends_at_once_and_its_tree_soon_after() {
    let yard = Yard::new();
    let (tx, mut rx) = mpsc::unbounded_channel();
    let context = ToolContext {
        updates: Updates::new(move |update| {
            if let ToolUpdate::Output(text) = update {
                tx.send(text).unwrap();
            }
        }),
        ..surroundings(&yard)
    };
    let stop = context.cancel.clone();
    // The lock shows whether any process of the tree is left: the kernel releases it with the last.
    let command =
        "exec 9>lock; flock 9; echo held; setsid bash -c \"trap '' TERM; sleep 1000\"; wait";
    let running = tokio::spawn(call_in(context, "bash", json!({"command": command})));
    assert_eq!(rx.recv().await.as_deref(), Some("held\n"));
    stop.cancel();
    let executed = running.await.unwrap();
    assert_eq!(executed.ending, Ending::Cancelled);
    assert!(
        executed.output.joined_text().starts_with("held\n"),
        "{executed:?}"
    );
    let lock = fs::File::open(yard.workspace.path().join("lock")).unwrap();
    let free = tokio::task::spawn_blocking(move || lock.lock());
    let free = tokio::time::timeout(Duration::from_secs(5), free).await;
    free.expect("the tree is gone").unwrap().unwrap();
}

#[tokio::test]
async fn a_flood_costs_no_memory_and_can_be_read_on() {
    let yard = Yard::new();
    let before = peak_memory_kib();
    let command = "yes 'a line of a flood' | head -c 1G; echo; echo the end";
    let output = bash(&yard, json!({"command": command})).await;
    let grown = peak_memory_kib() - before;
    assert!(grown < 64 << 10, "{grown} KiB more");
    let text = output.joined_text();
    assert!(text.len() <= 32 << 10, "{}", text.len());
    assert!(text.starts_with("a line of a flood\n") && text.ends_with("the end\n"));
    let details = output.details.unwrap();
    assert_eq!(details["truncated"], true);
    assert_eq!(details["outputBytes"], (1u64 << 30) + 9);

    let command = "for i in $(seq 20000); do echo line $i; done";
    let text = bash(&yard, json!({"command": command})).await.joined_text();
    let file = text.split('`').nth(1).expect("the file is named");
    let rest = call_in(
        surroundings(&yard),
        "read",
        json!({"path": file, "offset": 9000, "limit": 1}),
    );
    let rest = rest.await.output.joined_text();
    assert!(rest.contains("line 9000\n"), "{rest}");
}

/// The most memory this process ever had.
fn peak_memory_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn outputs_and_temporary_files_belong_to_one_session() {
    let yard = Yard::new();
    let long =
        json!({"command": "head -c 200000 /dev/zero | tr '\\0' x; echo private > $TMPDIR/note"});
    let output = bash(&yard, long).await.joined_text();
    let kept = output.split('`').nth(1).expect("a path").to_owned();
    let scratch = yard.gate.scratch("a session");
    let note = scratch.temp().join("note").display().to_string();
    let all = scratch.dir().parent().unwrap().display().to_string();
    let own = call_in(surroundings(&yard), "read", json!({"path": note})).await;
    assert!(own.output.joined_text().contains("private"));

    let other = || {
        let workspace = Workspace::new(yard.workspace.path(), &[]).unwrap();
        let workspace = workspace.hiding(yard.gate.hidden().clone());
        let scratch = yard.gate.scratch("another").dir().to_owned();
        let mut context = surroundings(&yard);
        context.workspace = Arc::new(workspace.with_root(scratch));
        context.spawner.session = Arc::from("another");
        context
    };
    for (tool, args) in [
        ("read", json!({"path": kept})),
        ("read", json!({"path": note})),
        ("ls", json!({"path": all})),
        ("grep", json!({"pattern": ".", "path": all})),
        ("write", json!({"path": note, "content": "changed"})),
        ("bash", json!({"command": format!("cat {kept}")})),
        ("bash", json!({"command": format!("cat {note}")})),
        ("bash", json!({"command": format!("echo changed > {note}")})),
        ("bash", json!({"command": "cat $TMPDIR/note"})),
    ] {
        let executed = call_in(other(), tool, args.clone()).await;
        let text = executed.output.joined_text();
        assert!(executed.output.is_error, "{tool} {args}: {text}");
        assert!(
            !text.contains("private") && !text.contains("xxxx"),
            "{text}"
        );
    }
    assert_eq!(fs::read_to_string(&note).unwrap(), "private\n");
}
