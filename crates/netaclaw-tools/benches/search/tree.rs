//! A project of 100,000 files, the same every time.

use std::fs;
use std::path::Path;

pub(crate) const DIRS: usize = 1_000;
const FILES_IN_DIR: usize = 100;
pub(crate) const FILES: usize = DIRS * FILES_IN_DIR;
/// Files with matches: one in every tenth directory, and in every hundredth a text next to it.
pub(crate) const NEEDLES: usize = DIRS / 10 + NEEDLES_IN_TEXTS;
pub(crate) const NEEDLES_IN_TEXTS: usize = DIRS / 100;

/// Makes the tree and returns how many files it has, those that are ignored not counted.
pub(crate) fn grow(root: &Path) -> usize {
    fs::create_dir(root.join(".git")).unwrap();
    fs::write(root.join(".gitignore"), "target/\n*.log\n").unwrap();
    for dir in 0..DIRS {
        let path = root.join(format!("area_{:02}/part_{:03}", dir % 40, dir));
        fs::create_dir_all(path.join("target")).unwrap();
        fs::write(path.join("target/out.rs"), "needle_in_the_haystack").unwrap();
        fs::write(path.join("noise.log"), "needle_in_the_haystack").unwrap();
        for file in 0..FILES_IN_DIR {
            // Every second one is a source file, 77 among them.
            let ending = if file % 2 == 1 { "rs" } else { "txt" };
            let name = path.join(format!("file_{file:02}.{ending}"));
            fs::write(name, content(dir, file)).unwrap();
        }
    }
    FILES
}

/// Between half a kilobyte and four of lines that look like a program.
fn content(dir: usize, file: usize) -> String {
    let lines = 12 + (dir * 7 + file * 13) % 90;
    let mut text = String::with_capacity(lines * 48);
    for line in 0..lines {
        let number = dir * 31 + file * 17 + line * 7;
        text.push_str(&format!(
            "    let value_{number} = compute(needle, {line}) + {dir};\n"
        ));
    }
    let has_needle =
        (dir.is_multiple_of(10) && file == 31) || (dir.is_multiple_of(100) && file == 42);
    if has_needle {
        text.push_str(&format!("// needle_in_the_haystack number {dir}\n"));
    }
    text
}
