//! What a session may do unasked after it has read external content.

use super::*;
use netaclaw_protocol::{ApprovalMode, ForeignKind, ForeignNote, ForeignSource, ToolOverride};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::Value;

fn page(host: &str) -> ForeignContent {
    ForeignContent(vec![ForeignSource {
        kind: ForeignKind::Web,
        name: host.to_owned(),
    }])
}

fn world(change: impl FnOnce(&mut World)) -> World {
    World::new(|world| {
        world.catalogue.push(tool("web_fetch", |t| {
            t.risk = ToolRisk::Network;
            t.outlet = EgressTarget::Address {
                argument: "url".into(),
            };
        }));
        world.catalogue.push(tool("mcp__a__b", |t| {
            t.risk = ToolRisk::Exec;
            t.outlet = EgressTarget::Server {
                url: Some("https://mcp.example.com/mcp".into()),
            };
        }));
        world.catalogue.push(tool("mcp__local__b", |t| {
            t.risk = ToolRisk::Exec;
            t.outlet = EgressTarget::Server { url: None };
        }));
        world
            .catalogue
            .push(tool("other_net", |t| t.risk = ToolRisk::Network));
        for tool in &mut world.catalogue {
            if tool.name == "bash" {
                let tool = Arc::make_mut(tool);
                tool.outlet = EgressTarget::Programs;
                tool.default_status = ToolStatus::Enabled;
            }
        }
        change(world);
    })
}

fn call(tool: &str, args: Value) -> ProposedCall {
    ProposedCall {
        tool_call_id: "c1".into(),
        tool_name: tool.into(),
        args,
    }
}

fn judged(world: &World, foreign: &ForeignContent, tool: &str, args: Value) -> Decision {
    let tools = world.resolve();
    decide(&tools, Ok(&tools), foreign, call(tool, args))
}

fn asks(world: &World, foreign: &ForeignContent, tool: &str, args: Value) -> bool {
    matches!(judged(world, foreign, tool, args), Decision::Ask(_))
}

#[test]
fn network_and_memory_ask_only_after_content_from_outside() {
    let world = world(|_| {});
    let url = json!({"url": "https://evil.example/?q=secret"});
    for (tool, args) in [
        ("web_fetch", url),
        ("memory_save", json!({})),
        ("other_net", json!({})),
    ] {
        assert!(
            !asks(&world, &ForeignContent::default(), tool, args.clone()),
            "{tool}"
        );
        assert!(asks(&world, &page("a.example"), tool, args), "{tool}");
    }
    assert!(!asks(&world, &page("a.example"), "read", json!({})));
}

#[test]
fn the_request_says_what_was_read_and_where_the_call_goes() {
    let url = json!({"url": " HTTPS://Évil.Example:443/a b?q=1 "});
    let Decision::Ask(asked) = judged(&world(|_| {}), &page("a.example"), "web_fetch", url) else {
        panic!("not asked")
    };
    assert_eq!(
        asked.request().foreign,
        Some(ForeignNote {
            sources: page("a.example"),
            destination: Some("https://xn--vil-9la.example/a%20b?q=1".into()),
        })
    );
    assert!(asked.request().reason.contains("external content"));
}

/// A risk that was set lower does not open the outbound route.
#[test]
fn tools_whose_risk_was_set_lower_still_ask() {
    let lower = |world: &mut World| {
        for name in ["bash", "mcp__a__b", "mcp__local__b"] {
            let change = ToolOverride {
                risk: Some(ToolRisk::Read),
                ..ToolOverride::default()
            };
            world.agent.tool_overrides.insert(name.into(), change);
        }
    };
    let seen = page("a.example");
    let closed = world(lower);
    assert!(!asks(
        &closed,
        &ForeignContent::default(),
        "mcp__a__b",
        json!({})
    ));
    assert!(asks(&closed, &seen, "mcp__a__b", json!({})));
    assert!(asks(&closed, &seen, "mcp__local__b", json!({})));
    assert!(
        !asks(&closed, &seen, "bash", json!({})),
        "it has no network"
    );
    let open = world(|world| {
        lower(world);
        world.agent.sandbox.network = true;
        world.agent.allowed_hosts = names(&["mcp.example.com"]);
    });
    assert!(asks(&open, &seen, "bash", json!({})));
    assert!(
        !asks(&open, &seen, "mcp__a__b", json!({})),
        "its server is allowed"
    );
    let tools = closed.resolve().cautioned("bash", "not confined".into());
    let unconfined = decide(&tools, Ok(&tools), &seen, call("bash", json!({})));
    assert!(matches!(unconfined, Decision::Ask(_)));
}

#[test]
fn an_agent_without_approvals_keeps_that_setting() {
    let never = world(|world| world.agent.approval = ApprovalMode::Never);
    let args = json!({"url": "https://evil.example/"});
    let Decision::Allow(approved) = judged(&never, &page("a.example"), "web_fetch", args) else {
        panic!("asked")
    };
    assert!(approved.limits().after_foreign());
    assert!(approved.limits().may_follow("https://elsewhere.example/"));
}

/// Which addresses a rule allows.
#[track_caller]
fn check_rule(rule: &str, allowed: &[&str], asked: &[&str]) {
    let world = world(|world| world.agent.allowed_hosts = names(&[rule]));
    let asks = |url: &str| {
        asks(
            &world,
            &page("a.example"),
            "web_fetch",
            json!({ "url": url }),
        )
    };
    for url in allowed {
        assert!(!asks(url), "{rule} allows {url}");
    }
    for url in asked {
        assert!(asks(url), "{rule} does not allow {url}");
    }
}

#[test]
fn a_rule_allows_what_it_names_and_nothing_else() {
    check_rule(
        "example.com",
        &[
            "https://example.com",
            "https://EXAMPLE.com:443/a?b#c",
            "https://example.com./x",
            " https://example.com/ ",
            "https:\\\\example.com\\x",
        ],
        &[
            "http://example.com",
            "https://example.com:8443",
            "https://www.example.com",
            "https://notexample.com",
            "https://example.com.evil.org",
            "https://example.com@evil.org/",
            "https://user@example.com/",
            "https://:pw@example.com/",
            "https://evil.org/#example.com",
            "https://evil.org\\@example.com",
            "https://example.com..",
            "ftp://example.com",
            "example.com",
            "javascript:alert(1)",
            "",
        ],
    );
    check_rule(
        "*.example.com",
        &["https://a.example.com", "https://a.b.EXAMPLE.com."],
        &[
            "https://example.com",
            "https://.example.com",
            "https://aexample.com",
            "https://a.example.com.evil.org",
            "http://a.example.com",
        ],
    );
    check_rule(
        "http://example.com:8080",
        &["http://example.com:8080/x"],
        &[
            "https://example.com:8080",
            "http://example.com",
            "http://example.com:80",
        ],
    );
    check_rule(
        "bücher.example",
        &["https://xn--bcher-kva.example", "https://BÜCHER.example"],
        &["https://bucher.example"],
    );
    check_rule(
        "1.2.3.4",
        &["https://1.2.3.4/", "https://0x1.2.772/", "https://16909060"],
        &[
            "https://1.2.3.5/",
            "https://a.1.2.3.4/",
            "https://[::ffff:1.2.3.4]/",
        ],
    );
    check_rule(
        "[2001:DB8::1]:8443",
        &["https://[2001:db8:0::1]:8443/"],
        &["https://[2001:db8::1]/", "https://[2001:db8::2]:8443/"],
    );
}

#[test]
fn a_rule_that_is_unclear_is_refused() {
    for rule in [
        "",
        " ",
        "*",
        "*.com",
        "*.*.com",
        "a.*.com",
        "*.1.2.3.4",
        "*.[::1]",
        "ftp://a.com",
        "a.com/x",
        "a.com?x",
        "u@a.com",
        "a b.com",
        "a.com\\x",
        "https://",
        "a.com:99999",
        "..",
        "a%2ecom",
    ] {
        assert!(HostRule::parse(rule).is_err(), "{rule:?}");
    }
    for (rule, canonical) in [
        (" Example.COM./ ", "example.com"),
        ("https://*.Example.com:443", "*.example.com"),
        ("http://a.b:8080", "http://a.b:8080"),
        ("http://a.b:80", "http://a.b"),
        ("localhost", "localhost"),
    ] {
        assert_eq!(HostRule::parse(rule).unwrap().to_string(), canonical);
    }
}

#[test]
fn redirects_stay_where_the_call_was_allowed_to_go() {
    let world = world(|world| world.agent.allowed_hosts = names(&["*.allowed.example"]));
    let tools = world.resolve();
    let args = json!({"url": "http://first.example/a"});
    let Decision::Ask(asked) = judged(&world, &page("a.example"), "web_fetch", args.clone()) else {
        panic!("not asked")
    };
    let consent = Approval {
        hash: asked.request().hash.clone(),
        consent: Consent::Given,
    };
    let Decision::Allow(approved) = asked.answer(&consent, Ok(&tools)) else {
        panic!("denied")
    };
    for (next, may) in [
        ("http://first.example/b", true),
        ("https://first.example/b", true),
        ("http://first.example:8080/b", false),
        ("https://first.example:8443/b", false),
        ("https://second.example/", false),
        ("https://user@first.example/", false),
        ("https://x.allowed.example/", true),
        ("http://x.allowed.example/", false),
        ("nonsense", false),
    ] {
        assert_eq!(approved.limits().may_follow(next), may, "{next}");
    }
    // Before it has read anything, a session follows pages wherever they lead.
    let Decision::Allow(free) = judged(&world, &ForeignContent::default(), "web_fetch", args)
    else {
        panic!("asked")
    };
    assert!(free.limits().may_follow("https://second.example/"));
}

proptest! {
    /// No call of a network or memory tool runs without an approval after external content, unless
    /// its host is on the list, whatever else is configured.
    #[test]
    fn nothing_leaves_unasked(
        mode in select(vec![ApprovalMode::Risky, ApprovalMode::Always]),
        risk in proptest::option::of(select(vec![ToolRisk::Read, ToolRisk::Write, ToolRisk::Network])),
        allowed in subsequence(vec!["a.example", "*.b.example", "http://c.example:81", "broken/"], 0..=4),
        network in any::<bool>(),
        scheme in select(vec!["http", "https", "HTTPS", "ftp"]),
        host in select(vec!["a.example", "A.Example.", "x.b.example", "b.example", "c.example", "u@a.example", "d.example"]),
        port in select(vec!["", ":443", ":81", ":8443"]),
        name in select(vec!["web_fetch", "memory_save", "mcp__a__b", "mcp__local__b", "bash", "other_net"]),
    ) {
        let world = world(|world| {
            world.agent.approval = mode;
            world.agent.sandbox.network = network;
            world.agent.allowed_hosts = names(&allowed);
            for tool in ["web_fetch", "memory_save", "mcp__a__b", "mcp__local__b", "bash", "other_net"] {
                let change = ToolOverride { risk, ..ToolOverride::default() };
                world.agent.tool_overrides.insert(tool.into(), change);
            }
        });
        let url = format!("{scheme}://{host}{port}/path");
        let is_listed = {
            let plain = host.trim_end_matches('.').to_lowercase();
            let (is_https, is_http) = (scheme.eq_ignore_ascii_case("https"), scheme == "http");
            let tls = is_https && matches!(port, "" | ":443");
            (allowed.contains(&"a.example") && tls && plain == "a.example")
                || (allowed.contains(&"*.b.example") && tls && plain == "x.b.example")
                || (allowed.contains(&"http://c.example:81") && is_http && port == ":81" && plain == "c.example")
        };
        let may_run = match name {
            "web_fetch" => is_listed,
            "bash" => !network,
            "other_net" => risk.is_some_and(|risk| risk != ToolRisk::Network),
            _ => false,
        };
        match judged(&world, &page("p.example"), name, json!({"url": url})) {
            Decision::Allow(approved) => {
                prop_assert!(may_run, "{name} {url} {allowed:?}");
                prop_assert!(approved.limits().after_foreign());
                prop_assert!(!approved.limits().may_follow("https://elsewhere.example/"));
            }
            Decision::Ask(asked) => prop_assert!(asked.request().foreign.is_some()),
            Decision::Deny { reason } => prop_assert!(false, "{reason}"),
        }
    }
}
