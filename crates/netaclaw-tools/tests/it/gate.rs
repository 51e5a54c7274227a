//! The spawn gate: what children can and cannot do, and that they end.

use netaclaw_protocol::MissingSandbox;
use netaclaw_tools::Hidden;
use netaclaw_tools::spawn::{
    ChildEnd, ChildOutput, Confinement, GateSettings, Launcher, Limits, Namespaces, Program,
    SandboxAbilities, SpawnError, SpawnGate, Started, sandbox_abilities,
};
use std::collections::BTreeMap;
use std::fs;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Nothing here takes this long; a test that hangs fails instead.
const PATIENCE: Duration = Duration::from_secs(60);
/// After which nothing of a stopped child may be left.
const STOP_MAX: Duration = Duration::from_secs(5);

/// A workspace, a directory outside of it that is not for temporary files, and a gate.
pub(crate) struct Yard {
    pub(crate) workspace: TempDir,
    pub(crate) outside: TempDir,
    pub(crate) gate: Arc<SpawnGate>,
}

impl Yard {
    pub(crate) fn new() -> Self {
        Self::with(Namespaces::Auto)
    }

    pub(crate) fn with(namespaces: Namespaces) -> Self {
        let outside = tempfile::tempdir_in("/var/tmp").unwrap();
        fs::create_dir(outside.path().join("keys")).unwrap();
        fs::write(outside.path().join("keys/secret"), "s3cret").unwrap();
        fs::write(outside.path().join("open"), "as it was").unwrap();
        let gate = SpawnGate::new(GateSettings {
            launcher: Launcher::Program(env!("CARGO_BIN_EXE_netaclaw-guard").into()),
            hidden: Hidden::new([outside.path().join("keys")]),
            abilities: sandbox_abilities(),
            namespaces,
            environment: std::env::vars_os()
                .chain([("MY_API_KEY".into(), "sk-marker".into())])
                .collect(),
        });
        Self {
            workspace: tempfile::tempdir().unwrap(),
            outside,
            gate: Arc::new(gate),
        }
    }

    fn confinement(&self) -> Confinement {
        Confinement {
            readable: Vec::new(),
            writable: vec![self.workspace.path().to_owned()],
            network: false,
            missing: MissingSandbox::Refuse,
            limits: Limits::default(),
        }
    }

    async fn started(
        &self,
        program: Program,
        confinement: Confinement,
    ) -> Result<Started, SpawnError> {
        let scratch = self.gate.scratch("a session");
        self.gate.start(program, confinement, scratch).await
    }

    async fn start(&self, script: &str) -> Started {
        let program = shell(script, self.workspace.path());
        self.started(program, self.confinement()).await.unwrap()
    }

    pub(crate) async fn run(&self, script: &str) -> (ChildEnd, String) {
        self.run_as(script, self.confinement()).await
    }

    pub(crate) async fn run_with(&self, script: &str, limits: Limits) -> (ChildEnd, String) {
        let confinement = Confinement {
            limits,
            ..self.confinement()
        };
        self.run_as(script, confinement).await
    }

    async fn run_as(&self, script: &str, confinement: Confinement) -> (ChildEnd, String) {
        let program = shell(script, self.workspace.path());
        finish(self.started(program, confinement).await.unwrap()).await
    }

    /// The outside is as it was, also for the server, which nothing keeps from writing there.
    fn outside_is_untouched(&self) {
        let names = |dir: &Path| {
            let mut names: Vec<_> = fs::read_dir(dir).unwrap().flatten().collect();
            names.sort_by_key(|entry| entry.file_name());
            names
                .iter()
                .map(|entry| entry.file_name().into_string().unwrap())
                .collect::<Vec<_>>()
        };
        let outside = self.outside.path();
        assert_eq!(names(outside), ["keys", "open"]);
        assert_eq!(
            fs::read_to_string(outside.join("open")).unwrap(),
            "as it was"
        );
        fs::write(outside.join("by the server"), "").unwrap();
        fs::remove_file(outside.join("by the server")).unwrap();
    }
}

pub(crate) fn shell(script: &str, cwd: &Path) -> Program {
    Program {
        program: "bash".to_owned(),
        args: vec!["-c".to_owned(), script.to_owned()],
        cwd: cwd.to_owned(),
        env: BTreeMap::new(),
        takes_input: false,
        merged: true,
    }
}

pub(crate) async fn finish(started: Started) -> (ChildEnd, String) {
    let Started {
        mut process,
        output: ChildOutput::Merged(mut output),
        ..
    } = started
    else {
        panic!("one pipe was asked for");
    };
    let mut text = Vec::new();
    let whole = async {
        output.read_to_end(&mut text).await.unwrap();
        process.wait().await
    };
    let end = tokio::time::timeout(PATIENCE, whole).await.unwrap();
    (end, String::from_utf8_lossy(&text).into_owned())
}

fn has_landlock(version: i32) -> bool {
    matches!(sandbox_abilities(), SandboxAbilities::Landlock(has) if has >= version)
}

#[tokio::test]
async fn nothing_is_written_outside_of_the_workspace() {
    assert!(
        has_landlock(1),
        "this machine cannot lock programs in, so nothing can be shown"
    );
    let yard = Yard::new();
    let outside = yard.outside.path().display().to_string();
    std::os::unix::fs::symlink(&outside, yard.workspace.path().join("link")).unwrap();
    fs::write(yard.workspace.path().join("mine"), "").unwrap();
    let depth = "../".repeat(40);
    for escape in [
        format!("echo x > {outside}/new"),
        format!("echo x >> {outside}/open"),
        format!("echo x > {depth}{outside}/new"),
        "echo x > link/new".to_owned(),
        "echo x > link/open".to_owned(),
        format!("echo x > /proc/self/root{outside}/new"),
        "echo x > /proc/self/cwd/link/new".to_owned(),
        format!("mv mine {outside}/"),
        format!("ln mine {outside}/mine"),
        format!("ln -s mine {outside}/mine"),
        format!("mv {outside}/open mine2"),
        format!("rm {outside}/open"),
        format!("mkdir {outside}/dir"),
        format!("mkfifo {outside}/pipe"),
        format!("cd {outside} && echo x > new"),
        format!("truncate -s 0 {outside}/open"),
        format!("setsid -w bash -c 'echo x > {outside}/new'"),
        format!("(trap '' TERM; echo x > {outside}/new) & wait $!"),
    ] {
        // A link that is swapped while the command runs changes nothing: the kernel looks at the
        // place, not at the name.
        let (end, output) = yard.run(&escape).await;
        assert_ne!(end.code, Some(0), "{escape}: {output}");
        yard.outside_is_untouched();
    }
    let (end, output) = yard
        .run("echo a > b && mkdir -p c/d && mv b c/d/ && cat c/d/b; mktemp")
        .await;
    assert_eq!(end.code, Some(0), "{output}");
    assert!(output.starts_with("a\n/"), "{output}");
}

#[tokio::test]
async fn what_is_hidden_cannot_be_read() {
    let yard = Yard::new();
    let keys = yard.outside.path().join("keys");
    let keys = keys.display();
    std::os::unix::fs::symlink(format!("{keys}"), yard.workspace.path().join("link")).unwrap();
    let own = std::process::id();
    for look in [
        format!("cat {keys}/secret"),
        "cat link/secret".to_owned(),
        format!("cat /proc/self/root{keys}/secret"),
        format!("cp {keys}/secret . && cat secret"),
        format!("cat /proc/{own}/environ"),
        "cat /proc/$PPID/environ".to_owned(),
        format!("cat /proc/{own}/maps"),
        format!("cat /proc/{own}/root{keys}/secret"),
    ] {
        let (end, output) = yard.run(&look).await;
        assert_ne!(end.code, Some(0), "{look}: {output}");
        assert!(!output.contains("s3cret"), "{look}: {output}");
    }
    let open = yard.outside.path().join("open");
    let (end, output) = yard.run(&format!("cat {}", open.display())).await;
    assert_eq!((end.code, output.as_str()), (Some(0), "as it was"));
}

#[tokio::test]
async fn the_environment_holds_no_secrets_and_files_of_the_server_stay_closed() {
    let yard = Yard::new();
    let (_, output) = yard.run("env").await;
    assert!(!output.contains("sk-marker"), "{output}");
    assert!(output.contains("PATH="), "{output}");

    // A file that was left open and would be inherited.
    let leaked = fs::File::open("/etc/hostname")
        .or_else(|_| fs::File::open("/etc/passwd"))
        .unwrap();
    rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).unwrap();
    let number = leaked.as_raw_fd();
    let (end, output) = yard.run(&format!("cat <&{number}")).await;
    assert_ne!(end.code, Some(0), "{output}");
}

#[tokio::test]
async fn services_of_the_machine_are_out_of_reach() {
    let yard = Yard::new();
    let name = yard.outside.path().join("service");
    let service = std::os::unix::net::UnixListener::bind(&name).unwrap();
    service.set_nonblocking(true).unwrap();
    let script = format!(
        "python3 -c \"import socket; s = socket.socket(socket.AF_UNIX); s.connect('{}')\"",
        name.display()
    );
    // Programs talk with their own children as ever.
    let pair = "import socket; a, b = socket.socketpair(); a.send(b'hi'); print(b.recv(2))";
    let pair = format!("python3 -c \"{pair}\"");
    for network in [false, true] {
        let confinement = Confinement {
            network,
            ..yard.confinement()
        };
        let (end, output) = yard.run_as(&script, confinement.clone()).await;
        assert_ne!(end.code, Some(0), "{network}: {output}");
        assert!(output.contains("PermissionError"), "{network}: {output}");
        assert!(service.accept().is_err(), "a client has connected");
        let (end, output) = yard.run_as(&pair, confinement).await;
        assert_eq!((end.code, output.as_str()), (Some(0), "b'hi'\n"));
    }
    // An agent that accepts what the kernel cannot guard gets it; where the kernel can, it is not
    // needed.
    let open = Confinement {
        network: true,
        missing: MissingSandbox::Warn,
        ..yard.confinement()
    };
    let (_, output) = yard.run_as(&script, open).await;
    let guarded = sandbox_abilities().guards_socket_names();
    assert_eq!(service.accept().is_err(), guarded, "{output}");
}

#[tokio::test]
async fn a_child_with_too_many_processes_is_ended() {
    let yard = Yard::new();
    let crowd = |tasks| Confinement {
        limits: Limits {
            tasks,
            ..Limits::default()
        },
        ..yard.confinement()
    };
    // In groups of their own, and without a parent: none of it hides a process.
    let ways = [
        "for i in $(seq 200); do sleep 1000 & done; wait",
        "for i in $(seq 200); do setsid sleep 1000 & done; wait",
        "for i in $(seq 200); do (sleep 1000 &); done; sleep 1000",
        "python3 -c \"import threading; e = threading.Event(); [threading.Thread(target=e.wait).start() for _ in range(200)]\"",
        "f() { [ $1 = 0 ] && exec sleep 1000; f $(($1 - 1)) & f $(($1 - 1)) & wait; }; f 8",
    ];
    for way in ways {
        let (end, output) = yard.run_as(way, crowd(100)).await;
        assert_eq!(end.crowded, Some(100), "{way}: {end:?} {output}");
    }
    let own = rustix::process::getpriority_process(None).unwrap();
    let (_, niceness) = yard.run("nice").await;
    assert_eq!(niceness.trim(), own.to_string(), "only the guard is urgent");
    let few = "for i in $(seq 50); do sleep 0.2 & done; wait; echo done";
    let (end, output) = yard.run_as(few, crowd(100)).await;
    assert_eq!((end.code, end.crowded), (Some(0), None), "{output}");
}

#[tokio::test]
async fn the_network_is_out_of_reach_unless_it_is_allowed() {
    let yard = Yard::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected");
    let (end, output) = yard.run(&connect).await;
    assert!(
        end.code != Some(0) && !output.contains("connected"),
        "{output}"
    );
    let udp = format!("exec 3<>/dev/udp/127.0.0.1/{port} && echo connected");
    let (end, output) = yard.run(&udp).await;
    assert!(
        end.code != Some(0) && !output.contains("connected"),
        "{output}"
    );

    let allowed = Confinement {
        network: true,
        ..yard.confinement()
    };
    let (end, output) = yard.run_as(&connect, allowed).await;
    assert_eq!((end.code, output.as_str()), (Some(0), "connected\n"));
}

#[tokio::test]
async fn the_server_cannot_be_signalled() {
    if !has_landlock(6) {
        return;
    }
    let yard = Yard::new();
    let (end, _) = yard.run(&format!("kill -0 {}", std::process::id())).await;
    assert_ne!(end.code, Some(0));
    let (end, _) = yard.run("kill -9 $PPID").await;
    assert_ne!(end.code, Some(0), "nor its guard");
    let (end, _) = yard.run("sleep 100 & kill -9 $!").await;
    assert_eq!(end.code, Some(0), "its own children are its own");
}

/// Writes its number and does not end when it is asked to.
const STUBBORN: &str =
    "trap '' TERM INT HUP; echo $BASHPID; while :; do read -t 1000 <> <(:); done";

async fn started_stubborn(yard: &Yard, how: &str) -> (Started, u32) {
    let script = how.replace(
        "STUBBORN",
        &format!("bash -c \"{}\"", STUBBORN.replace('$', "\\$")),
    );
    let mut started = yard.start(&script).await;
    let ChildOutput::Merged(output) = &mut started.output else {
        panic!("one pipe was asked for");
    };
    let mut line = Vec::new();
    let read = async {
        while !line.ends_with(b"\n") {
            line.push(output.read_u8().await.unwrap());
        }
    };
    tokio::time::timeout(PATIENCE, read).await.unwrap();
    let pid = String::from_utf8(line).unwrap().trim().parse().unwrap();
    assert!(is_alive(pid), "it runs before it is stopped");
    (started, pid)
}

fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit(')')
        .next()
        .and_then(|rest| rest.trim().chars().next());
    state.is_some_and(|state| state != 'Z' && state != 'X')
}

/// A process closes its pipes a moment before it is gone.
async fn is_gone(pid: u32) -> bool {
    let gone = async {
        while is_alive(pid) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.is_ok()
}

const WAYS: [&str; 4] = [
    "STUBBORN",
    "STUBBORN & wait",
    "setsid STUBBORN & wait",
    "(setsid setsid STUBBORN & ) ; trap '' TERM; sleep 1000",
];

#[tokio::test]
async fn a_stopped_child_takes_its_whole_tree_with_it() {
    let yard = Yard::new();
    for how in WAYS {
        let (started, pid) = started_stubborn(&yard, how).await;
        started.process.stop();
        let ended = tokio::time::timeout(STOP_MAX, finish(started)).await;
        assert!(ended.is_ok(), "{how}: it still runs");
        assert!(is_gone(pid).await, "{how}");
    }
}

#[tokio::test]
async fn a_child_that_is_dropped_ends_too() {
    let yard = Yard::new();
    for how in WAYS {
        let (started, pid) = started_stubborn(&yard, how).await;
        let ChildOutput::Merged(mut output) = started.output else {
            panic!("one pipe was asked for");
        };
        // As when the server is killed: its end of the leash closes without a message.
        drop(started.process);
        let mut rest = Vec::new();
        // Any process that is left holds the pipe open.
        let ended = tokio::time::timeout(STOP_MAX, output.read_to_end(&mut rest)).await;
        assert!(ended.is_ok(), "{how}: it still runs");
        assert!(is_gone(pid).await, "{how}");
    }
}

#[tokio::test]
async fn what_a_command_leaves_behind_ends_with_it() {
    let yard = Yard::new();
    let (end, output) = yard
        .run("sleep 1000 & echo $!; setsid nohup sleep 1000 & echo $!")
        .await;
    assert_eq!(end.code, Some(0));
    for pid in output.lines().filter_map(|line| line.parse().ok()) {
        assert!(is_gone(pid).await);
    }
}

#[tokio::test]
async fn a_killed_guard_leaves_no_process_behind() {
    let yard = Yard::new();
    let (mut started, pid) = started_stubborn(&yard, "STUBBORN").await;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let parent = |stat: &str| -> i32 {
        let rest = stat.rsplit(')').next().unwrap();
        rest.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let mut guard = parent(&stat);
    let name = |pid: i32| fs::read_to_string(format!("/proc/{pid}/comm")).unwrap();
    while !name(guard).starts_with("netaclaw-guard") {
        guard = parent(&fs::read_to_string(format!("/proc/{guard}/stat")).unwrap());
    }
    let guard = rustix::process::Pid::from_raw(guard).unwrap();
    rustix::process::kill_process(guard, rustix::process::Signal::KILL).unwrap();
    let end = tokio::time::timeout(PATIENCE, started.process.wait())
        .await
        .unwrap();
    assert_eq!((end.code, end.signal), (None, None));
    let ChildOutput::Merged(mut output) = started.output else {
        panic!("one pipe was asked for");
    };
    let mut rest = Vec::new();
    let ended = tokio::time::timeout(STOP_MAX, output.read_to_end(&mut rest)).await;
    assert!(ended.is_ok() && is_gone(pid).await, "it still runs");
}

#[tokio::test]
async fn limits_hold() {
    let yard = Yard::new();
    let limited = Confinement {
        limits: Limits {
            memory_bytes: 64 << 20,
            file_bytes: 1 << 20,
            open_files: 20,
            ..Limits::default()
        },
        ..yard.confinement()
    };
    let (_, output) = yard
        .run_as(
            "ulimit -d; ulimit -f; ulimit -n; ulimit -c",
            limited.clone(),
        )
        .await;
    assert_eq!(output, format!("{}\n1024\n20\n0\n", 64 << 10));
    let (end, _) = yard
        .run_as("head -c 2M /dev/zero > big", limited.clone())
        .await;
    assert_ne!(end.code, Some(0));
    assert_eq!(
        fs::metadata(yard.workspace.path().join("big"))
            .unwrap()
            .len(),
        1 << 20
    );
    let (end, output) = yard
        .run_as(
            "x=$(head -c 100M /dev/zero | tr '\\0' x); echo ${#x}",
            limited,
        )
        .await;
    assert!(
        end.code != Some(0) || !output.contains("104857600"),
        "{output}"
    );
}

#[tokio::test]
async fn both_pipes_are_drained_and_input_arrives() {
    let yard = Yard::new();
    let script =
        "read line; echo \"$line\" >&2; head -c 10M /dev/zero; head -c 10M /dev/zero >&2; exit 7";
    let program = Program {
        takes_input: true,
        merged: false,
        ..shell(script, yard.workspace.path())
    };
    let started = yard.started(program, yard.confinement()).await.unwrap();
    let Started {
        mut process,
        input: Some(mut input),
        output: ChildOutput::Separate {
            mut stdout,
            mut stderr,
        },
    } = started
    else {
        panic!("three pipes were asked for");
    };
    input.write_all("水\n".as_bytes()).await.unwrap();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let whole = async {
        let (a, b) = tokio::join!(stdout.read_to_end(&mut out), stderr.read_to_end(&mut err));
        (a.unwrap(), b.unwrap())
    };
    let sizes = tokio::time::timeout(PATIENCE, whole).await.unwrap();
    assert_eq!(sizes, (10 << 20, (10 << 20) + 4));
    assert!(err.starts_with("水\n".as_bytes()));
    assert_eq!(process.wait().await.code, Some(7));
}

#[tokio::test]
async fn what_cannot_start_says_why() {
    let yard = Yard::new();
    let missing = Program {
        program: "no-such-program".to_owned(),
        ..shell("", yard.workspace.path())
    };
    let error = yard.started(missing, yard.confinement()).await.unwrap_err();
    assert!(matches!(error, SpawnError::NotFound(_)), "{error}");
    let forbidden = Program {
        program: "/etc/passwd".to_owned(),
        ..shell("", yard.workspace.path())
    };
    let error = yard
        .started(forbidden, yard.confinement())
        .await
        .unwrap_err();
    assert!(matches!(error, SpawnError::NotPermitted(_)), "{error}");
    let nowhere = shell("", &PathBuf::from("/no/such/place"));
    assert!(yard.started(nowhere, yard.confinement()).await.is_err());
    let closed = SpawnGate::closed();
    let error = closed
        .start(
            shell("", yard.workspace.path()),
            yard.confinement(),
            closed.scratch(""),
        )
        .await;
    assert!(matches!(error, Err(SpawnError::Closed)));
}
