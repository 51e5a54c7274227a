"""Sends a message over Socket.IO and prints the answer while it is written."""

import asyncio
import os
import sys
import uuid

import socketio

URL = os.environ.get("NETACLAW_URL", "http://127.0.0.1:7300")
TOKEN = os.environ.get("NETACLAW_TOKEN", "")
NAMESPACE = "/netaclaw"


async def main(content: str) -> int:
    socket = socketio.AsyncClient()
    done = asyncio.Event()
    shown = 0

    # A delta can repeat text that has arrived already: print only what is new.
    @socket.on("assistant_stream_delta", namespace=NAMESPACE)
    async def on_delta(event):
        nonlocal shown
        data = event["data"]
        if data["kind"] != "text":
            return
        text = data["text"][max(0, shown - data["offset"]) :]
        print(text, end="", flush=True)
        shown += len(text)

    # Every model call of the run writes a new answer.
    @socket.on("assistant_stream_start", namespace=NAMESPACE)
    async def on_start(_event):
        nonlocal shown
        if shown:
            print()
        shown = 0

    @socket.on("error", namespace=NAMESPACE)
    async def on_error(event):
        print(event["data"]["message"], file=sys.stderr)

    @socket.on("done", namespace=NAMESPACE)
    async def on_done(_event):
        print()
        done.set()

    await socket.connect(URL, namespaces=[NAMESPACE], auth={"token": TOKEN})
    # Without a session id, the message starts a new session; its events arrive on this socket.
    message = {"content": content, "requestId": str(uuid.uuid4())}
    reply = await socket.call("chat", message, namespace=NAMESPACE)
    if reply["ok"]:
        await done.wait()
    else:
        print(f"{reply['code']}: {reply['message']}", file=sys.stderr)
    await socket.disconnect()
    return 0 if reply["ok"] else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "hello")))
