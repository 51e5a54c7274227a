//! `chat` in a terminal that can move its cursor: what is on the screen after keys, answers, pastes
//! and another size of the window.

use crate::pty::Pty;
use crate::support::Workspace;
use netaclaw_testkit::fake_model::{FakeModel, Hold, Reply};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

const ENTER: &str = "\r";
const LEFT: &str = "\x1b[D";
const UP: &str = "\x1b[A";
const PASTE: &str = "\x1b[200~";
const PASTED: &str = "\x1b[201~";
const CONTROL_C: &str = "\x03";
const CONTROL_D: &str = "\x04";
/// What stands in an empty line.
const EMPTY: &str = "> Message, or / for commands";

struct Desk {
    workspace: Workspace,
    model: FakeModel,
}

impl Desk {
    async fn new() -> Self {
        let mut workspace = Workspace::new();
        for (name, value) in [
            ("OLLAMA_HOST", "127.0.0.1:1"),
            ("TERM", "xterm-256color"),
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ] {
            workspace.set(name, value);
        }
        let model = FakeModel::start().await;
        workspace.out(&format!(
            "channel add fake --supplier compatible --base-url {} --model m --model other --default",
            model.openai_url()
        ));
        Self { workspace, model }
    }

    fn chat(&self, columns: u16, rows: u16) -> Pty {
        let mut chat = Pty::of_size(&self.workspace, "chat", columns, rows);
        chat.shows(EMPTY);
        chat
    }

    fn says(&self, text: &str) {
        self.model.script().push(Reply::text(text));
    }

    fn holds(&self, text: &str) -> Hold {
        let (reply, hold) = Reply::text(text).holding_after(2);
        self.model.script().push(reply);
        hold
    }

    fn asked_last(&self) -> String {
        let asked = self.model.script().requests();
        asked.last().unwrap().last_user_text().to_owned()
    }
}

fn leave(mut chat: Pty) {
    chat.shows(EMPTY);
    chat.keys(CONTROL_D);
    let (status, _) = chat.end();
    assert!(status.success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn arrows_edit_the_line_and_the_history_outlives_the_chat() {
    let desk = Desk::new().await;
    let mut chat = desk.chat(80, 30);
    chat.keys("helo");
    chat.keys(LEFT);
    chat.keys("l");
    chat.shows("> hello");
    desk.says("good day");
    chat.keys(ENTER);
    chat.shows("good day");
    assert_eq!(desk.asked_last(), "hello");
    assert!(!chat.all().contains("^["), "no key is echoed as its code");
    desk.says("noted");
    chat.shows(EMPTY);
    chat.keys("my key is sk-abcdefghijklmnopqrstuvwx");
    chat.keys(ENTER);
    chat.shows("noted");
    leave(chat);

    let file = desk.workspace.path("home/.netaclaw/chat.history");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(!std::fs::read_to_string(&file).unwrap().contains("sk-"));
    let mut chat = desk.chat(80, 30);
    chat.keys(UP);
    chat.shows("> hello");
    chat.keys(CONTROL_C);
    leave(chat);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_chinese_line_wraps_and_can_be_edited() {
    let desk = Desk::new().await;
    let mut chat = desk.chat(40, 20);
    let text: String = "会话树中的每个条目都不可变，因此可以从任意条目继续。".repeat(2);
    chat.keys(&text);
    let screen = chat.screen("the whole line", |screen| {
        let joined: String = screen.lines().map(str::trim).collect();
        joined.contains(&text)
    });
    let width = |row: &str| {
        row.chars()
            .map(|c| 1 + usize::from(!c.is_ascii()))
            .sum::<usize>()
    };
    assert!(screen.lines().all(|row| width(row) <= 40), "{screen}");
    // The last character goes, one before it is changed.
    chat.keys("\x7f");
    chat.keys(LEFT);
    chat.keys("不");
    desk.says("好");
    chat.keys(ENTER);
    chat.shows("好");
    let mut edited: Vec<char> = text.chars().collect();
    edited.pop();
    edited.insert(edited.len() - 1, '不');
    assert_eq!(desk.asked_last(), edited.iter().collect::<String>());
    leave(chat);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_size_of_the_window_leaves_one_line_and_one_status() {
    let desk = Desk::new().await;
    let mut chat = desk.chat(60, 20);
    chat.keys("some words");
    chat.shows("> some words");
    let is_whole = |screen: &str| {
        screen.matches("> some words").count() == 1 && screen.matches("fake/m").count() == 1
    };
    for (columns, rows) in [(100, 30), (45, 12), (80, 24)] {
        chat.resize(columns, rows);
        // A key makes sure that the new size was taken in.
        chat.keys("x");
        chat.shows("> some wordsx");
        chat.keys("\x7f");
        chat.screen("one line and one status", |screen| {
            is_whole(screen) && !screen.contains("wordsx")
        });
    }
    chat.keys(CONTROL_C);
    leave(chat);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_is_shown_before_it_is_allowed_with_one_key() {
    let desk = Desk::new().await;
    desk.workspace
        .out("agent edit default --set approval=always");
    desk.workspace.write("notes.txt", "first\nold line\nlast\n");
    let mut chat = desk.chat(80, 40);
    let read = json!({"path": "notes.txt"}).to_string();
    let edit =
        json!({"path": "notes.txt", "edits": [{"old_text": "old line", "new_text": "new line"}]});
    desk.model
        .script()
        .push(Reply::tool_call("c1", "read", &read));
    desk.model
        .script()
        .push(Reply::tool_call("c2", "edit", &edit.to_string()));
    desk.says("done with it");
    chat.keys("change it");
    chat.keys(ENTER);
    chat.shows("Allow read to run?");
    chat.shows("[y] allow once");
    chat.keys("y");
    chat.shows("Allow edit to run?");
    let screen = chat.shows("[s] allow for this session");
    assert!(
        screen.contains("-old line") && screen.contains("+new line"),
        "{screen}"
    );
    assert!(desk.workspace.read("notes.txt").contains("old line"));
    chat.keys("y");
    let screen = chat.shows("done with it");
    assert!(screen.contains("✓ edit notes.txt · "), "{screen}");
    assert!(!screen.contains("old_text"), "no raw arguments: {screen}");
    assert_eq!(desk.workspace.read("notes.txt"), "first\nnew line\nlast\n");

    // A denial with a reason, which the model reads.
    desk.model
        .script()
        .push(Reply::tool_call("c3", "edit", &edit.to_string()));
    desk.says("so I stop");
    chat.shows(EMPTY);
    chat.keys("again");
    chat.keys(ENTER);
    chat.shows("[r] deny with a reason");
    chat.keys("r");
    chat.shows("The agent reads it");
    chat.keys("it is done already");
    chat.keys(ENTER);
    chat.shows("so I stop");
    let asked = desk.model.script().requests();
    let last = asked.last().unwrap().body["messages"].to_string();
    assert!(last.contains("it is done already"), "{last}");
    leave(chat);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_that_is_being_typed_answers_no_question() {
    let desk = Desk::new().await;
    desk.workspace
        .out("agent edit default --set approval=always");
    let mut chat = desk.chat(80, 40);
    let hold = desk.holds("alpha omega");
    let ls = json!({"path": "."}).to_string();
    chat.keys("first");
    chat.keys(ENTER);
    chat.shows("alpha");
    hold.reached().await;
    desk.model.script().push(Reply::tool_call("c1", "ls", &ls));
    chat.keys("queued");
    chat.keys(ENTER);
    chat.shows("1 queued");
    chat.keys("yes");
    chat.shows("> yes");
    hold.release();
    chat.shows("[y] allow once");
    chat.keys("y");
    let screen = chat.shows("> yesy");
    assert!(
        screen.contains("[y] allow once"),
        "nothing was allowed: {screen}"
    );
    // With an empty line, the key decides.
    chat.keys(CONTROL_C);
    chat.shows(EMPTY);
    desk.says("not then");
    chat.keys("n");
    chat.shows("not then");
    leave(chat);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_is_answered_with_one_key() {
    let desk = Desk::new().await;
    desk.workspace
        .out("agent edit default --set approval=never");
    let mut chat = desk.chat(80, 30);
    let asks = json!({"question": "Which one?", "options": ["red", "blue"]}).to_string();
    desk.model
        .script()
        .push(Reply::tool_call("c1", "clarify", &asks));
    desk.says("so be it");
    chat.keys("choose");
    chat.keys(ENTER);
    let screen = chat.shows("[1–2] choose an option");
    assert!(
        screen.contains("? Which one?") && screen.contains("2. blue"),
        "{screen}"
    );
    chat.keys("2");
    chat.shows("so be it");
    let asked = desk.model.script().requests();
    let last = asked.last().unwrap().body["messages"].to_string();
    assert!(last.contains("blue"), "{last}");
    leave(chat);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn control_c_clears_stops_and_leaves() {
    let desk = Desk::new().await;
    let mut chat = desk.chat(80, 30);
    chat.keys("not meant");
    chat.shows("> not meant");
    chat.keys(CONTROL_C);
    chat.shows(EMPTY);
    let hold = desk.holds("alpha never");
    chat.keys("go");
    chat.keys(ENTER);
    chat.shows("alpha");
    hold.reached().await;
    chat.keys(CONTROL_C);
    chat.shows("stopped");
    desk.says("present");
    chat.shows(EMPTY);
    chat.keys("still there?");
    chat.keys(ENTER);
    chat.shows("present");
    chat.shows(EMPTY);
    chat.keys(CONTROL_C);
    chat.shows("press Ctrl-C again");
    chat.keys(CONTROL_C);
    let (status, _) = chat.end();
    assert!(status.success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_pasted_lines_are_one_message() {
    let desk = Desk::new().await;
    let mut chat = desk.chat(80, 24);
    let lines: Vec<String> = (1..=100).map(|at| format!("line {at} 行")).collect();
    desk.says("long indeed");
    chat.keys(&format!("{PASTE}{}{PASTED}", lines.join("\r")));
    chat.shows("line 100 行");
    assert!(
        desk.model.script().requests().is_empty(),
        "a paste sends nothing"
    );
    chat.keys(ENTER);
    let screen = chat.shows("long indeed");
    assert!(screen.contains("88 more lines"), "{screen}");
    assert_eq!(desk.asked_last(), lines.join("\n"));
    leave(chat);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_is_rendered_and_gives_the_terminal_no_orders() {
    let desk = Desk::new().await;
    let mut chat = desk.chat(60, 40);
    desk.says("# Title\n\nSome **bold** words\x1b]0;owned\x07.\n\n| a | b |\n|---|---|\n| 1 | 二 |\n\n```sh\necho 1\n```\n");
    chat.keys("show");
    chat.keys(ENTER);
    let screen = chat.screen("the answer and its status", |screen| {
        screen.contains("echo 1") && screen.contains("% of ") && screen.contains(EMPTY)
    });
    for part in ["# Title", "Some bold words", "a │ b", "──┼──", "1 │ 二"] {
        assert!(screen.contains(part), "no {part} in\n{screen}");
    }
    for raw in ["**", "```", "|---|"] {
        assert!(!screen.contains(raw), "{raw} in\n{screen}");
    }
    assert_eq!(
        screen.matches("fake/m").count(),
        1,
        "one status line:\n{screen}"
    );
    assert!(!chat.all().contains("\x1b]0;owned"), "the title was set");
    leave(chat);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_complete_ignore_case_and_are_refused_with_a_suggestion() {
    let desk = Desk::new().await;
    let mut chat = desk.chat(90, 40);
    chat.keys("/th");
    chat.shows("/thinking [LEVEL]");
    chat.keys("\t");
    chat.shows("> /thinking ");
    chat.keys("hi\t");
    chat.shows("> /thinking high");
    chat.keys(ENTER);
    chat.shows("thinking level: high");
    chat.keys("/MODEL oth\t");
    chat.shows("> /model fake/other");
    chat.keys(ENTER);
    chat.shows("the next answers come from fake/other");
    desk.says("by another");
    chat.shows(EMPTY);
    chat.keys("who?");
    chat.keys(ENTER);
    chat.shows("by another");
    let asked = desk.model.script().requests();
    assert_eq!(asked.last().unwrap().body["model"], "other");
    chat.shows(EMPTY);
    chat.keys("/modle");
    chat.keys(ENTER);
    chat.shows("did you mean /model?");
    // What was refused can be corrected.
    chat.shows("> /modle");
    chat.keys(CONTROL_C);
    chat.keys("/Compact the plan");
    chat.keys(ENTER);
    chat.shows("not compacted");
    chat.shows(EMPTY);
    chat.keys("/sessions");
    chat.keys(ENTER);
    chat.shows("who?");
    leave(chat);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_color_has_no_styles_and_a_dumb_terminal_gets_lines() {
    let mut desk = Desk::new().await;
    desk.workspace.set("NO_COLOR", "1");
    let mut chat = desk.chat(30, 12);
    desk.says("some `code` in a narrow window that is long enough to wrap");
    chat.keys("go");
    chat.keys(ENTER);
    chat.shows("`code`");
    chat.shows(EMPTY);
    let all = chat.all();
    let codes = all.split("\x1b[").skip(1);
    let mut ends = codes.map(|code| code.trim_start_matches(|c: char| !c.is_ascii_alphabetic()));
    assert!(ends.all(|end| !end.starts_with('m')), "{all:?}");
    leave(chat);

    desk.workspace.set("TERM", "dumb");
    let mut chat = Pty::of_size(&desk.workspace, "chat", 80, 24);
    chat.wait("Type /help");
    chat.wait("> ");
    desk.says("plain");
    chat.line("hello");
    chat.wait("plain");
    chat.wait("\n> ");
    assert!(!chat.all().contains('\x1b'));
    chat.line("/exit");
    assert!(chat.end().0.success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_agent_answers_in_the_same_session() {
    let desk = Desk::new().await;
    desk.workspace.add_agent("coder").await;
    let mut chat = desk.chat(90, 40);
    desk.says("first answer");
    chat.keys("hello");
    chat.keys(ENTER);
    chat.shows("first answer");
    chat.shows(EMPTY);
    chat.keys("/agent codr");
    chat.keys(ENTER);
    chat.shows("did you mean coder?");
    chat.shows(EMPTY);
    chat.keys("/agent coder");
    chat.keys(ENTER);
    chat.shows("coder answers from the next message on");
    desk.says("second answer");
    chat.shows(EMPTY);
    chat.keys("go on");
    chat.keys(ENTER);
    chat.shows("second answer");
    chat.shows("agent: coder");
    let asked = desk.model.script().last_request().body["messages"].to_string();
    assert!(asked.contains("first answer"), "{asked}");
    leave(chat);
    let sessions = desk.workspace.json("session list --json");
    assert_eq!(sessions["total"], 1, "{sessions}");
    let id = sessions["items"][0]["sessionId"].as_str().unwrap();
    let shown = desk.workspace.out(&format!("session show {id}"));
    assert!(shown.contains("agent: coder"), "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn models_that_cannot_chat_are_not_offered() {
    let desk = Desk::new().await;
    desk.workspace.out(&format!(
        "channel add more --supplier compatible --base-url {} --model talks --model text-embedding-3-small --model tts-1",
        desk.model.openai_url()
    ));
    let mut chat = desk.chat(90, 40);
    chat.keys("/model");
    chat.keys(ENTER);
    let screen = chat.shows("more/talks");
    for model in ["embedding", "tts-1"] {
        assert!(!screen.contains(model), "{model} in\n{screen}");
    }
    chat.keys("/model text-embedding-3-small");
    chat.keys(ENTER);
    chat.shows("no channel lists the model text-embedding-3-small");
    leave(chat);
}

/// The model writes a file.
fn write(desk: &Desk, id: &str, path: &str) {
    let args = json!({"path": path, "content": "text"}).to_string();
    desk.model
        .script()
        .push(Reply::tool_call(id, "write", &args));
}

fn send(chat: &mut Pty, text: &str) {
    chat.shows(EMPTY);
    chat.keys(text);
    chat.keys(ENTER);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_than_one_call_is_allowed_with_two_keys() {
    let desk = Desk::new().await;
    let mut chat = desk.chat(100, 50);
    write(&desk, "c1", "notes/a.txt");
    desk.says("first is written");
    send(&mut chat, "write");
    let screen = chat.shows("[m] allow more");
    assert!(
        screen.contains("write notes/a.txt · waiting for approval"),
        "its clock stands still: {screen}"
    );
    chat.keys("m");
    let screen = chat.shows("[3] edits of files below notes/ – This session");
    for part in [
        "[1] all edits in the workspace – This session",
        "[2] all edits in the workspace – All your sessions with this agent",
        "[4] edits of files below notes/ – All your sessions with this agent",
        "[5] every call of Write file – This session",
        "[8] this exact call – All your sessions with this agent",
    ] {
        assert!(screen.contains(part), "no {part} in\n{screen}");
    }
    // One step back, and the question is still open.
    chat.keys("\x1b");
    chat.shows("[m] allow more");
    chat.keys("m");
    chat.shows("[4] edits of files below notes/");
    chat.keys("4");
    chat.shows("first is written");
    write(&desk, "c2", "notes/b.txt");
    desk.says("second is written");
    send(&mut chat, "again");
    chat.shows("second is written");
    assert_eq!(desk.workspace.read("notes/b.txt"), "text");
    // Another folder is asked about.
    write(&desk, "c3", "other/c.txt");
    desk.says("third is written");
    send(&mut chat, "elsewhere");
    chat.shows("[m] allow more");
    chat.keys("m");
    chat.shows("[5] every call of Write file – This session");
    chat.keys("5");
    chat.shows("third is written");
    send(&mut chat, "/approvals");
    chat.shows("1. every call of Write file");
    leave(chat);

    let listed = desk.workspace.out("approval list");
    assert!(
        listed.contains("edits of files below notes/")
            && listed.contains("every call of Write file"),
        "{listed}"
    );
    let all = desk.workspace.json("approval list --json");
    let all = all.as_array().unwrap();
    assert_eq!(all.len(), 2, "{all:?}");
    for approval in all {
        let id = approval["id"].as_str().unwrap();
        desk.workspace.out(&format!("approval revoke {id}"));
    }
    assert_eq!(desk.workspace.json("approval list --json"), json!([]));
    let mut chat = desk.chat(100, 50);
    write(&desk, "c4", "notes/d.txt");
    desk.says("not then");
    send(&mut chat, "and now?");
    chat.shows("[n] deny");
    chat.keys("n");
    chat.shows("not then");
    leave(chat);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edits_are_accepted_for_a_session_until_that_ends() {
    let desk = Desk::new().await;
    let mut chat = desk.chat(100, 50);
    desk.says("good day");
    send(&mut chat, "hello");
    chat.shows("good day");
    send(&mut chat, "/edits");
    chat.shows("edits of files in the workspace need no approval in this session");
    chat.shows("accepts edits");
    write(&desk, "c1", "a.txt");
    desk.says("written");
    send(&mut chat, "write");
    chat.shows("written");
    assert_eq!(desk.workspace.read("a.txt"), "text");
    send(&mut chat, "/edits");
    chat.shows("edits need approval again");
    write(&desk, "c2", "b.txt");
    desk.says("not then");
    send(&mut chat, "another");
    chat.shows("[n] deny");
    chat.keys("n");
    chat.shows("not then");
    leave(chat);
}

/// A message that begins with a slash is sent with one, and comes back as it was typed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_slashes_send_one_and_survive_history_and_refusal() {
    let desk = Desk::new().await;
    desk.workspace.add_agent("coder").await;
    let mut chat = desk.chat(90, 40);
    desk.says("read");
    send(&mut chat, "//etc/hosts");
    chat.shows("read");
    assert_eq!(desk.asked_last(), "/etc/hosts");
    chat.shows(EMPTY);
    chat.keys(UP);
    chat.shows("> //etc/hosts");
    desk.says("once more");
    chat.keys(" again");
    chat.keys(ENTER);
    chat.shows("once more");
    assert_eq!(desk.asked_last(), "/etc/hosts again");
    send(&mut chat, "/agent coder");
    chat.shows("coder answers");
    desk.workspace.delete_agent("coder").await;
    send(&mut chat, "//usr/bin");
    chat.shows("coder");
    chat.shows("> //usr/bin");
    chat.keys(CONTROL_C);
    leave(chat);
}

/// What is repeated of a session says how it ended.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_answer_and_its_calls_are_shown_as_they_ended() {
    let desk = Desk::new().await;
    desk.workspace
        .out("agent edit default --set approval=always");
    let mut chat = desk.chat(90, 40);
    let ls = json!({"path": "."}).to_string();
    desk.model.script().push(Reply::tool_call("c1", "ls", &ls));
    send(&mut chat, "look");
    chat.shows("[y] allow once");
    chat.keys(CONTROL_C);
    let screen = chat.shows("stopped");
    assert!(screen.contains("ls . · not run: no approval"), "{screen}");
    assert!(!screen.contains("✓ ls"), "{screen}");
    let hold = desk.holds("alpha never");
    send(&mut chat, "go");
    chat.shows("alpha");
    hold.reached().await;
    chat.keys(CONTROL_C);
    chat.screen("a second stop", |screen| {
        screen.matches("stopped").count() == 2
    });
    leave(chat);
    let sessions = desk.workspace.json("session list --json");
    let id = sessions["items"][0]["sessionId"].as_str().unwrap();
    let mut chat = Pty::of_size(&desk.workspace, &format!("chat --session {id}"), 90, 40);
    let screen = chat.shows("stopped");
    assert!(screen.contains("alpha"), "{screen}");
    leave(chat);
}

/// The process that was answering is killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_interrupts_an_answer_and_does_not_stop_it() {
    let desk = Desk::new().await;
    let mut chat = desk.chat(90, 40);
    let hold = desk.holds("alpha never");
    send(&mut chat, "go");
    chat.shows("alpha");
    hold.reached().await;
    let sessions = desk.workspace.json("session list --json");
    let id = sessions["items"][0]["sessionId"].as_str().unwrap();
    chat.kill();
    let mut chat = Pty::of_size(&desk.workspace, &format!("chat --session {id}"), 90, 40);
    let screen = chat.shows("Interrupted: ");
    assert!(!screen.contains("\nstopped"), "{screen}");
    leave(chat);
}
