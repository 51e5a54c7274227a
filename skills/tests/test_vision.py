"""The vehicle damage inspection with a model that sees: a server of our own plays the model."""

from __future__ import annotations

import base64
import json
import shutil
import signal
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from conftest import PATIENCE, Runner, load
from test_shipped import check_events

SKILL = "vehicle-damage-inspection"
KEY = "sk-marker-of-this-test"
png = load(SKILL, "png")
samples = load(SKILL, "sample_frames")
DENT = {
    "frame": 1,
    "kind": "dent",
    "box": [0.25, 0.5, 0.5, 0.75],
    "confidence": 0.8,
    "description": "a dent [in](the) *door*",
}


class Model:
    """Gives scripted answers and records the requests."""

    def __init__(self) -> None:
        self.requests: list[dict] = []
        self.headers: list[dict] = []
        self.answers: list = []
        self.asked = threading.Event()
        self.go_on = threading.Event()
        self.go_on.set()
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                model.requests.append({"path": self.path, **json.loads(body)})
                model.headers.append(dict(self.headers))
                model.asked.set()
                model.go_on.wait(PATIENCE)
                status, content, headers = model.next_answer()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/v1"

    def next_answer(self) -> tuple[int, bytes, dict[str, str]]:
        """The next scripted answer; the last one is repeated."""
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, tuple):
            return answer
        return 200, json.dumps({"choices": [{"message": {"content": answer}}]}).encode(), {}

    def close(self) -> None:
        self.go_on.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def model():
    made = Model()
    yield made
    made.close()


@pytest.fixture
def inspect(runner: Runner, model: Model, sample_views: Path, tmp_path: Path):
    runner.variables.update(
        PATH=str(tmp_path),
        NETACLAW_VISION_URL=model.url,
        NETACLAW_VISION_MODEL="eye-1",
        NETACLAW_VISION_KEY=KEY,
    )
    shutil.copytree(sample_views, runner.workspace / "frames")

    def run(**given):
        done = runner.run(SKILL, {"source": "frames", "batchFrames": 2, **given})
        written = [file.read_bytes() for file in runner.output.iterdir()]
        assert KEY.encode() not in json.dumps([done.result, done.events]).encode()
        assert not any(KEY.encode() in contents for contents in written)
        return done

    return run


@pytest.fixture(scope="module")
def sample_views(tmp_path_factory) -> Path:
    """The same side twice before and twice after it was scratched: four frames."""
    folder = tmp_path_factory.mktemp("views")
    view = samples.VIEWS[0]
    for number, (has_damage, drift) in enumerate(
        [(False, (0, 0)), (False, (2, 1)), (True, (1, -1)), (True, (-2, 0))], 1
    ):
        picture = samples.draw(view, drift, has_damage)
        (folder / f"{number}.png").write_bytes(png.encode(picture))
    return folder


def findings(*entries: dict) -> str:
    return json.dumps({"findings": list(entries)})


def test_the_model_is_asked_in_batches_and_named_in_the_report(inspect, model, runner: Runner):
    model.answers = ["Here you are:\n```json\n" + findings(DENT) + "\n```", findings()]
    done = inspect()
    assert done.code == 0
    check_events(done.events)
    (found,) = done.result["findings"]
    assert (found["kind"], found["confidence"], found["frame"]) == ("dent", 0.8, "1.png")
    assert found["evidence"] == "vision"
    # The box of the request, within the margin around it.
    assert found["box"]["left"] == pytest.approx(0.25, abs=0.03)
    assert found["box"]["bottom"] == pytest.approx(0.75, abs=0.03)
    assert done.result["method"] == "vision"
    report = runner.read(done.result["report"])
    assert "4 frames were looked at by the model eye-1" in report
    assert "trained detector" not in report
    assert r"a dent \[in\](the) \*door\*" in report

    assert [request["path"] for request in model.requests] == ["/v1/chat/completions"] * 2
    assert {request["model"] for request in model.requests} == {"eye-1"}
    assert model.headers[0]["Authorization"] == f"Bearer {KEY}"
    parts = model.requests[0]["messages"][1]["content"]
    images = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    kind, _, data = images[1].partition(",")
    assert (len(images), kind) == (2, "data:image/png;base64")
    assert png.decode(base64.b64decode(data)).width == 480


def test_nonsense_in_an_answer_is_left_out(inspect, model):
    bad = [
        {**DENT, "frame": 9},
        {**DENT, "frame": "one"},
        {**DENT, "box": [0, 0, 480, 270]},
        {**DENT, "box": [0.5, 0.5, 0.4, 0.6]},
        {**DENT, "box": [0, 0, 1, 1]},
        {**DENT, "box": None},
        "a dent",
        {},
    ]
    odd = {**DENT, "frame": 2, "kind": "meteorite", "confidence": float("nan"), "description": None}
    model.answers = [findings(*bad, odd), findings()]
    (found,) = inspect().result["findings"]
    assert (found["kind"], found["confidence"], found["frames"]) == ("other", 0.5, ["2.png"])


@pytest.mark.parametrize(
    "answer",
    [
        (500, b"", {}),
        (429, b"", {"Retry-After": "0"}),
        (401, b"no", {}),
        (302, b"", {"Location": "http://127.0.0.1:1/"}),
        (200, b"<html>", {}),
        "I cannot help with that.",
        '{"findings": "none"}',
    ],
)
def test_a_model_that_fails_is_replaced_and_that_is_said(inspect, model, runner: Runner, answer):
    model.answers = [answer]
    done = inspect()
    assert done.code == 0
    assert done.result["method"] == "image_comparison"
    assert "The model failed for 4 frames" in runner.read(done.result["report"])
    # Two batches, each asked for twice.
    assert len(model.requests) == 4
    assert len(done.warnings()) == 2
    check_events(done.events)


def test_a_batch_that_fails_does_not_spoil_the_others(inspect, model, runner: Runner):
    model.answers = [(500, b"", {}), (500, b"", {}), findings(DENT)]
    done = inspect()
    assert done.result["method"] == "mixed"
    assert [f["frames"][0] for f in done.result["findings"]] == ["3.png"]
    report = runner.read(done.result["report"])
    assert "2 frames were looked at by the model" in report
    assert "2 frames were looked at by image comparison" in report


def test_a_second_attempt_may_succeed(inspect, model):
    model.answers = [(503, b"", {"Retry-After": "0"}), findings(DENT), findings()]
    done = inspect()
    assert (done.result["method"], len(done.result["findings"])) == ("vision", 1)
    assert done.warnings() == []


def test_who_insists_on_the_model_gets_no_other(inspect, model):
    model.answers = [(500, b"", {})]
    done = inspect(detector="vision")
    assert (done.code, done.result["kind"]) == (1, "vision_failed")
    assert "500" in done.result["error"]


def test_who_wants_comparison_does_not_send_pictures_anywhere(inspect, model):
    assert inspect(detector="comparison").result["method"] == "image_comparison"
    assert model.requests == []


def test_nobody_at_the_address(inspect, runner: Runner):
    runner.variables["NETACLAW_VISION_URL"] = "http://127.0.0.1:1/v1"
    assert inspect().result["method"] == "image_comparison"


def test_sigterm_while_the_model_thinks(inspect, model, runner: Runner):
    model.answers = [findings()]
    model.go_on.clear()
    process = runner.start(SKILL)
    process.stdin.write(b'{"source": "frames"}')
    process.stdin.close()
    assert model.asked.wait(PATIENCE)
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == -signal.SIGTERM
    assert list(runner.output.iterdir()) == []
    process.stdout.close()
    process.stderr.close()
