//! Rules of the repository that no compiler checks. Each fault says where, what, and what to do.

use crate::idiom;
use crate::repository::Repository;
use std::collections::HashSet;

/// Crates that may know where sessions are kept.
const STORE_USERS: [&str; 3] = [
    "crates/netaclaw/Cargo.toml",
    "crates/netaclaw-store/Cargo.toml",
    "crates/netaclaw-testkit/Cargo.toml",
];
/// The engine knows agents by its port `AgentSource`; `netaclaw-agents` knows how they are configured.
const ENGINE_MANIFEST: &str = "crates/netaclaw-engine/Cargo.toml";
const STORE_MANIFEST: &str = "crates/netaclaw-store/Cargo.toml";
/// They build C code and tie the binary to a system library; rustls with ring does without.
const BANNED_PACKAGES: [&str; 2] = ["aws-lc-sys", "openssl-sys"];
/// The one place where processes are started.
const SPAWN_GATE: &str = "crates/netaclaw-tools/src/spawn/";
/// The person's own editor, started by the person, needs the person's terminal and rights.
const EDITOR_START: &str = "crates/netaclaw/src/agent/edit.rs";
const PROCESS_STARTS: [&str; 3] = ["process::Command", "posix_spawn", "process::{Command"];
/// Hosts of package registries, in two parts so that this list is no fault itself. Which registry
/// is used is a matter of each machine.
const REGISTRY_HOSTS: [(&str, &str); 8] = [
    ("crates", ".io"),
    ("registry.npm", "js.org"),
    ("npm", "js.com"),
    ("registry.yarn", "pkg.com"),
    ("pypi", ".org"),
    ("files.python", "hosted.org"),
    ("deb.debian", ".org"),
    ("registry.npm", "mirror.com"),
];

/// Everything that is wrong, in the order of the rules.
pub(crate) fn faults(repository: &Repository) -> Vec<String> {
    let rules = [
        sqlx_outside_the_store,
        users_of_the_store,
        configuration_in_the_engine,
        banned_packages,
        second_generations,
        misplaced_modules,
        registry_hosts,
        resolved_hosts,
        processes_past_the_gate,
        stale_names,
        idiom::faults,
    ];
    rules.iter().flat_map(|rule| rule(repository)).collect()
}

fn sqlx_outside_the_store(repository: &Repository) -> Vec<String> {
    let others = repository
        .manifests()
        .filter(|(path, _)| *path != STORE_MANIFEST);
    let faulty = others.filter(|(_, text)| names_dependency(text, "sqlx"));
    faulty
        .map(|(path, _)| format!("{path} names sqlx; all SQL belongs to crates/netaclaw-store"))
        .collect()
}

fn users_of_the_store(repository: &Repository) -> Vec<String> {
    let others = repository
        .manifests()
        .filter(|(path, _)| !STORE_USERS.contains(path));
    // Tests may use the real stores; what is built into the product may not.
    let faulty =
        others.filter(|(_, text)| names_dependency(&without_tests(text), "netaclaw-store"));
    faulty
        .map(|(path, _)| {
            format!("{path} names netaclaw-store; depend on the port in netaclaw-session instead")
        })
        .collect()
}

fn configuration_in_the_engine(repository: &Repository) -> Vec<String> {
    let engine = repository
        .manifests()
        .filter(|(path, _)| *path == ENGINE_MANIFEST);
    let above = ["netaclaw-admin", "netaclaw-agents"];
    let named = engine.flat_map(|(path, text)| {
        let text = without_tests(text);
        let named = above
            .into_iter()
            .filter(move |name| names_dependency(&text, name));
        named.map(move |name| format!("{path} names {name}; extend the port `AgentSource` instead"))
    });
    named.collect()
}

/// The manifest without what only its tests depend on.
fn without_tests(manifest: &str) -> String {
    let Ok(mut manifest) = manifest.parse::<toml::Table>() else {
        return String::new();
    };
    manifest.remove("dev-dependencies");
    manifest.to_string()
}

/// Whether any dependency table of a manifest, also one for a target, has the name.
fn names_dependency(manifest: &str, name: &str) -> bool {
    // A manifest that cannot be read is cargo's to complain about.
    let Ok(manifest) = manifest.parse::<toml::Table>() else {
        return false;
    };
    let mut waiting = vec![&manifest];
    while let Some(table) = waiting.pop() {
        for (key, value) in table {
            let Some(inner) = value.as_table() else {
                continue;
            };
            let is_dependencies = key.ends_with("dependencies");
            let renamed = |value: &toml::Value| {
                value.get("package").and_then(toml::Value::as_str) == Some(name)
            };
            if is_dependencies && (inner.contains_key(name) || inner.values().any(renamed)) {
                return true;
            }
            waiting.push(inner);
        }
    }
    false
}

fn banned_packages(repository: &Repository) -> Vec<String> {
    let lock = repository.text("Cargo.lock").unwrap_or_default();
    let banned = BANNED_PACKAGES.iter().filter(|name| {
        let line = format!("name = \"{name}\"");
        lock.lines().any(|other| other == line)
    });
    banned
        .map(|name| format!("Cargo.lock holds {name}; choose features that do without it (`cargo tree -i {name}` tells who asks for it)"))
        .collect()
}

fn second_generations(repository: &Repository) -> Vec<String> {
    let is_second = |path: &&String| {
        let name = path.rsplit('/').next().unwrap_or_default();
        let stem = name.split('.').next().unwrap_or_default();
        stem.ends_with("_v2") || stem.contains("_v2_")
    };
    let faulty = repository.files.keys().filter(is_second);
    faulty
        .map(|path| format!("{path} is a second generation by its name; replace the first instead"))
        .collect()
}

/// A module with children is `x/mod.rs`, never `x.rs` beside `x/`; long tests are in its `tests.rs`.
fn misplaced_modules(repository: &Repository) -> Vec<String> {
    let mut faults = Vec::new();
    for path in repository.files.keys() {
        let Some(stem) = path.strip_suffix(".rs") else {
            continue;
        };
        let folder = format!("{stem}/");
        let after = repository.files.range(folder.clone()..).next();
        if after.is_some_and(|(other, _)| other.starts_with(&folder)) {
            faults.push(format!(
                "{path} and a folder of the same name both exist; move the file to {folder}mod.rs"
            ));
        }
        if stem.ends_with("_tests") {
            faults.push(format!(
                "{path} holds the tests of a module; move them to the module's tests.rs"
            ));
        }
    }
    faults
}

fn registry_hosts(repository: &Repository) -> Vec<String> {
    let hosts: Vec<String> = REGISTRY_HOSTS
        .iter()
        .map(|(a, b)| format!("{a}{b}"))
        .collect();
    let mut faults = Vec::new();
    for (path, contents) in &repository.files {
        let text = String::from_utf8_lossy(contents);
        for (number, line) in text.lines().enumerate() {
            // What cargo writes into every lock file.
            if path == "Cargo.lock" && line.starts_with("source = \"registry+https://github.com/") {
                continue;
            }
            let named = hosts.iter().filter(|host| line.contains(host.as_str()));
            faults.extend(named.map(|host| {
                format!(
                    "{path}:{} names the registry {host}; leave that to each machine's settings",
                    number + 1
                )
            }));
        }
    }
    faults
}

fn resolved_hosts(repository: &Repository) -> Vec<String> {
    let locks = repository
        .files
        .keys()
        .filter(|path| path.ends_with("package-lock.json"));
    let faulty = locks.filter(|path| {
        let lock = repository
            .text(path)
            .and_then(|text| serde_json::from_str(text).ok());
        lock.is_none_or(|lock: serde_json::Value| has_resolved(&lock))
    });
    faulty
        .map(|path| format!("{path} records where packages came from, or is no JSON; write it with omit-lockfile-registry-resolved=true"))
        .collect()
}

/// What is built into the product starts processes in one place, which locks them in.
fn processes_past_the_gate(repository: &Repository) -> Vec<String> {
    let is_product = |path: &str| {
        let parts: Vec<&str> = path.split('/').collect();
        let is_source =
            matches!(parts[..], ["crates", name, "src", ..] if name != "netaclaw-testkit");
        let is_test = parts
            .iter()
            .any(|part| matches!(*part, "tests" | "tests.rs"));
        let may = path.starts_with(SPAWN_GATE) || path == EDITOR_START;
        is_source && !is_test && path.ends_with(".rs") && !may
    };
    let files = repository.files.keys().filter(|path| is_product(path));
    let faulty = files.filter(|path| {
        let text = repository.text(path).unwrap_or_default();
        // Tests stand at the end of a module.
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        PROCESS_STARTS.iter().any(|start| code.contains(start))
    });
    faulty
        .map(|path| format!("{path} starts a process itself; use the gate in {SPAWN_GATE}"))
        .collect()
}

/// Types and source files that the documents for developers name exist.
fn stale_names(repository: &Repository) -> Vec<String> {
    let text = |contents| String::from_utf8_lossy(contents);
    let is_source = |path: &str| [".rs", ".ts", ".vue"].iter().any(|end| path.ends_with(end));
    let sources = repository.files.iter().filter(|(path, _)| is_source(path));
    let known: HashSet<String> = sources
        .flat_map(|(_, contents)| identifiers(&text(contents)))
        .collect();
    let is_file = |name: &str| {
        let end = format!("/{name}");
        repository.files.keys().any(|path| path.ends_with(&end))
    };
    let mut faults = Vec::new();
    for (path, contents) in &repository.files {
        if path != "ARCHITECTURE.md" && !path.starts_with("docs/internals/") {
            continue;
        }
        for (number, line) in text(contents).lines().enumerate() {
            let spans = line.split('`').skip(1).step_by(2);
            let words = spans.flat_map(|span| span.split([' ', ',', ':', '(', ')', '<', '>']));
            let stale = words.filter(|word| match word.ends_with(".rs") {
                true => !word.contains('*') && !is_file(word),
                false => is_camel_case(word) && !known.contains(*word),
            });
            faults.extend(stale.map(|word| {
                let number = number + 1;
                format!(
                    "{path}:{number} names {word}, which does not exist; name what took its place"
                )
            }));
        }
    }
    faults
}

fn identifiers(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words
        .filter(|word| is_camel_case(word))
        .map(str::to_owned)
        .collect()
}

/// Two capitals at least, as in `AgentSource`: other words may be anything.
fn is_camel_case(word: &str) -> bool {
    let capitals = word
        .chars()
        .filter(|letter| letter.is_ascii_uppercase())
        .count();
    word.starts_with(|first: char| first.is_ascii_uppercase())
        && word.chars().all(|letter| letter.is_ascii_alphanumeric())
        && word.chars().any(|letter| letter.is_ascii_lowercase())
        && capitals > 1
}

fn has_resolved(lock: &serde_json::Value) -> bool {
    let packages = lock["packages"].as_object();
    let is_remote = |package: &serde_json::Value| {
        package["resolved"]
            .as_str()
            .is_some_and(|address| address.contains("://"))
    };
    packages.is_some_and(|packages| packages.values().any(is_remote))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, expected: &[&str]) {
        let faults = faults(&Repository::of(&[(path, text)]));
        assert_eq!(faults.len(), expected.len(), "{faults:?}");
        for (fault, part) in faults.iter().zip(expected) {
            assert!(fault.contains(part), "{fault}");
        }
    }

    #[test]
    fn documents_name_what_exists() {
        let check = |line: &str, expected: &[&str]| {
            let files = [
                ("crates/a/src/feed.rs", "pub struct RingBuffer;"),
                ("docs/internals/engine.md", line),
            ];
            let faults = faults(&Repository::of(&files));
            assert_eq!(faults.len(), expected.len(), "{faults:?}");
            for (fault, part) in faults.iter().zip(expected) {
                assert!(fault.contains(part), "{fault}");
            }
        };
        check(
            "The `RingBuffer` in `feed.rs` and `a/src/feed.rs`; TheFeed, `X`",
            &[],
        );
        check(
            "The `RingBuffers` and `Vec<OldFeed>`",
            &["RingBuffers", "OldFeed"],
        );
        check("see `src/ring.rs`", &["src/ring.rs"]);
    }

    #[test]
    fn only_the_store_names_sqlx() {
        check(STORE_MANIFEST, "[dependencies]\nsqlx.workspace = true", &[]);
        check(
            "Cargo.toml",
            "[workspace.dependencies]\nsqlx = \"0.9\"",
            &[],
        );
        check(
            "crates/x/Cargo.toml",
            "[dependencies]\nsqlx = \"0.9\"",
            &["x/Cargo.toml names sqlx"],
        );
        check(
            "crates/x/Cargo.toml",
            "[dev-dependencies.sqlx]\nversion = \"0.9\"",
            &["sqlx"],
        );
        check(
            "crates/x/Cargo.toml",
            "[target.'cfg(unix)'.dependencies]\ndb = { package = \"sqlx\", version = \"1\" }",
            &["sqlx"],
        );
        check(
            "crates/x/Cargo.toml",
            "[package]\ndescription = \"no sqlx\"",
            &[],
        );
    }

    #[test]
    fn only_the_binary_and_tests_name_the_store() {
        check(
            "crates/netaclaw/Cargo.toml",
            "[dependencies]\nnetaclaw-store.workspace = true",
            &[],
        );
        check(
            "crates/netaclaw-engine/Cargo.toml",
            "[dependencies]\nnetaclaw-store.workspace = true",
            &["netaclaw-engine"],
        );
    }

    #[test]
    fn the_engine_does_not_know_how_agents_are_configured() {
        let admin = "[dependencies]\nnetaclaw-admin.workspace = true";
        check("crates/netaclaw-agents/Cargo.toml", admin, &[]);
        check(ENGINE_MANIFEST, admin, &["names netaclaw-admin"]);
        check(
            ENGINE_MANIFEST,
            "[dev-dependencies]\nnetaclaw-agents.workspace = true",
            &[],
        );
    }

    #[test]
    fn some_packages_are_not_let_in() {
        check("Cargo.lock", "[[package]]\nname = \"ring\"\n", &[]);
        check(
            "Cargo.lock",
            "[[package]]\nname = \"openssl-sys\"\n",
            &["openssl-sys"],
        );
    }

    #[test]
    fn there_is_one_generation_of_everything() {
        check("crates/x/src/compaction.rs", "", &[]);
        check("crates/x/src/compaction_v2.rs", "", &["compaction_v2.rs"]);
        check("web/src/chat_v2_test.ts", "", &["chat_v2_test.ts"]);
    }

    #[test]
    fn a_module_with_children_is_a_folder() {
        let faults = |paths: &[&str]| {
            let files: Vec<(&str, &str)> = paths.iter().map(|path| (*path, "")).collect();
            faults(&Repository::of(&files))
        };
        assert_eq!(
            faults(&["x/src/a/mod.rs", "x/src/a/b.rs", "x/src/ab.rs"]),
            [""; 0]
        );
        let both = faults(&["x/src/a.rs", "x/src/a.txt", "x/src/a/b.rs"]);
        assert!(
            both.len() == 1 && both[0].contains("x/src/a/mod.rs"),
            "{both:?}"
        );
        assert_eq!(faults(&["x/src/plan_tests.rs"]).len(), 1);
    }

    #[test]
    fn no_file_names_a_registry() {
        let host = format!("https://{}{}/x", REGISTRY_HOSTS[0].0, REGISTRY_HOSTS[0].1);
        check("README.md", &format!("one\nsee {host}\n"), &["README.md:2"]);
        let index = format!(
            "source = \"registry+https://github.com/rust-lang/{}{}-index\"\n",
            REGISTRY_HOSTS[0].0, REGISTRY_HOSTS[0].1
        );
        check("Cargo.lock", &index, &[]);
        check("other.lock", &index, &["other.lock:1"]);
    }

    #[test]
    fn a_package_lock_names_no_hosts() {
        let lock = |package: &str| format!(r#"{{"packages":{{"node_modules/a":{package}}}}}"#);
        check(
            "interop/package-lock.json",
            &lock(r#"{"version":"1.0.0"}"#),
            &[],
        );
        check(
            "interop/package-lock.json",
            &lock(r#"{"resolved":"../link","link":true}"#),
            &[],
        );
        check(
            "interop/package-lock.json",
            &lock(r#"{"resolved":"https://x.example/a.tgz"}"#),
            &["package-lock.json"],
        );
        check("interop/package-lock.json", "{", &["no JSON"]);
    }

    #[test]
    fn processes_are_started_at_the_gate_only() {
        let code = "use std::process::Command;\n";
        let tested = format!("fn a() {{}}\n#[cfg(test)]\nmod tests {{ {code} }}\n");
        check("crates/x/src/a.rs", code, &["crates/x/src/a.rs"]);
        check("crates/x/src/a.rs", &tested, &[]);
        check("crates/x/src/tests.rs", code, &[]);
        check("crates/x/tests/it/main.rs", code, &[]);
        check("crates/netaclaw-testkit/src/a.rs", code, &[]);
        check(&format!("{SPAWN_GATE}gate.rs"), code, &[]);
    }
}
