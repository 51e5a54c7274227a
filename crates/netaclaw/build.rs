//! Packs the web app into the binary: every file of `web/dist`, compressed once, with the headers
//! for browsers. Without that directory the binary has no web app. And the skills that are shipped.

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Below this a compressed copy saves less than it costs.
const COMPRESS_BYTES_MIN: usize = 512;

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let web = here.join("../../web");
    let dist = web.join("dist");
    println!("cargo::rerun-if-changed=build.rs");
    // A path that does not exist would run this script, and so build the binary, every time.
    for watched in [&dist, &web] {
        if watched.is_dir() {
            println!("cargo::rerun-if-changed={}", watched.display());
            break;
        }
    }
    let mut files = Vec::new();
    if dist.join("index.html").is_file() {
        collect(&dist, &mut files)?;
        files.sort();
    }
    let mut table = String::from("&[\n");
    for file in &files {
        let inside = file.strip_prefix(&dist).expect("found below it");
        let path = format!("/{}", inside.to_string_lossy().replace('\\', "/"));
        pack(file, &path, &out, &mut table)?;
    }
    table.push(']');
    fs::write(out.join("web_files.rs"), table)?;
    pack_skills(&here.join("../../skills"), &out)
}

/// Packs every folder with a `SKILL.md`, as it is.
fn pack_skills(skills: &Path, out: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", skills.display());
    let mut files = Vec::new();
    for item in fs::read_dir(skills)? {
        let dir = item?.path();
        if dir.join("SKILL.md").is_file() {
            collect(&dir, &mut files)?;
        }
    }
    files.retain(|file| {
        !file
            .components()
            .any(|part| part.as_os_str() == "__pycache__")
    });
    files.sort();
    let (mut table, mut digest) = (String::from("&[\n"), Sha256::new());
    for file in &files {
        let inside = file.strip_prefix(skills).expect("found below it");
        let path = inside.to_string_lossy().replace('\\', "/");
        let content = fs::read(file)?;
        digest.update(path.as_bytes());
        digest.update([0]);
        digest.update(&content);
        let file = file.canonicalize()?;
        writeln!(
            table,
            "SkillFile {{ path: {path:?}, content: include_bytes!({file:?}) }},"
        )
        .expect("a text takes all");
    }
    table.push(']');
    fs::write(out.join("skill_files.rs"), table)?;
    let digest = digest.finalize();
    let tag: String = digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    fs::write(out.join("skill_tag"), tag)
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for item in fs::read_dir(dir)? {
        let path = item?.path();
        match path.is_dir() {
            true => collect(&path, files)?,
            false => files.push(path),
        }
    }
    Ok(())
}

/// Writes the row of one file, and its compressed copies.
fn pack(file: &Path, path: &str, out: &Path, table: &mut String) -> io::Result<()> {
    let plain = fs::read(file)?;
    let digest = Sha256::digest(&plain);
    let tag: String = digest[..12].iter().fold(String::new(), |mut tag, byte| {
        write!(tag, "{byte:02x}").expect("a text takes all");
        tag
    });
    let (content_type, compressible) = content_type(path);
    let worth_it = compressible && plain.len() >= COMPRESS_BYTES_MIN;
    let copy = |ending: &str, bytes: Vec<u8>| -> io::Result<String> {
        if bytes.len() * 20 > plain.len() * 19 {
            return Ok("None".to_owned());
        }
        let copy = out.join(format!("{tag}.{ending}"));
        fs::write(&copy, bytes)?;
        Ok(format!("Some(include_bytes!({copy:?}))"))
    };
    let (brotli, gzip) = match worth_it {
        true => (copy("br", brotli(&plain)?)?, copy("gz", gzip(&plain)?)?),
        false => ("None".to_owned(), "None".to_owned()),
    };
    // Vite puts a hash of the content into the names of all it writes there, and of nothing else.
    let immutable = path.starts_with("/assets/");
    writeln!(
        table,
        "WebFile {{ path: {path:?}, content_type: {content_type:?}, tag: \"\\\"{tag}\\\"\", immutable: {immutable}, \
         plain: include_bytes!({file:?}), brotli: {brotli}, gzip: {gzip} }},"
    )
    .map_err(io::Error::other)
}

/// The best copy there is for what is shipped; a quick one while developing.
fn is_release() -> bool {
    env::var("PROFILE").is_ok_and(|profile| profile == "release")
}

fn brotli(plain: &[u8]) -> io::Result<Vec<u8>> {
    let quality = if is_release() { 11 } else { 4 };
    let mut packed = Vec::new();
    let params = brotli::enc::BrotliEncoderParams {
        quality,
        size_hint: plain.len(),
        ..Default::default()
    };
    brotli::BrotliCompress(&mut &*plain, &mut packed, &params)?;
    Ok(packed)
}

fn gzip(plain: &[u8]) -> io::Result<Vec<u8>> {
    let level = Compression::new(if is_release() { 9 } else { 4 });
    let mut encoder = GzEncoder::new(Vec::new(), level);
    encoder.write_all(plain)?;
    encoder.finish()
}

/// The type by the name's ending, and whether such files get smaller by compressing.
fn content_type(path: &str) -> (&'static str, bool) {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => ("text/html; charset=utf-8", true),
        "js" | "mjs" => ("text/javascript; charset=utf-8", true),
        "css" => ("text/css; charset=utf-8", true),
        "json" | "map" => ("application/json", true),
        "webmanifest" => ("application/manifest+json", true),
        "svg" => ("image/svg+xml", true),
        "txt" => ("text/plain; charset=utf-8", true),
        "wasm" => ("application/wasm", true),
        "ttf" => ("font/ttf", true),
        "woff" => ("font/woff", false),
        "woff2" => ("font/woff2", false),
        "png" => ("image/png", false),
        "jpg" | "jpeg" => ("image/jpeg", false),
        "webp" => ("image/webp", false),
        "gif" => ("image/gif", false),
        "ico" => ("image/x-icon", true),
        _ => ("application/octet-stream", false),
    }
}
