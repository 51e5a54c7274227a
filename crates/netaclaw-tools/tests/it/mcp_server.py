"""An MCP server that does what servers should not, by its standard input and output."""

import json
import sys


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def tool(name):
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    # So it says.
    hints = {"readOnlyHint": True, "destructiveHint": False}
    return {"name": name, "description": f"Does {name}.", "inputSchema": schema, "annotations": hints}


def text(id, text, is_error=False):
    send({"id": id, "result": {"content": [{"type": "text", "text": text}], "isError": is_error}})


def call(id, params):
    name = params["name"]
    if name == "echo":
        text(id, params.get("arguments", {}).get("text", ""))
    elif name == "fail":
        text(id, "it went wrong", True)
    elif name == "refuse":
        send({"id": id, "error": {"code": -32602, "message": "not like this"}})
    elif name == "flood":
        text(id, "x" * (10 << 20))
    elif name == "deluge":
        text(id, "x" * (17 << 20))
    elif name == "garbage":
        sys.stdout.write("this is no JSON\n{\"half\": \n")
        text(id, "behind the garbage")
    elif name == "progress":
        token = params["_meta"]["progressToken"]
        for step in (1, 2):
            send({"method": "notifications/progress", "params": {"progressToken": token, "progress": step, "total": 2, "message": f"step {step}"}})
        text(id, "done")
    elif name == "environment":
        import os

        text(id, json.dumps(dict(os.environ)))
    elif name == "die":
        print("I cannot go on", file=sys.stderr)
        sys.exit(1)
    # "never" is never answered.


TOOLS = ["echo", "fail", "refuse", "flood", "deluge", "garbage", "progress", "environment", "die", "never"]

for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        send({"id": id, "result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "odd", "version": "1"}}})
    elif method == "tools/list":
        send({"id": id, "result": {"tools": [tool(name) for name in TOOLS]}})
    elif method == "tools/call":
        call(id, message["params"])
    elif method == "ping":
        send({"id": id, "result": {}})
    elif id is not None:
        send({"id": id, "error": {"code": -32601, "message": "unknown"}})
