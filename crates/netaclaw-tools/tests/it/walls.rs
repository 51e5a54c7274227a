//! Attempts to get out of the sandbox, by real programs behind a real guard: as root and as another
//! account, with and without namespaces. The table of results is a golden file.

use crate::gate::{Yard, finish, shell};
use netaclaw_protocol::MissingSandbox;
use netaclaw_tools::Hidden;
use netaclaw_tools::spawn::{
    Confinement, GateSettings, Isolation, Launcher, Limits, Namespaces, Scratch, SpawnGate,
    sandbox_abilities,
};
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fmt::Write as _;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// An account that owns nothing.
const NOBODY: u32 = 65534;
const GOLDEN: &str = include_str!("walls.txt");
const SHM_KEY: &str = "1315271777";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Account {
    Root,
    Other,
}

/// What a program tries. It gets out if its exit code is 0, or if `left` is found outside.
struct Probe {
    name: &'static str,
    script: String,
}

/// A machine with secrets, and a session whose programs look for them.
struct World {
    place: TempDir,
    gate: SpawnGate,
    scratch: Arc<Scratch>,
    other: Arc<Scratch>,
    listener: std::net::TcpListener,
    service: std::os::unix::net::UnixListener,
    terminal: (OwnedFd, String),
    disk: Option<Disk>,
}

#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn skipped(why: &str) {
    eprintln!("skipped: {why}");
}

/// A block device in `/dev` that the tests themselves can open.
struct Disk {
    /// Made for the test, where the machine shows none.
    made: Option<PathBuf>,
}

impl Disk {
    fn find() -> Option<Self> {
        let entries = fs::read_dir("/dev").unwrap().flatten();
        let mut blocks =
            entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_block_device()));
        if blocks.any(|block| fs::File::open(block.path()).is_ok()) {
            return Some(Self { made: None });
        }
        let path = PathBuf::from(format!("/dev/netaclaw-probe-{}", std::process::id()));
        let (kind, mode) = (FileType::BlockDevice, Mode::from_raw_mode(0o600));
        mknodat(CWD, &path, kind, mode, makedev(7, 0)).ok()?;
        let opened = fs::File::open(&path).is_ok();
        let disk = Self { made: Some(path) };
        opened.then_some(disk)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if let Some(made) = &self.made {
            fs::remove_file(made).unwrap_or_default();
        }
    }
}

impl World {
    fn new(account: Account, namespaces: Namespaces) -> Self {
        // Not below the directory that programs see their own instead of.
        let place = tempfile::tempdir_in("/var/tmp").unwrap();
        let at = |name: &str| place.path().join(name);
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
        for dir in ["ws/.git/hooks", "data/sessions", "home/.ssh", "elsewhere"] {
            fs::create_dir_all(at(dir)).unwrap();
        }
        for file in [
            "data/secret.key",
            "data/sessions/session-of-another-user",
            "elsewhere/config.toml",
            "elsewhere/open",
            "home/.ssh/id",
            "home/.npmrc",
            "home/.pgpass",
            "ws/.git/HEAD",
            "ws/.git/config",
        ] {
            fs::write(at(file), "TOP-SECRET\n").unwrap();
        }
        let hidden = ["data", "elsewhere/config.toml", "home/.ssh", "home/.npmrc"];
        let hidden = hidden.into_iter().chain(["home/.pgpass"]).map(at);
        let gate = SpawnGate::new(GateSettings {
            launcher: Launcher::Program(launcher(account, place.path())),
            hidden: Hidden::new(hidden),
            abilities: sandbox_abilities(),
            namespaces,
            environment: std::env::vars_os().collect(),
        });
        let [scratch, other] = ["own", "of another user"].map(|session| gate.scratch(session));
        for scratch in [&scratch, &other] {
            scratch.make().unwrap();
        }
        fs::write(other.temp().join("note"), "TOP-SECRET\n").unwrap();
        let service = std::os::unix::net::UnixListener::bind(at("service")).unwrap();
        let terminal = terminal();
        let disk = Disk::find();
        if disk.is_none() {
            skipped("there is no raw block device to open, and none can be made");
        }
        if account == Account::Other {
            give_away(place.path());
            give_away(scratch.dir().parent().unwrap());
            chown(&terminal.1, Some(NOBODY), None).unwrap();
        }
        Self {
            gate,
            scratch,
            other,
            listener: std::net::TcpListener::bind("127.0.0.1:0").unwrap(),
            service,
            terminal,
            disk,
            place,
        }
    }

    fn path(&self, name: &str) -> String {
        self.place.path().join(name).display().to_string()
    }

    fn probes(&self) -> Vec<Probe> {
        let own = std::process::id();
        let [data, home, elsewhere] = ["data", "home", "elsewhere"].map(|name| self.path(name));
        let other = self.other.temp().display().to_string();
        let all = self.other.dir().parent().unwrap().display().to_string();
        let names = self.other.dir().file_name().unwrap().to_str().unwrap();
        let terminal = &self.terminal.1;
        let port = self.listener.local_addr().unwrap().port();
        let service = self.path("service");
        let probe = |name, script: String| Probe { name, script };
        let python = |code: &str| format!("/usr/bin/python3 -c \"{code}\"");
        let libc = "import ctypes, sys; c = ctypes.CDLL(None, use_errno=True); ";
        vec![
            probe("read the data directory", format!("cat {data}/secret.key")),
            probe(
                "list the names of sessions",
                format!("ls {data}/sessions | grep session-of"),
            ),
            probe(
                "read the configuration file",
                format!("grep SECRET {elsewhere}/config.toml"),
            ),
            probe("read .ssh", format!("cat {home}/.ssh/id")),
            probe(
                "read .npmrc and .pgpass",
                format!("grep -h SECRET {home}/.npmrc || grep -h SECRET {home}/.pgpass"),
            ),
            probe(
                "replace a hidden file",
                format!("echo TOP-SECRET > {home}/.npmrc"),
            ),
            probe(
                "read the scratch of another session",
                format!("cat {other}/note"),
            ),
            probe(
                "list the scratch of all sessions",
                format!("ls {all} | grep {names}"),
            ),
            probe("open a raw block device", self.block_devices()),
            probe(
                "make a device",
                "mknod disk b 7 0 || mknod disk c 1 3".to_owned(),
            ),
            probe("read another terminal", format!("exec 3< {terminal}")),
            probe("write to another terminal", format!("echo x > {terminal}")),
            probe(
                "write .git/hooks",
                "echo x > .git/hooks/pre-commit".to_owned(),
            ),
            probe(
                "write .git/config",
                "echo x > .git/config || { echo x > .git/c && mv .git/c .git/config; }".to_owned(),
            ),
            probe(
                "replace .git",
                "mv .git aside && mkdir -p .git/hooks && echo x > .git/hooks/pre-commit".to_owned(),
            ),
            probe(
                "use /dev/shm of the machine",
                format!("echo x > /dev/shm/probe-{own}"),
            ),
            probe(
                "fill shared memory",
                "head -c 300M /dev/zero > /dev/shm/fill".to_owned(),
            ),
            probe(
                "share System V memory",
                python(&format!(
                    "{libc}sys.exit(c.shmget({SHM_KEY}, 4096, 0o1666) < 0)"
                )),
            ),
            probe(
                "write to /tmp of the machine",
                format!("echo x > /tmp/probe-{own}"),
            ),
            probe(
                "have the server ended first for memory",
                "[ $(cat /proc/self/oom_score_adj) -lt 500 ] || echo 0 > /proc/$$/oom_score_adj"
                    .to_owned(),
            ),
            probe(
                "fill the disk with temporary files",
                "while :; do head -c 1M /dev/zero >> $TMPDIR/$RANDOM || exit 1; done".to_owned(),
            ),
            probe(
                "write elsewhere",
                format!("echo x > {elsewhere}/open || touch {elsewhere}/new"),
            ),
            probe(
                "reach the network",
                format!("exec 3<>/dev/tcp/127.0.0.1/{port}"),
            ),
            probe(
                "call a service by its socket",
                python(&format!(
                    "import socket; socket.socket(socket.AF_UNIX).connect('{service}')"
                )),
            ),
            probe(
                "trace the server",
                python(&format!("{libc}sys.exit(c.ptrace(16, {own}, 0, 0) < 0)")),
            ),
            probe("signal the server", format!("kill -0 {own}")),
            probe(
                "read the server's environment and memory",
                format!("head -c1 /proc/{own}/environ | grep -q . || exec 3< /proc/{own}/mem"),
            ),
            probe(
                "make namespaces",
                "unshare --user true || unshare --mount true || unshare --net true".to_owned(),
            ),
            probe(
                "mount",
                "mkdir -p m && mount -t tmpfs none m && umount m || umount /tmp || umount .git/hooks"
                    .to_owned(),
            ),
            probe(
                "see command lines of other programs",
                format!("head -c1 /proc/{own}/cmdline | grep -q ."),
            ),
            probe(
                "read other files of the machine",
                format!("cat {elsewhere}/open"),
            ),
        ]
    }

    /// Those of this machine, opened like any file.
    fn block_devices(&self) -> String {
        let entries = fs::read_dir("/dev").unwrap().flatten();
        let blocks =
            entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_block_device()));
        let tries = blocks.map(|entry| format!("(exec 3< {}) || ", entry.path().display()));
        let tries: String = tries.collect();
        format!("{tries}false")
    }

    async fn held(&self, probe: &Probe) -> bool {
        let workspace = self.place.path().join("ws");
        let confinement = Confinement {
            writable: vec![workspace.clone()],
            readable: Vec::new(),
            network: false,
            missing: MissingSandbox::Refuse,
            limits: Limits {
                scratch_bytes: 8 << 20,
                ..Limits::default()
            },
        };
        let program = shell(&probe.script, &workspace);
        let started = self
            .gate
            .start(program, confinement, Arc::clone(&self.scratch));
        let (end, output) = finish(started.await.unwrap()).await;
        assert!(
            !output.contains("TOP-SECRET") || end.code == Some(0),
            "{}: {output}",
            probe.name
        );
        end.code != Some(0) || self.is_private(probe.name)
    }

    /// Whether what a program reached was its own.
    fn is_private(&self, probe: &str) -> bool {
        let own = std::process::id();
        let left = match probe {
            "use /dev/shm of the machine" => {
                return !Path::new(&format!("/dev/shm/probe-{own}")).exists();
            }
            "write to /tmp of the machine" => PathBuf::from(format!("/tmp/probe-{own}")),
            "share System V memory" => {
                let all = fs::read_to_string("/proc/sysvipc/shm").unwrap();
                return !all.contains(SHM_KEY);
            }
            _ => return false,
        };
        let is_private = !left.exists();
        drop(fs::remove_file(left));
        is_private
    }
}

/// Another account gets the guard by a program that changes to it.
fn launcher(account: Account, place: &Path) -> PathBuf {
    let guard = Path::new(env!("CARGO_BIN_EXE_netaclaw-guard"));
    if account == Account::Root {
        return guard.to_owned();
    }
    let copy = place.join("guard");
    fs::copy(guard, &copy).unwrap();
    let script = place.join("as-nobody");
    let text = format!(
        "#!/bin/sh\nexec setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups {} \"$@\"\n",
        copy.display()
    );
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    script
}

fn give_away(dir: &Path) {
    chown(dir, Some(NOBODY), Some(NOBODY)).unwrap();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => give_away(&entry.path()),
            false => chown(entry.path(), Some(NOBODY), Some(NOBODY)).unwrap(),
        }
    }
}

fn terminal() -> (OwnedFd, String) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    (master, name.into_string().unwrap())
}

/// A probe that fails without a sandbox as well would show nothing. Those that fill disk or memory
/// are left out, one that the kernel refuses to processes that are not parents, and that of a raw
/// block device if the machine has none.
#[tokio::test]
async fn every_way_out_is_open_without_a_sandbox() {
    const NOT_TRIED: [&str; 3] = [
        "fill shared memory",
        "fill the disk with temporary files",
        "trace the server",
    ];
    if !rustix::process::geteuid().is_root() {
        skipped("the probes are tried without a sandbox only as root");
        return;
    }
    let world = World::new(Account::Root, Namespaces::Off);
    let dir = world.place.path().join("ws");
    for probe in world.probes() {
        let needs_disk = probe.name == "open a raw block device";
        if NOT_TRIED.contains(&probe.name) || (needs_disk && world.disk.is_none()) {
            continue;
        }
        let script = format!("export TMPDIR={}; {}", dir.display(), probe.script);
        assert!(run_outside(&script, &dir), "{}", probe.name);
        drop(fs::rename(world.path("ws/aside"), world.path("ws/.git")));
    }
    let own = std::process::id();
    for left in [format!("/dev/shm/probe-{own}"), format!("/tmp/probe-{own}")] {
        fs::remove_file(left).unwrap();
    }
    run_outside(&format!("ipcrm -M {SHM_KEY}"), &dir);
}

#[tokio::test]
async fn no_way_out_is_open_that_is_not_in_the_table() {
    if !rustix::process::geteuid().is_root() {
        skipped("only root can start programs under another account");
        return;
    }
    let settings = [
        ("root, namespaces", Account::Root, Namespaces::Auto),
        ("root", Account::Root, Namespaces::Off),
        ("user, namespaces", Account::Other, Namespaces::Auto),
        ("user", Account::Other, Namespaces::Off),
    ];
    let mut rows: Vec<(&str, Vec<&str>)> = Vec::new();
    for (_, account, namespaces) in settings {
        let world = World::new(account, namespaces);
        for (at, probe) in world.probes().iter().enumerate() {
            let result = match world.held(probe).await {
                true => "held",
                false => "open",
            };
            match rows.get_mut(at) {
                Some((_, results)) => results.push(result),
                None => rows.push((probe.name, vec![result])),
            }
            // What one probe changed must not help the next.
            drop(fs::rename(world.path("ws/aside"), world.path("ws/.git")));
        }
        if namespaces == Namespaces::Auto {
            let isolation = world.gate.isolation();
            assert_eq!(isolation, Some(Isolation::Namespaces), "{account:?}");
        }
        assert!(world.service.set_nonblocking(true).is_ok() && world.service.accept().is_err());
    }
    let mut table = format!("{:<44}", "probe");
    for (name, ..) in settings {
        write!(table, "{name:<18}").unwrap();
    }
    for (name, results) in rows {
        write!(table, "\n{name:<44}").unwrap();
        for result in results {
            write!(table, "{result:<18}").unwrap();
        }
    }
    let table: String = table
        .lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect();
    assert_eq!(table, GOLDEN, "the table is now:\n{table}");
}

/// Each of them ends before it is counted, so what they leave has to be counted.
#[tokio::test]
async fn short_programs_do_not_leave_more_and_more() {
    const MOST: u64 = 4 << 20;
    let yard = Yard::new();
    let limits = Limits {
        scratch_bytes: MOST,
        ..Limits::default()
    };
    for (place, name) in [
        ("$TMPDIR", "one"),
        ("$TMPDIR/..", "two"),
        ("$TMPDIR", "three"),
    ] {
        let script = format!("mkdir -p {place}/d; head -c 6M /dev/zero > {place}/d/{name}");
        let (end, output) = yard.run_with(&script, limits).await;
        assert_eq!(end.over_quota, Some(MOST), "{name}: {output}");
        let left = bytes_in(yard.gate.scratch("a session").dir());
        assert!(left <= MOST, "{name}: {left} bytes are left");
    }
    let (end, output) = yard.run_with("echo x > $TMPDIR/small", limits).await;
    assert_eq!((end.code, end.over_quota), (Some(0), None), "{output}");
    // One that could not be looked at when it ended.
    let scratch = yard.gate.scratch("a session");
    fs::write(scratch.temp().join("left"), vec![1; 6 << 20]).unwrap();
    let (end, output) = yard.run_with("test ! -e $TMPDIR/left", limits).await;
    assert_eq!((end.code, end.over_quota), (Some(0), None), "{output}");
}

fn bytes_in(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).unwrap().flatten();
    let sizes = entries.map(|entry| match entry.file_type().unwrap().is_dir() {
        true => bytes_in(&entry.path()),
        false => entry.metadata().unwrap().len(),
    });
    sizes.sum()
}

const GIT: &str = "set -e; export HOME=$PWD GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
echo two > two; git add two; git commit -qm two
git checkout -qb topic; echo three > three; git add three; git commit -qm three
git checkout -q main; echo four > four; git add four; git commit -qm four
git merge -q --no-edit topic; git tag v1; git stash list; git branch -d topic; git gc -q
git log --oneline | wc -l";

#[tokio::test]
async fn git_works_although_its_hooks_and_settings_are_read_only() {
    for namespaces in [Namespaces::Auto, Namespaces::Off] {
        let yard = Yard::with(namespaces);
        // As users do, outside of the sandbox.
        let made = "git init -qb main . && echo one > one && git add . && git -c user.name=a -c user.email=a@b commit -qm one";
        assert!(run_outside(made, yard.workspace.path()));
        let config = fs::read(yard.workspace.path().join(".git/config")).unwrap();
        let (end, output) = yard.run(GIT).await;
        assert_eq!(end.code, Some(0), "{namespaces:?}: {output}");
        assert_eq!(output.lines().last().unwrap().trim(), "5", "{output}");
        if yard.gate.isolation() == Some(Isolation::Namespaces) {
            let (end, output) = yard.run("git config core.fsmonitor /bin/sh").await;
            assert_ne!(end.code, Some(0), "{output}");
            let now = fs::read(yard.workspace.path().join(".git/config")).unwrap();
            assert_eq!(now, config);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a person outside of the sandbox")]
fn run_outside(script: &str, dir: &Path) -> bool {
    let mut command = std::process::Command::new("bash");
    let status = command.args(["-c", script]).current_dir(dir).status();
    status.unwrap().success()
}
