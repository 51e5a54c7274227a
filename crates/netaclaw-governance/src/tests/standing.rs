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
        "git a\\ b",
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
        "git a*",
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
        &bash("git a"),
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
        ("git * x", "git a x"),
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
    let (git, ls) = (grant("git a", &["git *"]), grant("ls", &["ls *"]));
    let call = bash("git status && ls");
    assert!(!covers(std::slice::from_ref(&git), &call));
    let both = [git, ls];
    let used = covering(&both, &seat(), call.request()).unwrap();
    assert_eq!(used.len(), 2);
}

#[test]
fn a_pattern_decides_about_a_command_in_the_workspace_only() {
    let git = granting(
        &bash("git a"),
        ApprovalWithin::Session,
        patterns(&["git *"]),
    )
    .unwrap();
    for (args, expected) in [
        (
            json!({"command": "git a", "cwd": "src", "timeout": 5}),
            true,
        ),
        (json!({"command": "git a", "cwd": null}), true),
        (json!({"command": "git a", "cwd": "../x"}), false),
        (json!({"command": "git a", "cwd": "/srv"}), false),
        (json!({"command": "git a", "cwd": 1}), false),
        (json!({"command": "git a", "env": {"PATH": "x"}}), false),
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
    let shell = bash("git a");
    assert!(!covers(&[grant(".")], &shell));
}

#[test]
fn an_approval_is_of_its_user_agent_and_session() {
    let call = bash("git a");
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
    let call = |tools: &ResolvedTools| asked_in(tools, &none, "bash", json!({"command": "git a"}));
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

/// Texts that break out of patterns, if anything does.
fn pieces() -> impl Strategy<Value = String> {
    let nasty = prop::sample::select(vec![
        "git", "ls", "rm", "evil", " ", "  ", ";", "&&", "||", "|", "&", "\n", "\t", "'", "\"",
        "\\", "$", "$(evil)", "`evil`", "${X}", ">", "<", ">>", "(", ")", "{", "}", "*", "?", "~",
        "#", "!", "=", "X=1", "..", "../", "/", "-c", "--", "status", "a b", "if", "then", "fi",
        "eval", "exec", "\u{202e}", "\u{200b}", "é", "修", "[", "]", "^", "%", "@", ",", ":", "+",
        ".",
    ]);
    let begin = prop::sample::select(vec!["", "git ", "git status ", "ls; git ", "git a | "]);
    (begin, prop::collection::vec(nasty, 1..8))
        .prop_map(|(begin, parts)| format!("{begin}{}", parts.concat()))
}

/// What a shell starts, one line for each program: its name and its words.
#[expect(clippy::disallowed_methods, reason = "a real shell is the reference")]
fn started(place: &std::path::Path, command: &str) -> Vec<Vec<String>> {
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
    assert!(
        shell.status.code() != Some(2),
        "bash cannot read {command:?}"
    );
    let log = std::fs::read_to_string(&log).unwrap();
    log.lines()
        .map(|line| line.split('\u{1f}').map(str::to_owned).collect())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    /// No call runs that the shown scope does not cover: of what is covered, a real shell starts
    /// only programs of the patterns, and writes nothing.
    #[test]
    fn a_shell_starts_nothing_beyond_the_pattern(command in pieces(), narrow in any::<bool>()) {
        use std::os::unix::fs::PermissionsExt;
        let list: &[&str] = match narrow {
            true => &["git status *", "ls"],
            false => &["git *", "ls *"],
        };
        let given = granting(&bash("git status && ls"), ApprovalWithin::Session, patterns(list)).unwrap();
        if covers(&[given], &bash(&command)) {
            let place = tempfile::tempdir().unwrap();
            for dir in ["bin", "work"] {
                std::fs::create_dir(place.path().join(dir)).unwrap();
            }
            for program in ["git", "ls", "rm", "evil"] {
                let text = "#!/bin/bash\nIFS=$'\\x1f'; echo \"${0##*/}\x1f$*\" >> \"$LOG\"\n";
                let file = place.path().join("bin").join(program);
                std::fs::write(&file, text).unwrap();
                std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
            }
            for words in started(place.path(), &command) {
                let fits = match (words[0].as_str(), narrow) {
                    ("git", false) | ("ls", false) => true,
                    ("git", true) => words[1] == "status",
                    ("ls", true) => words[1..] == [""],
                    _ => false,
                };
                prop_assert!(fits, "{command:?} started {words:?}");
            }
            prop_assert_eq!(std::fs::read_dir(place.path().join("work")).unwrap().count(), 0, "{:?}", command);
        }
    }

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
