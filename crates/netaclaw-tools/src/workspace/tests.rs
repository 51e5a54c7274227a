#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

/// `outer/ws` is the workspace, `outer/extra` a second root, `outer/secret` none of their business.
struct World {
    outer: TempDir,
    workspace: Workspace,
}

fn world() -> World {
    let outer = tempfile::tempdir().unwrap();
    let at = |path: &str| outer.path().join(path);
    for dir in ["ws/inner", "extra", "secret"] {
        fs::create_dir_all(at(dir)).unwrap();
    }
    fs::write(at("ws/a.txt"), "inside").unwrap();
    fs::write(at("extra/e.txt"), "extra").unwrap();
    fs::write(at("secret/key"), "secret").unwrap();
    let workspace = Workspace::new(&at("ws"), &[at("extra")]).unwrap();
    World { outer, workspace }
}

impl World {
    fn path(&self, path: &str) -> String {
        let root = fs::canonicalize(self.outer.path()).unwrap();
        root.join(path).to_str().unwrap().to_owned()
    }

    fn link(&self, target: &str, name: &str) {
        symlink(target, self.outer.path().join("ws").join(name)).unwrap();
    }

    #[track_caller]
    fn check(&self, path: &str, expected: Result<&str, &str>) {
        let result = self.workspace.open_file(path).map(|mut file| {
            let mut text = String::new();
            file.read_to_string(&mut text).unwrap();
            text
        });
        match (&result, expected) {
            (Ok(text), Ok(expected)) => assert_eq!(text, expected, "{path}"),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{path}: {error}"),
            _ => panic!("{path}: {result:?}"),
        }
    }
}

const OUTSIDE: Result<&str, &str> = Err("outside of the workspace");

#[test]
fn paths_inside_are_found_however_they_are_written() {
    let world = world();
    world.check("a.txt", Ok("inside"));
    world.check("./inner/../a.txt", Ok("inside"));
    world.check(&world.path("ws/a.txt"), Ok("inside"));
    world.check(&world.path("extra/e.txt"), Ok("extra"));
    world.check("missing.txt", Err("does not exist"));
    world.check("inner", Err("is a directory"));
    world.check("a.txt/b", Err("is not a directory"));
    world.check("a\0b", Err("cannot be opened"));
}

#[test]
fn dots_and_absolute_paths_do_not_lead_out() {
    let world = world();
    world.check("../secret/key", OUTSIDE);
    world.check("inner/../../secret/key", OUTSIDE);
    world.check(&world.path("secret/key"), OUTSIDE);
    world.check(&world.path("ws/../secret/key"), OUTSIDE);
    world.check("/etc/passwd", OUTSIDE);
    world.check("/proc/self/root/etc/passwd", OUTSIDE);
    world.check("/proc/self/environ", OUTSIDE);
    // Whether something outside exists must not be revealed either.
    world.check("/no/such/place", OUTSIDE);
    // The name of one directory may be the beginning of another's.
    fs::create_dir(world.outer.path().join("ws-other")).unwrap();
    fs::write(world.outer.path().join("ws-other/x"), "x").unwrap();
    world.check(&world.path("ws-other/x"), OUTSIDE);
}

#[test]
fn links_count_by_where_they_lead() {
    let world = world();
    world.link("a.txt", "near");
    world.link(&world.path("ws/a.txt"), "absolute");
    world.link("../extra", "extra");
    world.check("near", Ok("inside"));
    world.check("absolute", Ok("inside"));
    world.check("extra/e.txt", Ok("extra"));

    world.link("../secret/key", "out");
    world.link(&world.path("secret"), "out_dir");
    world.link("/proc/self/root", "proc");
    world.link("out", "chain");
    world.link("round", "round");
    for path in [
        "out",
        "out_dir/key",
        "chain",
        "proc/etc/passwd",
        "extra/../secret/key",
    ] {
        world.check(path, OUTSIDE);
    }
    assert!(world.workspace.open_file("round").is_err());
    assert!(matches!(
        world.workspace.open_dir("out_dir"),
        Err(PathError::Outside(_))
    ));
}

#[test]
fn a_pipe_is_refused_and_not_waited_for() {
    let world = world();
    let pipe = world.outer.path().join("ws/pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
    world.check("pipe", Err("might not end"));
}

/// A link that is swapped between check and use would beat any check; here there is none.
#[test]
fn a_link_swapped_during_the_call_does_not_lead_out() {
    let world = world();
    let ws = world.outer.path().join("ws");
    fs::create_dir(ws.join("real")).unwrap();
    fs::write(ws.join("real/key"), "inside").unwrap();
    let secret = world.path("secret");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                // A rename replaces the link in one step.
                for target in ["real", &secret] {
                    symlink(target, ws.join("next")).unwrap();
                    fs::rename(ws.join("next"), ws.join("swapped")).unwrap();
                }
            }
        });
        let (mut inside, mut refused) = (0, 0);
        while inside < 100 || refused < 100 {
            match world.workspace.open_file("swapped/key") {
                Ok(mut file) => {
                    let mut text = String::new();
                    file.read_to_string(&mut text).unwrap();
                    assert_eq!(text, "inside");
                    inside += 1;
                }
                Err(_) => refused += 1,
            }
            std::thread::yield_now();
        }
        done.store(true, Ordering::Relaxed);
    });
}

/// Where an edit goes decides whether a standing approval for a folder covers it.
#[test]
fn an_edit_goes_where_the_file_really_is() {
    let world = world();
    fs::create_dir(world.outer.path().join("ws/other")).unwrap();
    fs::write(world.outer.path().join("ws/other/b.txt"), "b").unwrap();
    world.link("other", "aside");
    world.link("../other", "inner/up");
    world.link("other/b.txt", "file");
    world.link("../secret", "out");
    world.link("../extra", "second");
    world.link("nowhere", "dangling");
    world.link("loop", "loop");
    let (absolute, extra) = (world.path("ws/a.txt"), world.path("extra/e.txt"));
    for (path, place) in [
        ("a.txt", Some("a.txt")),
        ("./inner/new.txt", Some("inner/new.txt")),
        (&absolute, Some("a.txt")),
        // Directories that an edit would make.
        ("inner/new/deep/c.txt", Some("inner/new/deep/c.txt")),
        ("brand/new/c.txt", Some("brand/new/c.txt")),
        // Through links.
        ("aside/b.txt", Some("other/b.txt")),
        ("aside/new.txt", Some("other/new.txt")),
        ("aside/new/deep.txt", Some("other/new/deep.txt")),
        ("inner/up/b.txt", Some("other/b.txt")),
        ("file", Some("other/b.txt")),
        ("out/key", None),
        ("out/new.txt", None),
        ("out/new/deep.txt", None),
        ("second/e.txt", None),
        (&extra, None),
        ("dangling", None),
        ("dangling/x", None),
        ("loop", None),
        ("a.txt/x", None),
        // Names that a check and the kernel may read differently.
        ("..", None),
        ("../ws/a.txt", None),
        ("inner/../a.txt", None),
        ("inner/../../secret/key", None),
        ("/etc/passwd", None),
        ("", None),
        (".", None),
        // Other names, not other spellings.
        ("ｉnner/x", Some("ｉnner/x")),
        ("inner\u{200b}/x", Some("inner\u{200b}/x")),
        ("e\u{301}/x", Some("e\u{301}/x")),
    ] {
        assert_eq!(
            world.workspace.edit_place(path).as_deref(),
            place,
            "{path:?}"
        );
    }
}

#[test]
fn a_write_that_was_approved_for_a_folder_stays_in_it() {
    let world = world();
    let at = |path: &str| world.outer.path().join(path);
    fs::create_dir(at("ws/other")).unwrap();
    world.link("../other", "inner/aside");
    world.link("../inner", "other/back");
    let place = |path: &str, folder: Option<&str>| {
        let place = world.workspace.place_in(path, MissingDirs::Create, folder);
        place.map(drop).map_err(|error| error.to_string())
    };
    for (path, folder) in [
        ("inner/new/x.txt", Some("inner")),
        ("other/back/x.txt", Some("inner")),
        ("inner/aside/x.txt", Some("other")),
        ("other/x.txt", Some(".")),
        ("other/x.txt", None),
    ] {
        assert_eq!(place(path, folder), Ok(()), "{path} {folder:?}");
    }
    for (path, folder) in [
        ("other/made/x.txt", "inner"),
        ("inner/aside/made/x.txt", "inner"),
        ("inner/../other/made/x.txt", "inner"),
        ("innermost/made/x.txt", "inner"),
        ("inner", "inner"),
        ("a.txt", "inner"),
    ] {
        let error = place(path, Some(folder)).unwrap_err();
        assert!(error.contains(folder), "{path}: {error}");
    }
    // A refusal makes no directories.
    for made in ["ws/other/made", "ws/innermost"] {
        assert!(!at(made).exists(), "{made}");
    }
}

/// While another thread swaps the folder, no write ends up outside of what was approved.
#[test]
fn a_link_swapped_during_a_write_does_not_lead_out_of_the_folder() {
    let world = world();
    let ws = world.outer.path().join("ws");
    fs::create_dir(ws.join("other")).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                for target in ["inner", "other"] {
                    symlink(target, ws.join("next")).unwrap();
                    fs::rename(ws.join("next"), ws.join("swapped")).unwrap();
                }
            }
        });
        let (mut written, mut refused) = (0, 0);
        while written < 100 || refused < 100 {
            let path = format!("swapped/{written}.txt");
            let folder = Some("inner");
            match world.workspace.place_in(&path, MissingDirs::Refuse, folder) {
                Ok(place) => {
                    place.put(b"x", None).unwrap();
                    written += 1;
                }
                Err(_) => refused += 1,
            }
            std::thread::yield_now();
        }
        done.store(true, Ordering::Relaxed);
        assert_eq!(fs::read_dir(ws.join("inner")).unwrap().count(), written);
    });
    assert_eq!(fs::read_dir(ws.join("other")).unwrap().count(), 0);
}
