//! More output and larger files than fit anywhere, with the real server: what it takes of memory.

use crate::served::{Server, World};
use netaclaw_testkit::fake_model::Reply;
use serde_json::json;
use std::fs::File;
use std::io::Write;

/// What the process may take at most, beginning with some 60 MB.
const PEAK_KB_MAX: u64 = 300_000;
const LINE: &str = "a line of output that is too much to read\n";

/// The result of the last call, as the model got it.
fn result(world: &World) -> String {
    let asked = world.model.script().last_request().body;
    let messages = asked["messages"].as_array().unwrap();
    let result = messages.iter().rfind(|one| one["role"] == "tool").unwrap();
    result["content"].to_string()
}

fn assert_small(server: &Server, result: &str) {
    assert!(result.len() < 100_000, "{} bytes", result.len());
    let peak = server.peak_memory_kb();
    assert!(peak < PEAK_KB_MAX, "{peak} kB");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_prints_a_gigabyte() {
    let world = World::new().await;
    world.runs(&format!(
        "yes '{}' | head -c 1000000000; echo; echo THE-END",
        LINE.trim()
    ));
    world.model.script().push(Reply::text("Done."));
    let server = world.serve().await;
    let (_, mut client) = server.session("flood").await;
    let done = client.wait("done", |_| true).await;
    assert_eq!(done["data"]["outcome"], "completed", "{done}");
    let result = result(&world);
    assert!(
        result.contains("THE-END"),
        "it ran to its end, which is shown"
    );
    assert_small(&server, &result);
    server.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_five_hundred_megabytes() {
    let world = World::new().await;
    let block = LINE.repeat((1 << 20) / LINE.len());
    let mut file = File::create(world.project().join("large.log")).unwrap();
    let blocks = 500_000_000 / block.len() + 1;
    for _ in 0..blocks {
        file.write_all(block.as_bytes()).unwrap();
    }
    drop(file);
    let lines = blocks * (block.len() / LINE.len());
    let server = world.serve().await;
    let (id, mut client) = {
        let args = json!({"path": "large.log"}).to_string();
        let script = world.model.script();
        script.push(Reply::tool_call("whole", "read", &args));
        script.push(Reply::text("Read."));
        server.session("read it").await
    };
    client.wait_count("done", 1).await;
    let first = result(&world);
    assert!(first.contains(LINE.trim()), "{first}");
    assert_small(&server, &first);

    // Its end, which is half a gigabyte away.
    let args = json!({"path": "large.log", "offset": lines - 1}).to_string();
    let script = world.model.script();
    script.push(Reply::tool_call("end", "read", &args));
    script.push(Reply::text("Read."));
    let chat = json!({"sessionId": id, "content": "and its end"});
    client.call("chat", chat).await;
    client.wait_count("done", 2).await;
    assert_small(&server, &result(&world));
    server.kill().await;
}
