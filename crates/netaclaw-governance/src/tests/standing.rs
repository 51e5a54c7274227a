//! Which calls a standing approval covers. The property at the end runs what is covered in a real
//! shell.

use super::*;
use netaclaw_protocol::{
    AgentSpec, ApprovalGrant, ApprovalScope, ApprovalWithin, ForeignKind, ForeignSource, SessionId,
    StandingApproval, ToolOverride, UserId,
};
use proptest::prelude::*;
use serde_json::Value;

fn world(change: impl FnOnce(&mut World)) -> World {
    World::new(|w| {
        w.catalogue = vec![
            tool("bash", |t| {
                t.risk = ToolRisk::Exec;
                t.category = ToolCategory::Shell;
                t.outlet = EgressTarget::Programs;
            }),
            tool("write", |t| t.risk = ToolRisk::Write),
            tool("edit", |t| t.risk = ToolRisk::Write),
            tool("web_fetch", |t| {
                t.category = ToolCategory::Web;
                t.risk = ToolRisk::Network;
                t.outlet = EgressTarget::Address {
                    argument: "url".into(),
                };
            }),
        ];
        change(w);
    })
}

fn seat() -> ApprovalSeat {
    ApprovalSeat {
        session_id: SessionId::new("s"),
        user_id: Some(UserId::new("ann")),
        agent_id: Some("coder".to_owned()),
    }
}

fn foreign() -> ForeignContent {
    ForeignContent(vec![ForeignSource {
        kind: ForeignKind::Web,
        name: "example.com".into(),
    }])
}

fn asked_in(
    tools: &ResolvedTools,
    foreign: &ForeignContent,
    name: &str,
    args: Value,
) -> PendingCall {
    let call = ProposedCall {
        tool_call_id: "c".into(),
        tool_name: name.into(),
        args,
    };
    match decide(tools, Ok(tools), foreign, call) {
        Decision::Ask(asked) => asked,
        other => panic!("{other:?}"),
    }
}

fn asked(name: &str, args: Value) -> PendingCall {
    asked_in(
        &world(|_| ()).resolve(),
        &ForeignContent::default(),
        name,
        args,
    )
}

fn bash(command: &str) -> PendingCall {
    asked("bash", json!({ "command": command }))
}

fn edit(path: &str, place: Option<&str>) -> PendingCall {
    asked("write", json!({"path": path, "content": ""})).at(place.map(str::to_owned))
}

/// A standing approval as a user grants it with this call.
fn granting(
    call: &PendingCall,
    within: ApprovalWithin,
    scope: ApprovalScope,
) -> Option<StandingApproval> {
    let request = call.request();
    let scope = granted(request, true, &ApprovalGrant { scope, within })?;
    let is_here = within == ApprovalWithin::Session;
    Some(StandingApproval {
        id: format!("{scope:?}"),
        tool_name: request.tool_name.clone(),
        tool_label: request.tool_label.clone(),
        scope,
        within,
        sample: sample(&request.args),
        user_id: UserId::new("ann"),
        agent_id: Some("coder".into()),
        session_id: is_here.then(|| SessionId::new("s")),
        granted_by: "ann".into(),
        granted_at: 0,
        tools: request.facts.tools.clone(),
    })
}

fn patterns(list: &[&str]) -> ApprovalScope {
    ApprovalScope::Commands {
        patterns: names(list),
    }
}

fn covers(standing: &[StandingApproval], call: &PendingCall) -> bool {
    covering(standing, &seat(), call.request()).is_some()
}

/// The pattern that is suggested for the first command, and whether it covers the second.
fn git_covers(command: &str) -> bool {
    let git = granting(
        &bash("git status"),
        ApprovalWithin::Session,
        patterns(&["git *"]),
    );
    covers(&[git.unwrap()], &bash(command))
}

#[test]
fn a_pattern_is_derived_from_the_command() {
    for (command, expected) in [
        ("git status", Some(vec!["git *"])),
        ("git add a && git commit -m 'x y'", Some(vec!["git *"])),
        (
            "cd web; npm test | tee log",
            Some(vec!["cd *", "npm *", "tee *"]),
        ),
        // Their arguments say what runs, so that a pattern would allow everything.
        ("bash -c ls", None),
        ("python3.12 a.py", None),
        ("sudo git status", None),
        ("find . -exec rm {} +", None),
        ("A=1 git status", None),
        ("./run.sh", None),
        ("git log > file", None),
    ] {
        let call = bash(command);
        let offers = offers(call.request(), true);
        let found = offers.iter().find_map(|offer| match &offer.scope {
            ApprovalScope::Commands { patterns } => Some(patterns.clone()),
            _ => None,
        });
        assert_eq!(found, expected.map(|list| names(&list)), "{command}");
    }
}

#[test]
fn only_commands_that_can_be_read_are_covered() {
    for command in [
        "git",
        "git status",
        "  git   log --format='%h %s' -n 3",
        "git commit -m \"Add a file\" -- src/a.rs",
        "git add . && git status || git diff; git log | git shortlog",
        "git log main..HEAD",
        "git commit -m '修复，登录'",
    ] {
        assert!(git_covers(command), "{command}");
    }
    for command in [
        "",
        " ",
        "rm -rf x",
        "gitk",
        "git status; rm x",
        "git status && rm x",
        "git status | sh",
        "git status & rm x",
        "git status &",
        "git $(rm x)",
        "git `rm x`",
        "git \"$(rm x)\"",
        "git \"`rm x`\"",
        "git $HOME",
        "git ${IFS}x",
        "git > x",
        "git < x",
        "git 2>x",
        "git >(rm x)",
        "git <<< x",
        "git status\nrm x",
        "git status\r\nrm x",
        "git\trm",
        "git \\\n status",
        "git add\\ b",
        "(git status)",
        "{ git status; }",
        "! git status",
        "X=1 git status",
        "PATH=/tmp git status",
        "git status #comment",
        "git 'unclosed",
        "git \"unclosed",
        "git \"a!b\"",
        "git *",
        "git add a*",
        "git ?",
        "git [ab]",
        "git {a,b}",
        "git ~/x",
        "git -C ../other status",
        "git add ..",
        "git --git-dir=../x status",
        "git show HEAD:../x",
        "git -C a/../../b status",
        "git -C '../x' status",
        "git -C .'.'/x status",
        "git status;;",
        "; git status",
        "git status;",
        "git status &&",
        "git status |& rm",
        // A look-alike of the name, characters that are not seen, and right-to-left marks.
        "g\u{456}t status",
        "ｇｉｔ status",
        "git\u{a0}status",
        "git \u{202e}status",
        "git 'a\u{202e}b'",
        "git 'a\u{200b}b'",
        "git\u{0}",
        "git 'ѕrc'",
        "/usr/bin/git status",
        "./git status",
        "'' git",
    ] {
        assert!(!git_covers(command), "{command:?}");
    }
}

#[test]
fn words_that_run_others_are_never_covered() {
    // As if the pattern had been written into the store by hand.
    let mut standing = granting(
        &bash("git add"),
        ApprovalWithin::Session,
        patterns(&["git *"]),
    )
    .unwrap();
    for (pattern, command) in [
        ("export *", "export PATH=x"),
        ("eval *", "eval rm"),
        ("sh *", "sh -c rm"),
        ("printf *", "printf -v PATH x"),
        ("env *", "env rm"),
        ("xargs *", "xargs rm"),
        ("* ", "rm"),
        ("", "rm"),
        ("*", "rm"),
        ("git * x", "git add x"),
    ] {
        standing.scope = patterns(&[pattern]);
        assert!(!covers(&[standing.clone()], &bash(command)), "{pattern}");
    }
}

#[test]
fn every_part_of_a_command_needs_a_pattern() {
    let grant = |command, list: &[&str]| {
        granting(&bash(command), ApprovalWithin::Session, patterns(list)).unwrap()
    };
    let (git, ls) = (grant("git add", &["git *"]), grant("ls", &["ls *"]));
    let call = bash("git status && ls");
    assert!(!covers(std::slice::from_ref(&git), &call));
    let both = [git, ls];
    let used = covering(&both, &seat(), call.request()).unwrap();
    assert_eq!(used.len(), 2);
}

#[test]
fn a_pattern_decides_about_a_command_in_the_workspace_only() {
    let git = granting(
        &bash("git add"),
        ApprovalWithin::Session,
        patterns(&["git *"]),
    )
    .unwrap();
    for (args, expected) in [
        (
            json!({"command": "git add", "cwd": "src", "timeout": 5}),
            true,
        ),
        (json!({"command": "git add", "cwd": null}), true),
        (json!({"command": "git add", "cwd": "../x"}), false),
        (json!({"command": "git add", "cwd": "/srv"}), false),
        (json!({"command": "git add", "cwd": 1}), false),
        (json!({"command": "git add", "env": {"PATH": "x"}}), false),
        (json!({"command": ["git"]}), false),
    ] {
        assert_eq!(
            covers(std::slice::from_ref(&git), &asked("bash", args.clone())),
            expected,
            "{args}"
        );
    }
}

#[test]
fn a_grant_is_what_was_offered_or_narrower() {
    let call = bash("git commit -m x && git push");
    for (list, fits) in [
        (vec!["git *"], true),
        (vec!["git commit *", "git push"], true),
        (vec!["git commit -m x", "git push *"], true),
        // Does not cover the call.
        (vec!["git commit *"], false),
        (vec!["git status *"], false),
        // Wider.
        (vec!["git *", "rm *"], false),
        (vec!["*"], false),
        (vec![], false),
        (vec!["git * --force"], false),
        (vec!["git commit *; rm x"], false),
    ] {
        let grant = granting(&call, ApprovalWithin::Agent, patterns(&list));
        assert_eq!(grant.is_some(), fits, "{list:?}");
    }
    let edits = |folder: &str| ApprovalScope::Edits {
        folder: folder.into(),
    };
    let call = edit("src/app/a.rs", Some("src/app/a.rs"));
    for (folder, fits) in [
        (".", true),
        ("src", true),
        ("src/", true),
        ("./src/app", true),
        ("src/app", true),
        ("sr", false),
        ("src/app/a.rs", false),
        ("web", false),
        ("..", false),
        ("/", false),
        ("src/../web", false),
    ] {
        let grant = granting(&call, ApprovalWithin::Session, edits(folder));
        assert_eq!(grant.is_some(), fits, "{folder}");
    }
    let other = ApprovalScope::Call { hash: "0".into() };
    assert!(granting(&call, ApprovalWithin::Session, other).is_none());
}

#[test]
fn edits_are_covered_where_the_file_really_is() {
    let grant = |folder: &str| {
        let scope = ApprovalScope::Edits {
            folder: folder.into(),
        };
        granting(
            &edit("src/a.rs", Some("src/a.rs")),
            ApprovalWithin::Session,
            scope,
        )
        .unwrap()
    };
    let covered = |folder, path, place| covers(&[grant(folder)], &edit(path, place));
    assert!(covered("src", "src/b.rs", Some("src/b.rs")));
    assert!(covered("src", "src/deep/b.rs", Some("src/deep/b.rs")));
    assert!(covered(".", "README.md", Some("README.md")));
    // The tool that was not asked about edits as well.
    let other = asked("edit", json!({"path": "src/b.rs"})).at(Some("src/b.rs".into()));
    assert!(covers(&[grant("src")], &other));
    for (path, place) in [
        ("web/b.rs", Some("web/b.rs")),
        ("src2/b.rs", Some("src2/b.rs")),
        // A link that leads out of the folder, or out of the workspace.
        ("src/link/b.rs", Some("web/b.rs")),
        ("src/link/b.rs", None),
        ("src/../web/b.rs", Some("src/b.rs")),
        ("src/a\u{202e}b.rs", Some("src/ab.rs")),
        ("src/a.rs", Some("../src/a.rs")),
        ("ѕrc/b.rs", Some("ѕrc/b.rs")),
    ] {
        assert!(!covered("src", path, place), "{path} {place:?}");
    }
    assert!(!covered(".", "x", None));
    let shell = bash("git add");
    assert!(!covers(&[grant(".")], &shell));
}

#[test]
fn an_approval_is_of_its_user_agent_and_session() {
    let call = bash("git add");
    let here = granting(&call, ApprovalWithin::Session, patterns(&["git *"])).unwrap();
    let agent = granting(&call, ApprovalWithin::Agent, patterns(&["git *"])).unwrap();
    let other = |change: fn(&mut ApprovalSeat)| {
        let mut seat = seat();
        change(&mut seat);
        [&here, &agent]
            .map(|one| covering(std::slice::from_ref(one), &seat, call.request()).is_some())
    };
    assert_eq!(other(|_| ()), [true, true]);
    assert_eq!(
        other(|seat| seat.session_id = SessionId::new("t")),
        [false, true]
    );
    assert_eq!(
        other(|seat| seat.user_id = Some(UserId::new("bob"))),
        [true, false]
    );
    assert_eq!(other(|seat| seat.user_id = None), [true, false]);
    assert_eq!(
        other(|seat| seat.agent_id = Some("other".into())),
        [true, false]
    );
    let none = StandingApproval {
        agent_id: None,
        ..agent.clone()
    };
    let seat = ApprovalSeat {
        agent_id: None,
        ..seat()
    };
    assert!(covering(&[none], &seat, call.request()).is_none());
}

#[test]
fn a_changed_tool_or_setting_ends_an_approval() {
    let before = world(|_| ()).resolve();
    let none = ForeignContent::default();
    let call =
        |tools: &ResolvedTools| asked_in(tools, &none, "bash", json!({"command": "git add"}));
    let git = granting(&call(&before), ApprovalWithin::Agent, patterns(&["git *"])).unwrap();
    assert!(covers(
        std::slice::from_ref(&git),
        &call(&world(|_| ()).resolve())
    ));
    let spec = |change: fn(&mut AgentSpec)| world(|w| change(&mut w.agent)).resolve();
    for (what, after) in [
        (
            "risk",
            world(|w| Arc::make_mut(&mut w.catalogue[0]).risk = ToolRisk::Write),
        ),
        (
            "description",
            world(|w| Arc::make_mut(&mut w.catalogue[0]).description = "Else.".into()),
        ),
        (
            "schema",
            world(|w| Arc::make_mut(&mut w.catalogue[0]).schema = json!({}).into()),
        ),
    ] {
        assert!(
            !covers(std::slice::from_ref(&git), &call(&after.resolve())),
            "{what}"
        );
    }
    for (what, after) in [
        (
            "approval",
            spec(|agent| agent.approval = ApprovalMode::Always),
        ),
        (
            "workspace",
            spec(|agent| agent.workspace = Some("/srv".into())),
        ),
        ("roots", spec(|agent| agent.extra_roots = names(&["/srv"]))),
        ("network", spec(|agent| agent.sandbox.network = true)),
        (
            "hosts",
            spec(|agent| agent.allowed_hosts = names(&["example.com"])),
        ),
        (
            "pinned",
            spec(|agent| {
                let arguments = json!({"timeout": 1}).as_object().unwrap().clone();
                let change = ToolOverride {
                    arguments,
                    ..ToolOverride::default()
                };
                agent.tool_overrides.insert("bash".into(), change);
            }),
        ),
    ] {
        assert!(!covers(std::slice::from_ref(&git), &call(&after)), "{what}");
        // Also if the tool changes between the question and the run.
        let approval = Approval {
            hash: call(&before).request().hash.clone(),
            consent: Consent::Standing {
                seat: seat(),
                approvals: vec![git.clone()],
            },
        };
        let decision = call(&before).answer(&approval, Ok(&after));
        assert!(
            matches!(decision, Decision::Deny { .. }),
            "{what}: {decision:?}"
        );
    }
}

#[test]
fn external_content_asks_as_before() {
    let tools = world(|_| ()).resolve();
    let call = |foreign: &ForeignContent| {
        let args = json!({"url": "https://example.com/?q=1"});
        asked_in(&tools, foreign, "web_fetch", args)
    };
    // Only a session that has read something is asked at all.
    let request = call(&foreign());
    let scopes = offers(request.request(), true);
    assert_eq!(scopes.len(), 1);
    assert_eq!(scopes[0].within, [ApprovalWithin::Session]);
    let exact = scopes[0].scope.clone();
    let here = granting(&request, ApprovalWithin::Session, exact.clone()).unwrap();
    assert!(covers(std::slice::from_ref(&here), &request));
    for (within, scope) in [
        (ApprovalWithin::Session, ApprovalScope::Tool),
        (ApprovalWithin::Agent, ApprovalScope::Tool),
        (ApprovalWithin::Agent, exact),
    ] {
        assert!(granting(&request, within, scope.clone()).is_none());
        // Granted before, in a session that had read nothing.
        let is_here = within == ApprovalWithin::Session;
        let before = StandingApproval {
            scope,
            within,
            session_id: is_here.then(|| SessionId::new("s")),
            ..here.clone()
        };
        assert!(!covers(&[before], &request));
    }
}

#[test]
fn the_ticket_says_what_allowed_the_call_and_how_far_it_goes() {
    let tools = world(|_| ()).resolve();
    let call = edit("src/a.rs", Some("src/a.rs"));
    let scope = ApprovalScope::Edits {
        folder: "src".into(),
    };
    let standing = granting(&call, ApprovalWithin::Session, scope).unwrap();
    let hash = call.request().hash.clone();
    let consent = Consent::Standing {
        seat: seat(),
        approvals: vec![standing.clone()],
    };
    let approval = Approval { hash, consent };
    let Decision::Allow(ticket) = call.answer(&approval, Ok(&tools)) else {
        panic!("denied")
    };
    assert_eq!(ticket.allowed_by(), [standing.shown()]);
    assert_eq!(ticket.limits().folder(), Some("src"));
    // The host is believed in nothing: the judge looks again.
    let other = edit("web/a.rs", Some("web/a.rs"));
    let hash = other.request().hash.clone();
    let lie = Approval {
        hash,
        consent: approval.consent,
    };
    assert!(matches!(
        other.answer(&lie, Ok(&tools)),
        Decision::Deny { .. }
    ));
}

/// Whether `PROGRAM *` covers a command that begins with this program, as if the pattern had been
/// written into the store by hand.
fn covered_by_name(command: &str) -> bool {
    let name = command.split(' ').next().unwrap();
    covers(&[by_hand(&format!("{name} *"))], &bash(command))
}

fn by_hand(pattern: &str) -> StandingApproval {
    let git = granting(
        &bash("git add"),
        ApprovalWithin::Session,
        patterns(&["git *"]),
    );
    StandingApproval {
        id: pattern.to_owned(),
        scope: patterns(&[pattern]),
        ..git.unwrap()
    }
}

/// The words that the bash of this machine does not look up among the programs.
#[expect(clippy::disallowed_methods, reason = "a real shell is the reference")]
fn words_of_bash(option: &str) -> Vec<String> {
    let shell = std::process::Command::new("/bin/bash")
        .args(["--noprofile", "--norc", "-c", "compgen \"$0\"", option])
        .output()
        .unwrap();
    let words = String::from_utf8(shell.stdout).unwrap();
    words.lines().map(str::to_owned).collect()
}

#[test]
fn of_the_words_built_into_bash_only_harmless_ones_are_covered() {
    const HARMLESS: [&str; 10] = [
        "cd", "echo", "false", "help", "kill", "pwd", "test", "times", "true", "type",
    ];
    let builtins = words_of_bash("-b");
    assert!(builtins.len() > 50, "{builtins:?}");
    let keywords = words_of_bash("-k");
    assert!(keywords.len() > 15, "{keywords:?}");
    for word in builtins.iter().chain(&keywords) {
        let is_covered = ["", " a", " -x a", " a b"]
            .iter()
            .any(|rest| covered_by_name(&format!("{word}{rest}")));
        assert_eq!(is_covered, HARMLESS.contains(&word.as_str()), "{word}");
    }
    for (command, expected) in [
        ("cd src", true),
        ("cd", false),
        ("cd /srv", false),
        ("cd ..", false),
        ("cd -", false),
        ("cd ~", false),
        ("cd '~'", false),
        ("test -f a.rs", true),
        ("test a = b", true),
        ("test -v 'a[$(evil)]'", false),
        ("test -v \"a[0]\"", false),
        ("test 'a[$(evil)]' -eq 0", false),
        ("jobs -x evil", false),
        ("history -w F", false),
        ("printf -v 'a[$(evil)]' x", false),
        ("echo '$(evil)'", true),
    ] {
        assert_eq!(covered_by_name(command), expected, "{command}");
    }
}

#[test]
fn programs_that_run_others_are_known_in_every_spelling() {
    for program in [
        "zsh",
        "tcsh",
        "mksh",
        "rbash",
        "nodejs",
        "php",
        "pwsh",
        "perl5.36",
        "lua5.4",
        "php8.2",
        "python3.11",
        "python3.11-dbg",
        "ruby2.7",
        "ruby-3.2",
        "node18",
        "ksh93",
        "zsh-5.9",
        "zsh5",
        "bash-static",
        "busybox.static",
        "tclsh8.6",
        "pypy3",
        "guile-3.0",
        "Bash",
        "SH",
        "Python3",
        "ld-linux-x86-64.so.2",
        "x86_64",
        "linux32",
        "setarch",
        "xargs",
        "env",
        "awk",
        "gawk-5.2",
        "original-awk",
        "sed",
        "gsed",
        "vim",
        "vim.basic",
        "nvim",
        "ssh",
        "find",
        "fd",
        "tar",
        "bsdtar",
        "sqlite3",
        "gcc-12",
        "c++",
        "g++-12",
        "docker",
        "systemd-run",
        "less",
        "npx",
        "uvx",
        "pip3",
        "pytest",
        "go",
        "git-foo",
        "cargo-watch",
        "GIT",
        "Make",
    ] {
        for rest in ["", " a", " status", " -c a"] {
            let command = format!("{program}{rest}");
            assert!(!covered_by_name(&command), "{command}");
        }
    }
    for program in [
        "ls", "cat", "grep", "tee", "deploy", "md5sum", "base64", "date", "7z",
    ] {
        assert!(covered_by_name(&format!("{program} a -x")), "{program}");
    }
}

#[test]
fn what_follows_a_program_names_no_other_one() {
    for (command, expected) in [
        ("git", true),
        ("git commit -m 'Run ls -x'", true),
        ("git diff --stat main", true),
        ("git clean -x", true),
        ("git push -u origin main", true),
        ("git pull --rebase", true),
        ("git rebase main", true),
        ("git -c alias.x='!evil' x", false),
        ("git -c core.pager=evil log", false),
        ("git --exec-path=bin status", false),
        ("git --config-env=core.pager=X log", false),
        ("git -C sub status", false),
        ("git evil", false),
        ("git config core.pager evil", false),
        ("git bisect run evil", false),
        ("git submodule foreach evil", false),
        ("git difftool -x evil", false),
        ("git clone ext::evil", false),
        ("git fetch ext::evil", false),
        ("git fetch evil://x", false),
        ("git fetch --upload-pack=evil", false),
        ("git push --receive-pack evil", false),
        ("git push --rec=evil origin", false),
        ("git push ./other", false),
        ("git rebase -x evil main", false),
        ("git rebase -ix evil main", false),
        ("git rebase --exec evil main", false),
        ("git rebase --exe=evil main", false),
        ("git merge -s evil main", false),
        ("git merge --strat=evil main", false),
        ("git grep -Oevil x", false),
        ("git grep -iOevil x", false),
        ("git grep --open=evil x", false),
        ("git add -C..", false),
        ("rg TODO src", true),
        ("rg --pretty TODO", true),
        ("rg --pre evil x", false),
        ("rg --pre=evil x", false),
        ("rg --hostname-bin=evil x", false),
        ("rg -z x", false),
        ("sort -u a", true),
        ("sort --compress-program=evil a", false),
        ("sort --comp=evil a", false),
        ("cargo test --workspace name", true),
        ("cargo build --release -p a", true),
        ("cargo +evil build", false),
        ("cargo --config target.x.runner=evil run", false),
        ("cargo test --config a", false),
        ("cargo install evil", false),
        ("cargo evil", false),
        ("cargo clippy -- -C linker=evil", false),
        ("make", true),
        ("make -j4 -k all", true),
        ("make SHELL=evil", false),
        ("make --eval=x:", false),
        ("make -f evil", false),
        ("make -C sub", false),
        ("npm test", true),
        ("npm run lint", true),
        ("npm run lint evil", false),
        ("npm run -- evil", false),
        ("npm test --script-shell=evil", false),
        ("npm exec evil", false),
        ("npm install evil", false),
        (
            "tar -cf a --checkpoint=1 --checkpoint-action=exec=evil b",
            false,
        ),
        ("find . -exec evil", false),
        ("sed -e 1evil", false),
        ("ssh -o ProxyCommand=evil a", false),
        ("ls -I..", false),
    ] {
        assert_eq!(covered_by_name(command), expected, "{command}");
    }
}

/// A word as it is written, and as the program gets it.
type Word = (&'static str, &'static str);

/// A generated program, and how much of it a pattern shows.
#[derive(Clone, Debug)]
struct Program {
    words: Vec<Word>,
    shown: usize,
    is_open: bool,
}

impl Program {
    fn pattern(&self) -> String {
        let shown: Vec<&str> = self.shown().map(|(written, _)| *written).collect();
        let end = if self.is_open { " *" } else { "" };
        format!("{}{end}", shown.join(" "))
    }

    fn shown(&self) -> impl Iterator<Item = &Word> {
        self.words.iter().take(self.shown)
    }

    fn fits(&self, started: &[String]) -> bool {
        let shown: Vec<&str> = self.shown().map(|(_, read)| *read).collect();
        match self.is_open {
            true => started.len() >= shown.len() && started[..shown.len()] == shown[..],
            false => started == shown,
        }
    }
}

/// Started in the test: each writes its words down, and those that run others run `evil`.
const PROGRAMS: [&str; 22] = [
    "git",
    "ls",
    "deploy",
    "cat",
    "rg",
    "make",
    "npm",
    "cargo",
    "sort",
    "evil",
    "env",
    "xargs",
    "find",
    "awk",
    "sed",
    "ssh",
    "tar",
    "zsh",
    "nodejs",
    "perl5.36",
    "python3.11",
    "lua5.4",
];
const STUB: &str = r#"#!/bin/sh
name=${0##*/}
between=$(printf '\037')
words=$name
for word in "$@"; do words=$words$between$word; done
# In one write: programs of a pipeline run at the same time.
printf '%s\036' "$words" >> "$LOG"
case "$name $*" in
    evil*|ls*|deploy*|cat*) ;;
    "git -c"*|"git rebase"*" -x"*|"git rebase"*" --exec"*|"git grep"*" -O"*|"git push"*"ext::"*) evil ;;
    "rg "*"--pre="*|"sort "*"--compress"*|"make "*"SHELL="*|"cargo -"*) evil ;;
    "npm run"*) [ $# -lt 3 ] || evil ;;
    git*|rg*|sort*|make*|cargo*|npm*) ;;
    *) evil ;;
esac
"#;

fn same(words: &[&'static str]) -> Vec<Word> {
    words.iter().map(|word| (*word, *word)).collect()
}

fn programs() -> impl Strategy<Value = Vec<Program>> {
    let known = same(&[
        "git", "ls", "deploy", "cat", "rg", "make", "npm", "cargo", "sort",
    ]);
    let builtin = same(&[
        "echo", "test", "cd", "true", "false", "type", "pwd", "times", "help", "jobs", "history",
        "printf", "read", "command", "builtin", "eval", "exec", "source", "trap", "let", "declare",
        "mapfile", "enable", "alias", "hash", "wait", "compgen", "time", "coproc", "if", "!", "{",
    ]);
    let runner = same(&[
        "env",
        "xargs",
        "find",
        "awk",
        "sed",
        "ssh",
        "tar",
        "zsh",
        "nodejs",
        "perl5.36",
        "python3.11",
        "lua5.4",
        "evil",
    ]);
    let odd = same(&[
        "ｇｉｔ",
        "g\u{456}t",
        "gi\u{200b}t",
        "\u{202e}tig",
        "./git",
        "link/git",
    ]);
    let mut plain = same(&[
        "status", "add", "rebase", "grep", "push", "test", "run", "build", "log", "a", "src/a",
        "link/a", "-n", "-x", "-v", "-w", "-u", "F", "evil",
    ]);
    plain.extend([
        ("'a b'", "a b"),
        ("\"a b\"", "a b"),
        ("''", ""),
        ("a'b'", "ab"),
        ("修", "修"),
    ]);
    plain.extend([
        ("'$(evil)'", "$(evil)"),
        ("'修，a'", "修，a"),
        ("\"a;b\"", "a;b"),
    ]);
    let mut harmful = same(&[
        "-c",
        "--exec=evil",
        "-Oevil",
        "ext::evil",
        "--pre=evil",
        "--compress-program=evil",
        "SHELL=evil",
        "-exec",
        "..",
        "../a",
        "-C..",
        "*",
        "?",
        "[a]",
        "{a,b}",
        "~",
        "$HOME",
        "$(evil)",
        "`evil`",
        "\"$(evil)\"",
        ">F",
        ">>F",
        "<F",
        "2>F",
        "&",
        "&evil",
        ";evil",
        "|evil",
        "\nevil",
        "\r",
        "\t",
        "#",
        "\\",
        "!",
        "(evil)",
        "X=1",
        "'",
        "\"",
        "é",
        "e\u{301}",
        "\u{200b}",
        "\u{a0}",
    ]);
    harmful.extend([
        ("'a[$(evil)]'", "a[$(evil)]"),
        ("'\u{202e}'", "\u{202e}"),
        ("'\u{ff1b}'", "\u{ff1b}"),
    ]);
    let select = prop::sample::select::<Word>;
    let name = prop_oneof![
        8 => select(known),
        4 => select(builtin),
        1 => select(runner),
        1 => select(odd),
    ];
    let word = prop_oneof![12 => select(plain), 1 => select(harmful)];
    let words = prop::collection::vec(word, 0..4);
    let program = (name, words, 0..4usize, any::<bool>());
    let program = program.prop_map(|(name, mut words, shown, is_open)| {
        words.insert(0, name);
        let shown = match is_open {
            true => words.len().min(shown + 1),
            false => words.len(),
        };
        Program {
            words,
            shown,
            is_open,
        }
    });
    prop::collection::vec(program, 1..4)
}

/// The programs of a command line, joined: mostly so that each of them can be read.
fn command_lines() -> impl Strategy<Value = (Vec<Program>, String)> {
    let join = prop_oneof![
        20 => prop::sample::select(vec![" && ", "; ", " | ", " || ", "&&", ";", "|"]),
        1 => prop::sample::select(vec![" & ", "\n", " |& ", ";; ", " ", " &| ", "\r\n"]),
    ];
    (programs(), prop::collection::vec(join, 3)).prop_map(|(programs, joins)| {
        let mut line = String::new();
        for (program, join) in programs.iter().zip(joins) {
            if !line.is_empty() {
                line.push_str(join);
            }
            let words: Vec<&str> = program.words.iter().map(|(written, _)| *written).collect();
            line.push_str(&words.join(" "));
        }
        (programs, line)
    })
}

/// A folder in which a shell finds nothing but [`PROGRAMS`].
struct Shell(tempfile::TempDir);

impl Shell {
    fn new() -> Self {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let place = tempfile::tempdir().unwrap();
        for dir in ["bin", "work", "work/src", "outside"] {
            std::fs::create_dir(place.path().join(dir)).unwrap();
        }
        symlink("../outside", place.path().join("work/link")).unwrap();
        let stub = place.path().join("stub");
        std::fs::write(&stub, STUB).unwrap();
        std::fs::set_permissions(&stub, std::fs::Permissions::from_mode(0o755)).unwrap();
        for program in PROGRAMS {
            symlink("../stub", place.path().join("bin").join(program)).unwrap();
        }
        symlink("../stub", place.path().join("outside/git")).unwrap();
        Self(place)
    }

    /// What a shell starts: for each program its name and its words.
    #[expect(clippy::disallowed_methods, reason = "a real shell is the reference")]
    fn started(&self, command: &str) -> Vec<Vec<String>> {
        let place = self.0.path();
        let log = place.join("log");
        std::fs::write(&log, "").unwrap();
        let shell = std::process::Command::new("/bin/bash")
            .args(["--noprofile", "--norc", "-c", command])
            .env_clear()
            .env("PATH", place.join("bin"))
            .env("LOG", &log)
            .current_dir(place.join("work"))
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&shell.stderr);
        assert!(!said.contains("syntax error"), "{command:?}: {said}");
        let log = std::fs::read_to_string(&log).unwrap();
        let programs = log.split_terminator('\u{1e}');
        programs
            .map(|line| line.split('\u{1f}').map(str::to_owned).collect())
            .collect()
    }

    /// The names of all files below the folder.
    fn files(&self) -> Vec<std::path::PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.0.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                }
                found.push(entry.path());
            }
        }
        found.sort();
        found
    }
}

/// No call runs that the shown scope does not cover: of what is covered, a real shell starts only
/// what the patterns show, and writes nothing.
#[test]
fn a_shell_starts_nothing_beyond_the_pattern() {
    const CASES: u32 = 2000;
    let shell = Shell::new();
    let log = shell.0.path().join("log");
    std::fs::write(log, "").unwrap();
    let before = shell.files();
    let covered = std::cell::Cell::new(0);
    let config = ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let result = runner.run(&command_lines(), |(programs, command)| {
        let standing: Vec<StandingApproval> = programs
            .iter()
            .map(|program| by_hand(&program.pattern()))
            .collect();
        if covers(&standing, &bash(&command)) {
            covered.set(covered.get() + 1);
            for words in shell.started(&command) {
                let fits = programs.iter().any(|program| program.fits(&words));
                prop_assert!(fits, "{:?} started {:?}", command, words);
            }
            prop_assert_eq!(shell.files(), before.clone(), "{:?}", command);
        }
        Ok(())
    });
    result.unwrap();
    assert!(covered.get() > CASES / 5, "{} covered", covered.get());
}

/// Texts that break out of patterns, if anything does.
fn pieces() -> impl Strategy<Value = String> {
    let nasty = prop::sample::select(vec![
        "git", "ls", "rm", "evil", " ", "  ", ";", "&&", "||", "|", "&", "\n", "\t", "'", "\"",
        "\\", "$", "$(evil)", "`evil`", "${X}", ">", "<", ">>", "(", ")", "{", "}", "*", "?", "~",
        "#", "!", "=", "X=1", "..", "../", "/", "-c", "--", "status", "a b", "if", "then", "fi",
        "eval", "exec", "\u{202e}", "\u{200b}", "é", "修", "[", "]", "^", "%", "@", ",", ":", "+",
        ".",
    ]);
    let begin = prop::sample::select(vec!["", "git ", "git status ", "ls; git ", "git add | "]);
    (begin, prop::collection::vec(nasty, 1..8))
        .prop_map(|(begin, parts)| format!("{begin}{}", parts.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    /// What is granted covers no more than what was offered.
    #[test]
    fn a_narrower_grant_covers_less(command in pieces(), other in pieces(), list in prop::collection::vec(pieces(), 1..3)) {
        let call = bash(&command);
        let list: Vec<&str> = list.iter().map(String::as_str).collect();
        if let Some(narrow) = granting(&call, ApprovalWithin::Session, patterns(&list)) {
            prop_assert!(covers(std::slice::from_ref(&narrow), &call));
            let wide = offers(call.request(), true).into_iter().map(|offer| offer.scope);
            let wide = wide.filter_map(|scope| granting(&call, ApprovalWithin::Session, scope));
            let wide: Vec<_> = wide.filter(|one| matches!(one.scope, ApprovalScope::Commands { .. })).collect();
            prop_assert!(!covers(&[narrow], &bash(&other)) || covers(&wide, &bash(&other)));
        }
    }
}
