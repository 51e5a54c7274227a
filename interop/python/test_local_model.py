"""A living model on this machine, set up as `make local-model` does, over both of its APIs."""

import os
import signal
import subprocess

import openai
import pytest
from processes import BINARY, ROOT, TOKEN, NetaClaw, environment

# The environment that has the model, which is not the one of the tests.
LOCAL_MODEL_PYTHON = os.environ.get("LOCAL_MODEL_PYTHON") or ROOT / ".cache" / "local-model" / "bin" / "python"
CHANNELS = ["local", "local-anthropic"]
# Long enough that there is something left to stop.
LONG = "Tell me a long story about a fox, a river and a mountain, with many chapters."


@pytest.fixture(scope="module")
def netaclaw():
    """A data directory with the model's channels, and the model beside it."""
    netaclaw = NetaClaw()
    serve = ROOT / "scripts" / "local-model" / "serve.py"
    options = ["--port", "0", "--data-dir", netaclaw.data, "--binary", BINARY]
    model = subprocess.Popen(
        [LOCAL_MODEL_PYTHON, serve, *options],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        # The last of what it says before it waits for Ctrl-C.
        assert any("Ctrl-C" in line for line in model.stdout), "it ended before it was ready"
        yield netaclaw
        model.send_signal(signal.SIGINT)
        assert "has stopped" in model.stdout.read()
        assert model.wait(timeout=30) == 0
    finally:
        model.kill()
        model.wait()
        model.stdout.close()
        netaclaw.close()


def use(netaclaw, channel, tokens=40):
    """Lets the default agent use the channel, for answers of so many tokens."""
    supplier = {view["name"]: view["supplier"] for view in netaclaw.json("channel", "list")}[channel]
    netaclaw.run("channel", "add", channel, "--supplier", supplier, "--default")
    netaclaw.run("agent", "edit", "default", "--set", f"modelConfig.maxTokens={tokens}")


def chat(netaclaw):
    return subprocess.Popen(
        netaclaw.command("chat"),
        env=environment(),
        cwd=netaclaw.dir.name,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def stored_answer(netaclaw, remarks):
    session = remarks.rsplit("--session ", 1)[1].strip()
    entries = netaclaw.json("session", "show", session)["entries"]
    [answer] = [e["message"] for e in entries if e.get("message", {}).get("role") == "assistant"]
    return answer


def test_the_channels_are_there_and_work(netaclaw):
    channels = {view["name"]: view for view in netaclaw.json("channel", "list")}
    for name in CHANNELS:
        [model] = channels[name]["models"]
        assert (model["name"], model["tools"], model["contextWindow"]) == ("smollm2", False, 8192)
        tested = netaclaw.json("channel", "test", name)
        assert tested["ok"] and tested["models"] == ["smollm2"]
    checks = netaclaw.json("doctor")["checks"]
    assert {check["level"] for check in checks if check["check"] in ("agent", "channel")} == {"ok"}


@pytest.mark.parametrize("channel", CHANNELS)
def test_an_answer_is_streamed_and_its_tokens_are_counted(netaclaw, channel):
    use(netaclaw, channel)
    talk = chat(netaclaw)
    out, err = talk.communicate(b"Write one short sentence about the sea.\n", timeout=120)
    assert talk.returncode == 0, err
    assert "does not support tools" in err.decode()
    answer = stored_answer(netaclaw, err.decode())
    assert answer["content"][-1]["text"].strip() == out.decode().strip() != ""
    assert answer["stopReason"] in ("stop", "length")
    usage = answer["usage"]
    assert usage["input"] + usage["cacheRead"] > 50 and usage["output"] > 0, usage


@pytest.mark.parametrize("channel", CHANNELS)
def test_ctrl_c_stops_an_answer_that_has_begun(netaclaw, channel):
    use(netaclaw, channel, tokens=2000)
    talk = chat(netaclaw)
    talk.stdin.write(LONG.encode() + b"\n")
    talk.stdin.flush()
    # The first piece has come, so the rest is on its way.
    first = os.read(talk.stdout.fileno(), 1)
    assert first
    talk.send_signal(signal.SIGINT)
    out, err = talk.communicate(timeout=60)
    assert talk.returncode == 0, err
    answer = stored_answer(netaclaw, err.decode())
    assert answer["stopReason"] == "aborted"
    assert answer["content"][-1]["text"].strip().startswith((first + out).decode(errors="ignore").strip()[:20])


@pytest.mark.parametrize("channel", CHANNELS)
def test_the_server_streams_it_to_the_openai_sdk(netaclaw, channel):
    use(netaclaw, channel)
    if netaclaw.url is None:
        netaclaw.serve()
    with openai.OpenAI(base_url=f"{netaclaw.url}/v1", api_key=TOKEN, max_retries=0, timeout=120) as client:
        stream = client.chat.completions.create(
            model="default",
            messages=[{"role": "user", "content": "Write one short sentence about the sea."}],
            stream=True,
            stream_options={"include_usage": True},
        )
        chunks = list(stream)
    text = [choice.delta.content for chunk in chunks for choice in chunk.choices if choice.delta.content]
    assert len(text) > 1, "in more than one piece"
    assert chunks[-1].usage.completion_tokens > 0
