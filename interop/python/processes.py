"""The processes under test: NetaClaw, and a scripted model server."""

import json
import os
import re
import signal
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
BINARY = Path(os.environ.get("NETACLAW_BIN") or TARGET / "debug" / "netaclaw")
FAKE_MODEL = TARGET / "debug" / "examples" / "fake-model"
TOKEN = "a-token-for-this-test"


def environment(**more: str) -> dict:
    """Nothing of the caller's that NetaClaw would read, and nothing found on the machine."""
    kept = {name: value for name, value in os.environ.items() if name in ("HOME", "PATH", "TMPDIR")}
    return {**kept, "LC_ALL": "C.UTF-8", "OLLAMA_HOST": "127.0.0.1:1", **more}


class NetaClaw:
    """A data directory, the commands run on it, and a server if one is started."""

    def __init__(self):
        self.dir = tempfile.TemporaryDirectory(prefix="neta-python-")
        self.data = Path(self.dir.name) / "data"
        self.server = None
        self.url = None

    def command(self, *arguments: str) -> list:
        return [str(BINARY), "--data-dir", str(self.data), *arguments]

    def run(self, *arguments: str, **variables: str) -> str:
        done = subprocess.run(
            self.command(*arguments),
            env=environment(**variables),
            cwd=self.dir.name,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def json(self, *arguments: str):
        return json.loads(self.run(*arguments, "--json"))

    def serve(self) -> None:
        """Starts the server and waits for the line that says it is ready."""
        self.server = subprocess.Popen(
            self.command("serve", "--listen", "127.0.0.1:0"),
            env=environment(NETACLAW_TOKEN=TOKEN),
            cwd=self.dir.name,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        line = self.server.stdout.readline()
        self.url = re.search(r"ready at (http://\S+)", line)[1]

    def close(self) -> None:
        if self.server:
            self.server.send_signal(signal.SIGTERM)
            assert self.server.wait(timeout=30) == 0, "the server ends in order"
            self.server.stdout.close()
        self.dir.cleanup()


class FakeModel:
    """Speaks OpenAI's and Anthropic's API, strictly."""

    def __init__(self):
        assert FAKE_MODEL.exists(), "not built; run `cargo build -p netaclaw-testkit --example fake-model`"
        self.process = subprocess.Popen([FAKE_MODEL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addresses = json.loads(self.process.stdout.readline())

    def tell(self, **command):
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def reply(self, **reply) -> None:
        """The answer to the next request."""
        self.tell(reply=reply)

    def release(self) -> None:
        """Lets answers go on that hold."""
        self.tell(release=True)

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(timeout=30)
        self.process.stdout.close()
