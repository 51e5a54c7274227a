"""python-socketio, unchanged, over both transports."""

import asyncio
from contextlib import asynccontextmanager

import pytest
import socketio
from processes import TOKEN
from socketio.exceptions import ConnectionError as Refused

NAMESPACE = "/netaclaw"
AUTH = {"token": TOKEN, "events": ["current"]}
TRANSPORTS = ["websocket", "polling"]
# Nothing here takes long; this only keeps a broken server from blocking the tests.
PATIENCE = 30


class Client:
    """An AsyncClient that keeps every event and can wait for one."""

    def __init__(self):
        self.socket = socketio.AsyncClient(reconnection=False)
        self.events = []
        self.arrived = asyncio.Condition()
        self.socket.on("*", self.hear, namespace=NAMESPACE)

    async def hear(self, name, event):
        assert event["type"] == name
        async with self.arrived:
            self.events.append(event)
            self.arrived.notify_all()

    async def ask(self, name, **data):
        return await self.socket.call(name, data, namespace=NAMESPACE, timeout=PATIENCE)

    async def wait(self, fits):
        def found():
            return next((event for event in self.events if fits(event)), None)

        async with self.arrived:
            await asyncio.wait_for(self.arrived.wait_for(found), PATIENCE)
            return found()

    def seqs(self):
        return [event["seq"] for event in self.events if "seq" in event]


@asynccontextmanager
async def connected(url, transport, auth=AUTH):
    client = Client()
    await client.socket.connect(url, namespaces=[NAMESPACE], transports=[transport], auth=auth)
    try:
        yield client
    finally:
        await client.socket.disconnect()


def of_type(name):
    return lambda event: event["type"] == name


def streamed(events, kind="text"):
    """The text of the deltas, put together as the protocol says."""
    text = ""
    for event in events:
        data = event["data"]
        if event["type"] in ("assistant_stream_delta", "thinking_delta") and data["kind"] == kind:
            assert data["offset"] <= len(text), "no gap"
            text += data["text"][len(text) - data["offset"] :]
    return text


def answers(snapshot):
    return [entry["message"] for entry in snapshot["entries"] if entry.get("message", {}).get("role") == "assistant"]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_chat_is_acknowledged_streamed_numbered_and_stored(netaclaw, model, transport):
    async def chat():
        said = f"你好, {transport} 👋 with enough words to be sent in more than one piece"
        # The answer waits until the session has been opened, so that all of it is live.
        model.reply(thinking="let me see", text=said, input=12, output=7, holdAfter=1)
        async with connected(netaclaw.url, transport) as client:
            request = f"python-{transport}"
            ack = await client.ask("chat", content="hello", requestId=request)
            assert ack["ok"] and ack["disposition"] == "started", ack
            session = ack["sessionId"]
            opened = await client.ask("session_open", sessionId=session)
            assert opened["ok"], opened
            model.release()
            done = await client.wait(of_type("done"))
            assert done["data"]["outcome"] == "completed"
            assert streamed(client.events) == said
            assert streamed(client.events, "thinking") == "let me see"
            # The client that starts a session is subscribed at once; events before `session_open` are in the snapshot.
            after = [seq for seq in client.seqs() if seq > opened["seq"]]
            assert after and after == list(range(opened["seq"] + 1, opened["seq"] + 1 + len(after))), "no gap"
            snapshot = (await client.ask("session_open", sessionId=session))["snapshot"]
            [answer] = answers(snapshot)
            assert answer["content"][-1]["text"] == said
            assert (answer["usage"]["input"], answer["usage"]["output"]) == (12, 7)

            again = await client.ask("chat", content="hello", requestId=request)
            assert again["deduped"] and again["sessionId"] == session
            other = await client.ask("chat", content="something else", requestId=request)
            assert (other["ok"], other["code"]) == (False, "conflict")

    asyncio.run(chat())


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_stop_ends_a_model_that_hangs(netaclaw, model, transport):
    async def stop():
        gone = model.tell(aborts=0)
        model.reply(text="one two three four five six", hangAfter=3)
        async with connected(netaclaw.url, transport) as client:
            session = (await client.ask("chat", content="count"))["sessionId"]
            opened = await client.ask("session_open", sessionId=session)
            # A model that was not asked yet could not be hung up on.
            if not opened["snapshot"].get("streaming"):
                await client.wait(of_type("assistant_stream_delta"))
            stopped = await client.ask("stop", sessionId=session)
            assert stopped["ok"], stopped
            done = await client.wait(of_type("done"))
            assert done["data"]["outcome"] == "stopped"
            snapshot = (await client.ask("session_open", sessionId=session))["snapshot"]
            assert snapshot["run"]["status"] == "idle"
            # The session goes on.
            model.reply(text="here I am")
            client.events.clear()
            assert (await client.ask("chat", sessionId=session, content="and now?"))["ok"]
            await client.wait(of_type("done"))
            snapshot = (await client.ask("session_open", sessionId=session))["snapshot"]
            assert answers(snapshot)[-1]["content"][-1]["text"] == "here I am"
        assert model.tell(aborts=gone + 1) == gone + 1, "the model was hung up on"

    asyncio.run(stop())


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_client_that_comes_back_gets_what_it_missed(netaclaw, model, transport):
    async def come_back():
        model.reply(text="the whole answer", holdAfter=2)
        async with connected(netaclaw.url, transport) as client:
            session = (await client.ask("chat", content="hello"))["sessionId"]
            opened = await client.ask("session_open", sessionId=session)
            epoch, last = opened["epoch"], max([opened["seq"], *client.seqs()])
        model.release()
        async with connected(netaclaw.url, "polling") as onlooker:
            opened = await onlooker.ask("session_open", sessionId=session)
            if opened["snapshot"]["run"]["status"] != "idle":
                await onlooker.wait(of_type("done"))
        async with connected(netaclaw.url, transport) as client:
            opened = await client.ask("session_open", sessionId=session, epoch=epoch, lastSeq=last)
            assert opened["mode"] == "replay", opened
            await client.wait(of_type("done"))
            missed = client.seqs()
            assert missed == list(range(last + 1, last + 1 + len(missed))), "all of it, once"
            added = [e["data"]["entry"] for e in client.events if e["type"] == "session_entry_added"]
            texts = [e["message"]["content"][-1]["text"] for e in added if e["message"]["role"] == "assistant"]
            assert texts == ["the whole answer"]
            # A client with an unknown epoch gets a snapshot instead of a replay.
            stranger = await client.ask("session_open", sessionId=session, epoch="another", lastSeq=last)
            assert stranger["mode"] == "snapshot"

    asyncio.run(come_back())


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_the_simple_client_chats_in_a_few_lines(netaclaw, model, transport):
    model.reply(text="plain and simple")
    with socketio.SimpleClient() as client:
        client.connect(netaclaw.url, namespace=NAMESPACE, transports=[transport], auth=AUTH)
        ack = client.call("chat", {"content": "hello"}, timeout=PATIENCE)
        assert ack["ok"], ack
        opened = client.call("session_open", {"sessionId": ack["sessionId"]}, timeout=PATIENCE)
        name = None
        if opened["snapshot"]["run"]["status"] != "idle":
            while name != "done":
                name, event = client.receive(timeout=PATIENCE)
                # What is about the list of sessions is about no session in particular.
                assert event.get("sessionId", ack["sessionId"]) == ack["sessionId"]
        opened = client.call("session_open", {"sessionId": ack["sessionId"]}, timeout=PATIENCE)
        assert answers(opened["snapshot"])[0]["content"][-1]["text"] == "plain and simple"


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_refusals_are_typed_and_the_socket_lives(netaclaw, transport):
    async def refuse():
        with pytest.raises(Refused):
            async with connected(netaclaw.url, transport, {"token": "wrong"}):
                pass
        async with connected(netaclaw.url, transport) as client:
            for name, data, code in [
                ("chat", {"content": 5}, "bad_request"),
                ("no_such_event", {}, "bad_request"),
                ("stop", {"sessionId": "nowhere"}, "not_found"),
                ("session_open", {"sessionId": "../../etc"}, "not_found"),
            ]:
                ack = await client.ask(name, **data)
                assert (ack["ok"], ack["code"]) == (False, code), ack
                assert ack["message"]
            assert (await client.ask("ping"))["ok"]

    asyncio.run(refuse())
