//! How the server ends after a signal.

use crate::served::World;
use netaclaw_testkit::fake_model::Reply;
use rustix::process::Signal;

#[tokio::test]
async fn a_second_signal_does_not_wait_for_what_is_under_way() {
    let world = World::new().await;
    let server = world.serve().await;
    // The model says nothing, so that the run lasts longer than the test.
    let (reply, _silence) = Reply::text("Hello.").holding_after(1);
    world.model.script().push(reply);
    let (_, mut client) = server.session("hello").await;
    server.signal(Signal::TERM);
    client.wait("server_draining", |_| true).await;
    server.signal(Signal::INT);
    assert_eq!(server.ended().await.code(), Some(1));
}

#[tokio::test]
async fn a_server_with_nothing_to_do_ends_at_once() {
    let world = World::new().await;
    let server = world.serve().await;
    server.signal(Signal::INT);
    assert_eq!(server.ended().await.code(), Some(0));
}
