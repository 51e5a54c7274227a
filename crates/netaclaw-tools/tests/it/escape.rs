//! No file tool can leave the workspace.

use crate::call;
use netaclaw_tools::contract::context;
use netaclaw_tools::{Hidden, ToolOutput, Workspace};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

const SECRET: &str = "TOP-SECRET";

/// `outer/ws` is the workspace and `outer/secret` none of its business.
struct World {
    outer: TempDir,
}

impl World {
    fn new() -> Self {
        let outer = tempfile::tempdir().unwrap();
        for dir in ["ws/inner", "secret"] {
            fs::create_dir_all(outer.path().join(dir)).unwrap();
        }
        fs::write(outer.path().join("secret/key"), SECRET).unwrap();
        // Names reveal something as well.
        fs::write(outer.path().join("secret").join(SECRET), "").unwrap();
        fs::write(outer.path().join("ws/inner/key"), "inside").unwrap();
        Self { outer }
    }

    fn ws(&self) -> PathBuf {
        self.outer.path().join("ws")
    }

    fn outside(&self, path: &str) -> String {
        let outer = fs::canonicalize(self.outer.path()).unwrap();
        outer.join(path).to_str().unwrap().to_owned()
    }

    /// Paths that lead to a directory, or a file in it, outside.
    fn ways_out(&self) -> Vec<String> {
        let link = |target: &str, name: &str| symlink(target, self.ws().join(name)).unwrap();
        link("../secret", "relative");
        link(&self.outside("secret"), "absolute");
        link("relative", "chain");
        link("/proc/self/root", "proc");
        let secret = self.outside("secret");
        vec![
            "../secret".to_owned(),
            "inner/../../secret".to_owned(),
            secret.clone(),
            self.outside("ws/../secret"),
            format!("/proc/self/root{secret}"),
            format!("/proc/self/cwd/../../../../../../../..{secret}"),
            "relative".to_owned(),
            "absolute".to_owned(),
            "chain".to_owned(),
            "inner/../relative".to_owned(),
            format!("proc{secret}"),
        ]
    }

    async fn call(&self, tool: &str, args: Value) -> ToolOutput {
        call(&self.ws(), tool, args).await.output
    }

    #[track_caller]
    fn check_untouched(&self) {
        let secret = self.outer.path().join("secret");
        assert_eq!(fs::read_to_string(secret.join("key")).unwrap(), SECRET);
        assert_eq!(fs::read_dir(secret).unwrap().count(), 2);
    }
}

/// Every tool with a path in it.
fn calls(dir: &str, file: &str) -> Vec<(&'static str, Value)> {
    let edits = json!([{"old_text": SECRET, "new_text": "x"}]);
    vec![
        ("read", json!({"path": file})),
        ("ls", json!({"path": dir})),
        ("find", json!({"pattern": "*", "path": dir})),
        ("grep", json!({"pattern": ".", "path": dir})),
        ("grep", json!({"pattern": ".", "path": file})),
        ("write", json!({"path": file, "content": "x"})),
        (
            "write",
            json!({"path": format!("{dir}/new"), "content": "x"}),
        ),
        (
            "write",
            json!({"path": format!("{dir}/new/deep"), "content": "x"}),
        ),
        ("edit", json!({"path": file, "edits": edits})),
    ]
}

#[tokio::test]
async fn no_path_leads_out() {
    let world = World::new();
    for dir in world.ways_out() {
        for (tool, args) in calls(&dir, &format!("{dir}/key")) {
            let output = world.call(tool, args.clone()).await;
            let text = output.joined_text();
            assert!(output.is_error, "{tool} {args}: {text}");
            assert!(!text.contains(SECRET), "{tool} {args}: {text}");
            assert!(
                text.contains("outside of the workspace"),
                "{tool} {args}: {text}"
            );
        }
    }
    world.check_untouched();
}

#[tokio::test]
async fn a_walk_does_not_follow_links() {
    let world = World::new();
    world.ways_out();
    let output = world.call("grep", json!({"pattern": "."})).await;
    assert_eq!(output.joined_text(), "inner/key\n1:inside\n");
    let output = world.call("find", json!({"pattern": "key"})).await;
    assert_eq!(output.joined_text(), "inner/key\n");
}

/// A home as a workspace, with keys and the server's data in it.
struct Home {
    dir: TempDir,
    hidden: Hidden,
}

impl Home {
    const HIDDEN: [&str; 3] = ["data", ".ssh", ".config/tool/keys"];

    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for place in Self::HIDDEN {
            fs::create_dir_all(dir.path().join(place)).unwrap();
            fs::write(dir.path().join(place).join("key"), SECRET).unwrap();
        }
        fs::write(dir.path().join(".netrc"), SECRET).unwrap();
        fs::write(dir.path().join("mine"), "mine").unwrap();
        let names = Self::HIDDEN.into_iter().chain([".netrc", ".pgpass"]);
        let hidden = Hidden::new(names.map(|name| dir.path().join(name)));
        Self { dir, hidden }
    }

    async fn call(&self, tool: &str, args: Value) -> ToolOutput {
        let mut context = context(self.dir.path());
        let workspace = Workspace::new(self.dir.path(), &[]).unwrap();
        context.workspace = workspace.hiding(self.hidden.clone()).into();
        crate::call_in(context, tool, args).await.output
    }
}

#[tokio::test]
async fn what_is_hidden_stays_closed_although_the_workspace_contains_it() {
    let home = Home::new();
    let at = |name: &str| home.dir.path().join(name);
    symlink(".ssh", at("link")).unwrap();
    symlink(at("data"), at("absolute")).unwrap();
    symlink(".netrc", at("renamed")).unwrap();
    fs::create_dir(at("sub")).unwrap();
    let absolute = at(".ssh").to_str().unwrap().to_owned();
    let dirs = Home::HIDDEN.map(str::to_owned).into_iter();
    let more = ["link", "absolute", "sub/../.ssh", "./data", &absolute].map(str::to_owned);
    for dir in dirs.chain(more) {
        for (tool, args) in calls(&dir, &format!("{dir}/key")) {
            let output = home.call(tool, args.clone()).await;
            let text = output.joined_text();
            assert!(output.is_error, "{tool} {args}: {text}");
            // An absolute link to what does not exist yet cannot be resolved, wherever it leads.
            let why = ["hidden from tools", "outside of the workspace"];
            assert!(
                why.iter().any(|why| text.contains(why)),
                "{tool} {args}: {text}"
            );
        }
    }
    for file in [".netrc", "renamed", ".pgpass"] {
        let written = home
            .call("write", json!({"path": file, "content": "x"}))
            .await;
        assert!(written.is_error, "{file}: {}", written.joined_text());
        let read = home.call("read", json!({"path": file})).await;
        assert!(read.is_error, "{file}: {}", read.joined_text());
    }
    assert!(!at(".pgpass").exists());
    for (tool, args, expected) in [
        ("grep", json!({"pattern": "."}), "mine\n1:mine\n"),
        ("find", json!({"pattern": "m*"}), "mine\n"),
    ] {
        let output = home.call(tool, args).await;
        assert_eq!(output.joined_text(), expected);
    }
    assert_eq!(fs::read_to_string(at("data/key")).unwrap(), SECRET);
    assert_eq!(fs::read_dir(at(".ssh")).unwrap().count(), 1);
}

#[tokio::test]
async fn what_others_execute_is_read_but_not_written() {
    let home = Home::new();
    let at = |name: &str| home.dir.path().join(name);
    fs::create_dir_all(at(".git/hooks")).unwrap();
    fs::write(at(".git/config"), "[core]\n").unwrap();
    symlink(".git/hooks", at("hooks")).unwrap();
    let edits = json!([{"old_text": "[core]", "new_text": "x"}]);
    for (tool, args) in [
        (
            "write",
            json!({"path": ".git/hooks/pre-commit", "content": "x"}),
        ),
        ("write", json!({"path": "hooks/pre-commit", "content": "x"})),
        ("write", json!({"path": "sub/.git/config", "content": "x"})),
        (
            "write",
            json!({"path": ".vscode/tasks.json", "content": "x"}),
        ),
        ("write", json!({"path": ".envrc", "content": "x"})),
        ("edit", json!({"path": ".git/config", "edits": edits})),
    ] {
        let output = home.call(tool, args.clone()).await;
        let text = output.joined_text();
        assert!(
            output.is_error && text.contains("Tools cannot write"),
            "{args}: {text}"
        );
    }
    assert_eq!(fs::read_dir(at(".git/hooks")).unwrap().count(), 0);
    assert!(!at("sub").exists() && !at(".vscode").exists());
    let read = home.call("read", json!({"path": ".git/config"})).await;
    assert!(read.joined_text().contains("[core]"));
}

/// A directory that becomes a link, and back, while tools look at it and write into it.
#[test]
fn what_is_swapped_during_a_call_does_not_lead_out() {
    let world = World::new();
    let (ws, secret) = (world.ws(), world.outside("secret"));
    // Enough around it that a walk takes its time.
    for n in 0..50 {
        fs::create_dir(ws.join(format!("d{n}"))).unwrap();
        fs::write(ws.join(format!("d{n}/f")), "x").unwrap();
    }
    fs::create_dir(ws.join("swapped")).unwrap();
    fs::write(ws.join("swapped/key"), "inside").unwrap();
    let done = AtomicBool::new(false);
    let swaps = || {
        while !done.load(Ordering::Relaxed) {
            swap(&ws, &secret);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(swaps);
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build().unwrap().block_on(async {
            let mut seen_inside = 0;
            for round in 0.. {
                for (tool, args) in swapped_calls() {
                    let output = world.call(tool, args.clone()).await;
                    let text = output.joined_text();
                    assert!(!text.contains(SECRET), "{tool} {args}: {text}");
                    seen_inside += usize::from(text.contains("inside"));
                }
                if round >= 100 && seen_inside >= 20 {
                    break;
                }
            }
        });
        done.store(true, Ordering::Relaxed);
    });
    world.check_untouched();
}

fn swapped_calls() -> Vec<(&'static str, Value)> {
    let edits = json!([{"old_text": "inside", "new_text": "inside!"}]);
    vec![
        ("grep", json!({"pattern": "."})),
        ("grep", json!({"pattern": ".", "path": "swapped"})),
        ("read", json!({"path": "swapped/key"})),
        ("write", json!({"path": "swapped/key", "content": "inside"})),
        ("edit", json!({"path": "swapped/key", "edits": edits})),
        ("find", json!({"pattern": "*", "path": "swapped"})),
        ("ls", json!({"path": "swapped"})),
    ]
}

/// The directory moves away, a link takes its name for a moment, and it comes back.
fn swap(ws: &Path, secret: &str) {
    let (place, aside) = (ws.join("swapped"), ws.join("aside"));
    fs::rename(&place, &aside).unwrap();
    until_done(&place, || symlink(secret, &place));
    std::thread::yield_now();
    fs::remove_file(&place).unwrap();
    until_done(&place, || fs::rename(&aside, &place));
    std::thread::yield_now();
}

/// A write creates the directories it lacks; one that it has created has to go.
fn until_done(place: &Path, act: impl Fn() -> std::io::Result<()>) {
    while act().is_err() {
        drop(fs::remove_dir_all(place));
    }
}
