"""The Python examples, run as their README says."""

import subprocess
import sys

from processes import ROOT, TOKEN, environment


def run(name: str, url: str, token: str = TOKEN) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-B", str(ROOT / "examples" / name), "hello"],
        env=environment(NETACLAW_URL=url, NETACLAW_TOKEN=token, PYTHONUTF8="1"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_the_socketio_client_prints_the_answer(netaclaw, model):
    model.reply(thinking="hm", text="你好 👋, one word after the other")
    ran = run("socketio_client.py", netaclaw.url)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == "你好 👋, one word after the other\n"


def test_the_socketio_client_fails_without_a_token(netaclaw):
    ran = run("socketio_client.py", netaclaw.url, token="wrong")
    assert ran.returncode == 1
    assert "Connect" in ran.stderr


def test_the_openai_client_prints_the_answer(netaclaw, model):
    model.reply(text="你好 👋, one word after the other")
    ran = run("openai_client.py", netaclaw.url)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == "你好 👋, one word after the other\n"
