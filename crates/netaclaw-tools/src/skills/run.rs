//! A skill's program, from its start to one typed end.
//!
//! It gets its input as one JSON document, writes its result as one to its output, and to its
//! errors whatever it has to say meanwhile. Both pipes are read at the same time, and no faster
//! than what comes out of them is taken in: a flood waits in the pipe and slows down its source.

use super::events::{Line, Lines};
use super::{Skill, SkillPlaces, Vision};
use crate::builtin::image_type;
use crate::context::ToolContext;
use crate::execute::blocking;
use crate::output::ToolOutput;
use crate::process::{EndStatus, ProcessEnd, Redactor};
use crate::schema::ArgumentCheck;
use crate::spawn::{ChildEnd, ChildOutput, Program, SpawnError, Started};
use crate::update::{ProcessUpdate, ToolUpdate};
use crate::workspace::Workspace;
use base64::Engine;
use netaclaw_protocol::{ContentBlock, ProcessSource, ProcessStatus};
use secrecy::ExposeSecret;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::time::{Instant, sleep_until};

/// A result that is longer is none.
const RESULT_BYTES_MAX: usize = 4 << 20;
const READ_BYTES: usize = 64 << 10;
/// How long the rest of the pipes is waited for once the program is gone.
const END_MAX: Duration = Duration::from_secs(6);
/// The same after a stop, when nobody waits for more than the end.
const LAST_WORDS: Duration = Duration::from_millis(300);
/// Lines of the log that are kept for a program that failed.
const LOG_LINES: usize = 20;
const LOG_LINE_CHARS: usize = 500;
const IMAGES_MAX: usize = 6;
const IMAGE_BYTES_MAX: u64 = 3 << 20;

/// What to run.
#[derive(Clone, Debug)]
pub struct SkillRun {
    pub name: String,
    pub input: Value,
    pub tool_call_id: String,
}

/// Runs a skill's program and always comes back, with exactly one way it ended.
pub async fn run_skill(run: SkillRun, places: &SkillPlaces, context: &ToolContext) -> ToolOutput {
    let skill = {
        let (places, name) = (places.clone(), run.name.clone());
        match blocking(move || places.ready(&name)).await {
            Ok(skill) => skill,
            Err(why) => return ToolOutput::error(why),
        }
    };
    let Some(entry) = skill.entry.clone() else {
        return ToolOutput::error(format!(
            "The skill `{}` has no program to run. Read it with `read_skill` and do what it says.",
            skill.name
        ));
    };
    if let Err(why) = check_input(&skill, &run.input) {
        return ToolOutput::error(why);
    }
    tell_start(&skill, context).await;
    let ended = match Prepared::new(&skill, &run, places, context).await {
        Err(error) => Ended::not_started(&error),
        Ok(prepared) => match start(&skill, &entry, &run, &prepared, context).await {
            Err(error) => Ended::not_started(&error),
            Ok(started) => watch(started, &run.input, &skill, &prepared, context).await,
        },
    };
    output(&skill, ended, context).await
}

fn check_input(skill: &Skill, input: &Value) -> Result<(), String> {
    let Some(schema) = &skill.input_schema else {
        return Ok(());
    };
    let check = ArgumentCheck::compile(schema)
        .map_err(|why| format!("The skill `{}` cannot be used: {why}.", skill.name))?;
    let fault = check.check(input).err();
    fault.map_or(Ok(()), |fault| {
        Err(format!(
            "The input does not fit the skill `{}`, so it was not started. {fault}",
            skill.name
        ))
    })
}

async fn tell_start(skill: &Skill, context: &ToolContext) {
    let begun = ProcessUpdate {
        source: ProcessSource::Skill,
        status: ProcessStatus::Started,
        message: skill.name.clone(),
        ..ProcessUpdate::default()
    };
    context
        .updates
        .send_waiting(ToolUpdate::Process(begun))
        .await;
}

/// What runs a file, by its name; `None` if it runs itself.
pub(super) fn interpreter(entry: &Path) -> Option<(&'static str, &'static [&'static str])> {
    match entry.extension()?.to_str()? {
        "py" => Some(("python3", &["-B"])),
        "js" | "mjs" | "cjs" => Some(("node", &[])),
        "sh" => Some(("bash", &[])),
        _ => None,
    }
}

/// The surroundings of one run.
struct Prepared {
    /// Gone with the run.
    scratch: TempDir,
    results: Results,
    variables: BTreeMap<String, String>,
    redactor: Redactor,
}

impl Prepared {
    async fn new(
        skill: &Skill,
        run: &SkillRun,
        places: &SkillPlaces,
        context: &ToolContext,
    ) -> Result<Self, SpawnError> {
        let gate = context.spawner.gate.clone();
        let workspace = context.workspace.clone();
        let inside = output_dir(&skill.name, &run.tool_call_id);
        let made = blocking(move || {
            let place = gate.scratch()?.dir().to_owned();
            let scratch = tempfile::Builder::new()
                .prefix("skill-")
                .tempdir_in(place)?;
            Ok::<_, std::io::Error>((scratch, Results::new(&workspace, inside)?))
        });
        let (scratch, results) = made.await?;
        let passed: Vec<(String, String)> = skill
            .env
            .iter()
            .filter_map(|name| {
                let value = super::requires::value(&places.environment, name)?;
                Some((name.clone(), value.to_str()?.to_owned()))
            })
            .collect();
        let vision = places.vision.iter().filter(|_| skill.wants_vision);
        let secrets = vision.clone().filter_map(|vision| vision.key.as_ref());
        let secrets = secrets.map(|key| key.expose_secret().to_owned());
        let redactor = Redactor::new(context.workspace.roots())
            .with_root(&skill.dir)
            .with_root(scratch.path())
            .with_secrets(passed.iter().map(|(_, value)| value.clone()).chain(secrets));
        let vision = vision.flat_map(Vision::variables);
        Ok(Self {
            scratch,
            results,
            variables: passed.into_iter().chain(vision).collect(),
            redactor,
        })
    }
}

async fn start(
    skill: &Skill,
    entry: &Path,
    run: &SkillRun,
    prepared: &Prepared,
    context: &ToolContext,
) -> Result<Started, SpawnError> {
    if context.cancel.is_cancelled() {
        return Err(SpawnError::Other("the run was stopped".to_owned()));
    }
    let entry = entry.to_string_lossy().into_owned();
    let (program, mut args) = match interpreter(Path::new(&entry)) {
        Some((program, flags)) => (
            program.to_owned(),
            flags.iter().map(|flag| (*flag).to_owned()).collect(),
        ),
        None => (entry.clone(), Vec::new()),
    };
    if program != entry {
        args.push(entry);
    }
    let root = context.workspace.root();
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut env = prepared.variables.clone();
    env.extend([
        // Who the steps belong to is decided here and not by what the program says.
        (
            "NETACLAW_OPERATION_ID".to_owned(),
            crate::process::operation_id(&run.tool_call_id),
        ),
        ("NETACLAW_WORKSPACE".to_owned(), text(root)),
        ("NETACLAW_SKILL_DIR".to_owned(), text(&skill.dir)),
        (
            "NETACLAW_OUTPUT_DIR".to_owned(),
            text(&root.join(&prepared.results.inside)),
        ),
        ("NODE_NO_WARNINGS".to_owned(), "1".to_owned()),
    ]);
    let program = Program {
        program,
        args,
        cwd: prepared.scratch.path().to_owned(),
        env,
        takes_input: true,
        merged: false,
    };
    let readable = vec![skill.dir.clone()];
    context
        .spawner
        .start_reading(program, &context.workspace, readable)
        .await
}

/// Why a program was ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stopped {
    Cancelled,
    TimedOut,
}

/// How it went, before anybody is told.
struct Ended {
    end: ProcessEnd,
    /// What the program wrote as its result, if it could be read.
    result: Option<Value>,
    details: Map<String, Value>,
    log: VecDeque<String>,
}

impl Ended {
    fn not_started(error: &SpawnError) -> Self {
        if let SpawnError::Io(cause) = error {
            tracing::warn!(%cause, "a skill could not be started");
        }
        Self {
            end: ProcessEnd {
                status: EndStatus::Failed,
                message: format!("The program was not started: {error}."),
            },
            result: None,
            details: details_of("not_started", None),
            log: VecDeque::new(),
        }
    }
}

fn details_of(ending: &str, end: Option<ChildEnd>) -> Map<String, Value> {
    let mut details = Map::new();
    details.insert("skillEnding".to_owned(), json!(ending));
    if let Some(end) = end {
        details.insert("exitCode".to_owned(), json!(end.code));
        details.insert("signal".to_owned(), json!(end.signal));
    }
    details
}

/// What the program has written so far.
struct Written {
    result: Vec<u8>,
    result_dropped: u64,
    lines: Lines,
    log: VecDeque<String>,
    redactor: Redactor,
}

impl Written {
    fn take_result(&mut self, bytes: &[u8]) {
        let room = RESULT_BYTES_MAX - self.result.len();
        let kept = bytes.len().min(room);
        self.result.extend_from_slice(&bytes[..kept]);
        self.result_dropped += (bytes.len() - kept) as u64;
    }

    /// Waits until everything that these bytes say has been taken in.
    async fn take_errors(&mut self, bytes: Option<&[u8]>, context: &ToolContext) {
        let mut lines = Vec::new();
        match bytes {
            Some(bytes) => self.lines.push(bytes, |line| lines.push(line)),
            None => self.lines.finish(|line| lines.push(line)),
        }
        let mut shown = String::new();
        for line in lines {
            match line {
                Line::Event(update) => {
                    flush(&mut shown, context);
                    let update = self.masked(*update);
                    context
                        .updates
                        .send_waiting(ToolUpdate::Process(update))
                        .await;
                }
                Line::Log(text) => {
                    let text = self.redactor.text(&text);
                    shown.push_str(&text);
                    shown.push('\n');
                    self.keep(&text);
                }
            }
        }
        flush(&mut shown, context);
    }

    /// Values given in confidence are taken out here, where they are known.
    fn masked(&self, mut update: ProcessUpdate) -> ProcessUpdate {
        let mask = |text: String| self.redactor.text(&text);
        update.message = self.redactor.text(&update.message);
        update.detail = update.detail.map(mask);
        update.stage = update.stage.map(mask);
        update.task_id = update.task_id.map(mask);
        update.payload = self.redactor.payload(std::mem::take(&mut update.payload));
        update
    }

    fn keep(&mut self, text: &str) {
        if self.log.len() == LOG_LINES {
            self.log.pop_front();
        }
        self.log
            .push_back(text.chars().take(LOG_LINE_CHARS).collect());
    }
}

fn flush(shown: &mut String, context: &ToolContext) {
    if !shown.is_empty() {
        let text = std::mem::take(shown);
        context.updates.send(ToolUpdate::Output(text));
    }
}

async fn watch(
    started: Started,
    input: &Value,
    skill: &Skill,
    prepared: &Prepared,
    context: &ToolContext,
) -> Ended {
    let Started {
        mut process,
        input: stdin,
        output,
    } = started;
    let ChildOutput::Separate {
        mut stdout,
        mut stderr,
    } = output
    else {
        unreachable!("two pipes were asked for");
    };
    let mut written = Written {
        result: Vec::new(),
        result_dropped: 0,
        lines: Lines::default(),
        log: VecDeque::new(),
        redactor: prepared.redactor.clone(),
    };
    let (mut out_buffer, mut err_buffer) = (vec![0; READ_BYTES], vec![0; READ_BYTES]);
    let (mut out_open, mut err_open) = (true, true);
    let mut end: Option<ChildEnd> = None;
    let mut stopped = None;
    let mut give_up = None;
    let deadline = Instant::now() + skill.timeout;
    let mut feeding = Box::pin(feed(stdin, input.to_string()));
    let mut fed = false;
    while out_open || err_open || end.is_none() {
        tokio::select! {
            () = &mut feeding, if !fed => fed = true,
            read = stdout.read(&mut out_buffer), if out_open => match read {
                Ok(count @ 1..) => written.take_result(&out_buffer[..count]),
                _ => out_open = false,
            },
            read = stderr.read(&mut err_buffer), if err_open => match read {
                Ok(count @ 1..) => {
                    let taking = written.take_errors(Some(&err_buffer[..count]), context);
                    tokio::select! {
                        () = taking => {}
                        // Whoever takes the steps in is gone with the run.
                        () = context.cancel.cancelled() => {}
                    }
                }
                _ => err_open = false,
            },
            ended = process.wait(), if end.is_none() => {
                end = Some(ended);
                give_up = Some(Instant::now() + END_MAX);
            }
            () = context.cancel.cancelled(), if stopped != Some(Stopped::Cancelled) => {
                process.stop();
                stopped = Some(Stopped::Cancelled);
                give_up = Some(Instant::now() + LAST_WORDS);
            }
            () = sleep_until(deadline), if stopped.is_none() && end.is_none() => {
                process.stop();
                stopped = Some(Stopped::TimedOut);
                give_up = Some(Instant::now() + END_MAX);
            }
            () = until(give_up) => break,
        }
    }
    if stopped != Some(Stopped::Cancelled) {
        written.take_errors(None, context).await;
    }
    judge(skill, written, end, stopped)
}

/// A program that does not read its input is free not to.
async fn feed(pipe: Option<pipe::Sender>, input: String) {
    if let Some(mut pipe) = pipe
        && let Err(error) = pipe.write_all(input.as_bytes()).await
    {
        tracing::debug!(%error, "a skill did not read its input");
    }
}

async fn until(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

fn judge(
    skill: &Skill,
    written: Written,
    end: Option<ChildEnd>,
    stopped: Option<Stopped>,
) -> Ended {
    let text = String::from_utf8_lossy(&written.result);
    let text = written.redactor.values(text.trim());
    let result: Option<Value> = match written.result_dropped {
        0 => serde_json::from_str(&text).ok(),
        _ => None,
    };
    let failed = EndStatus::Failed;
    let said_error = result
        .as_ref()
        .and_then(|result| result.get("error")?.as_str())
        .map(|said| written.redactor.text(said));
    let says_no = result.as_ref().is_some_and(|result| result["ok"] == false);
    let because = said_error
        .clone()
        .map_or(String::new(), |said| format!(" {said}"));
    let (ending, status, message) = match (stopped, end) {
        (Some(Stopped::Cancelled), _) => ("cancelled", EndStatus::Cancelled, "Stopped.".to_owned()),
        (Some(Stopped::TimedOut), _) => {
            let seconds = skill.timeout.as_secs();
            (
                "timed_out",
                failed,
                format!("It did not end within {seconds} s and was ended."),
            )
        }
        (
            None,
            Some(ChildEnd {
                signal: Some(signal),
                ..
            }),
        ) => (
            "signal",
            failed,
            format!("The program was ended by signal {signal}.{because}"),
        ),
        (
            None,
            Some(ChildEnd {
                code: Some(code @ 1..),
                ..
            }),
        ) => (
            "exit_code",
            failed,
            format!("The program failed with exit code {code}.{because}"),
        ),
        (None, None) | (None, Some(ChildEnd { code: None, .. })) => (
            "unknown",
            failed,
            "How the program ended is not known.".to_owned(),
        ),
        _ if written.result_dropped > 0 => {
            let most = RESULT_BYTES_MAX >> 20;
            (
                "bad_result",
                failed,
                format!("The result is longer than {most} MiB."),
            )
        }
        _ if result.is_none() && text.is_empty() => (
            "bad_result",
            failed,
            "The program ended without a result.".to_owned(),
        ),
        _ if result.is_none() => (
            "bad_result",
            failed,
            "The result is not a JSON document.".to_owned(),
        ),
        _ if says_no => {
            let said = said_error.unwrap_or_else(|| "It says that it failed.".to_owned());
            ("failed", failed, said)
        }
        _ => ("completed", EndStatus::Completed, "Done.".to_owned()),
    };
    let mut details = details_of(ending, end);
    if written.lines.dropped > 0 {
        details.insert("logBytesDropped".to_owned(), json!(written.lines.dropped));
    }
    Ended {
        end: ProcessEnd { status, message },
        result,
        details,
        log: written.log,
    }
}

/// What the model reads and people see.
async fn output(skill: &Skill, ended: Ended, context: &ToolContext) -> ToolOutput {
    let Ended {
        end,
        result,
        mut details,
        log,
    } = ended;
    details.insert("skill".to_owned(), json!(skill.name));
    let mut text = String::new();
    if end.status != EndStatus::Completed {
        text.push_str(&format!("[{}]\n", end.message));
        let log: Vec<String> = log.into();
        if !log.is_empty() {
            text.push_str("The last lines of its log:\n");
            text.push_str(&log.join("\n"));
            text.push('\n');
        }
    }
    let images = match &result {
        Some(result) if end.status == EndStatus::Completed => images(result, context).await,
        _ => Vec::new(),
    };
    if let Some(result) = &result {
        let whole = serde_json::to_string_pretty(result).unwrap_or_default();
        text.push_str(&whole);
    }
    if text.is_empty() {
        text.push_str("(no output)");
    }
    let mut content = vec![ContentBlock::Text { text }];
    content.extend(images);
    ToolOutput {
        content,
        details: Some(Value::Object(details)),
        is_error: end.status != EndStatus::Completed,
        process_end: Some(end),
    }
}

/// The pictures that a result names, from inside of the workspace.
async fn images(result: &Value, context: &ToolContext) -> Vec<ContentBlock> {
    let named = result.get("images").and_then(Value::as_array);
    let paths: Vec<String> = named
        .into_iter()
        .flatten()
        .filter_map(|image| image.as_str().or_else(|| image.get("path")?.as_str()))
        .take(IMAGES_MAX)
        .map(str::to_owned)
        .collect();
    if paths.is_empty() {
        return Vec::new();
    }
    let workspace = context.workspace.clone();
    let read = move || {
        let read = |path: &String| {
            let file = workspace.open_file(path).ok()?;
            let mut bytes = Vec::new();
            file.take(IMAGE_BYTES_MAX + 1)
                .read_to_end(&mut bytes)
                .ok()?;
            let fits = bytes.len() as u64 <= IMAGE_BYTES_MAX;
            let mime_type = image_type(&bytes).filter(|_| fits)?;
            Some(ContentBlock::Image {
                data: base64::engine::general_purpose::STANDARD.encode(&bytes),
                mime_type: mime_type.to_owned(),
            })
        };
        paths.iter().filter_map(read).collect()
    };
    // People see them in any case; a model that cannot see is told so when it is asked.
    blocking(read).await
}

/// The directory for the results of one call. The server makes it: a program may be allowed to write
/// there and not beside it.
struct Results {
    workspace: cap_std::fs::Dir,
    /// Relative to the workspace.
    inside: PathBuf,
}

impl Results {
    fn new(workspace: &Workspace, inside: PathBuf) -> std::io::Result<Self> {
        let opened = workspace.open_dir(".");
        let workspace = opened.map_err(|_| std::io::ErrorKind::NotFound)?;
        workspace.create_dir_all(&inside)?;
        Ok(Self { workspace, inside })
    }
}

impl Drop for Results {
    /// Where nothing was put, nothing is left.
    fn drop(&mut self) {
        let dirs = self.inside.ancestors();
        for dir in dirs.filter(|dir| !dir.as_os_str().is_empty()) {
            if self.workspace.remove_dir(dir).is_err() {
                return;
            }
        }
    }
}

/// The directory that a call puts its results into, relative to the workspace. Ids of calls come
/// from models, so only what is harmless in a name is used of them.
fn output_dir(skill: &str, tool_call_id: &str) -> PathBuf {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let call: String = tool_call_id
        .chars()
        .filter(|c| plain(*c))
        .take(64)
        .collect();
    let call = match call.as_str() {
        "" => "call",
        call => call,
    };
    Path::new("skill-output").join(skill).join(call)
}
