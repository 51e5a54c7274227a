"""What an entry needs to talk to the server: input, paths, progress, result.

stdout carries one JSON document at the end and nothing else; progress goes to stderr, one JSON
object per line. Every skill has its own copy of this file, because a skill folder must work alone;
a test keeps the copies equal.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any, Callable

# Between two events that only say that something still moves.
QUIET_SECONDS = 0.5
DETAIL_CHARACTERS_MAX = 300

Input = dict[str, Any]


class SkillError(Exception):
    """A failure that a person can do something about; the text says what happened."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def run(work: Callable[[Input], dict[str, Any]]) -> int:
    """Reads the input, does the work and prints its result; gives the exit code."""
    try:
        result, code = work(read_input()), 0
    except SkillError as error:
        result, code = {"ok": False, "kind": error.kind, "error": str(error)}, 1
    except OSError as error:
        # Its own text may contain an absolute path, which must not leave the machine.
        result, code = {"ok": False, "kind": "io", "error": error.strerror or "input/output"}, 1
    except Exception as error:
        traceback.print_exc()
        result, code = {"ok": False, "kind": "internal", "error": type(error).__name__}, 1
    json.dump(result, sys.stdout)
    sys.stdout.write("\n")
    sys.stdout.flush()
    return code


def read_input() -> Input:
    try:
        given = json.loads(sys.stdin.buffer.read().decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise SkillError("bad_input", f"the input is not JSON: {error}") from None
    if not isinstance(given, dict):
        raise SkillError("bad_input", "the input must be a JSON object")
    return given


# The server checks the input with the schema in SKILL.md. These checks are for the entry run by
# hand, and they give the defaults.


def known_names(given: Input, *names: str) -> None:
    unknown = sorted(set(given) - set(names))
    if unknown:
        raise SkillError("bad_input", f"unknown input: {', '.join(unknown)}")


def text(given: Input, name: str, default: str = "") -> str:
    value = given.get(name, default)
    if not isinstance(value, str) or "\0" in value:
        raise SkillError("bad_input", f"`{name}` must be text")
    return value


def choice(given: Input, name: str, options: tuple[str, ...]) -> str:
    """One of the options; the first is the default."""
    value = text(given, name, options[0])
    if value not in options:
        raise SkillError("bad_input", f"`{name}` must be one of {', '.join(options)}")
    return value


def number(given: Input, name: str, default: int, low: int, high: int) -> int:
    value = given.get(name, default)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise SkillError("bad_input", f"`{name}` must be a whole number from {low} to {high}")
    return value


def texts(given: Input, name: str, default: tuple[str, ...]) -> list[str]:
    value = given.get(name, list(default))
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise SkillError("bad_input", f"`{name}` must be a list of texts")
    return value


def workspace() -> Path:
    return Path(os.environ.get("NETACLAW_WORKSPACE") or os.getcwd()).resolve()


def output_dir() -> Path:
    """Where results go; run by hand, a folder of the skill's name in the workspace."""
    given = os.environ.get("NETACLAW_OUTPUT_DIR")
    skill = Path(__file__).resolve().parents[1].name
    chosen = Path(given) if given else workspace() / "skill-output" / skill
    chosen.mkdir(parents=True, exist_ok=True)
    return chosen.resolve()


def existing(name: str, given: str) -> Path:
    """The file or folder that an input names, which must be in the workspace."""
    try:
        path = (workspace() / given).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        raise SkillError("not_found", f"`{name}` does not exist: {shown(given)}") from None
    if path != workspace() and workspace() not in path.parents:
        raise SkillError("outside_workspace", f"`{name}` is outside the workspace: {shown(given)}")
    return path


def relative(path: Path) -> str:
    """A path as results name it: relative to the workspace, never absolute."""
    return shown(Path(os.path.relpath(path, workspace())).as_posix())


def shown(name: str | bytes) -> str:
    """A file name as people read it: valid Unicode on one line, whatever bytes it is made of."""
    readable = os.fsencode(name).decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in readable)


def write_file(path: Path, contents: str | bytes) -> None:
    """Writes all or nothing, so that a run that is stopped leaves no half report."""
    data = contents.encode("utf-8") if isinstance(contents, str) else contents
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_bytes(data)
    unfinished.replace(path)


class Stage:
    """A stage of the work. Says when it begins and ends, and in between how far it is.

    `share` is the part of the whole work, in percent, that the stage stands for: so the bar moves
    once from 0 to 100, not once for each stage.
    """

    def __init__(self, name: str, message: str, share: tuple[int, int]) -> None:
        self.name = name
        self.message = message
        self.share = share
        self._quiet_until = time.monotonic() + QUIET_SECONDS

    def __enter__(self) -> Stage:
        self._emit("started", self.message, 0.0)
        return self

    def __exit__(self, kind: type | None, *_: object) -> None:
        # How the whole operation failed is for the server to say.
        if kind is None:
            self._emit("completed", self.message, 1.0)

    def batch(
        self, done: int, total: int, message: str, *, part: float | None = None, **more: Any
    ) -> None:
        """A batch is done. `part` tells how much of the stage that is, if batches are uneven."""
        fraction = done / total if part is None else part
        self._emit("running", message, fraction, batch=done, totalBatches=total, **more)

    def moving(self, message: str, *, part: float = 0.0, **more: Any) -> None:
        """Something still moves: said at most twice a second."""
        now = time.monotonic()
        if now >= self._quiet_until:
            self._quiet_until = now + QUIET_SECONDS
            self._emit("running", message, part, **more)

    def warn(self, message: str, **more: Any) -> None:
        """Something went wrong that the work can do without."""
        self._emit("running", message, None, level="warning", **more)

    def end(self, message: str) -> None:
        """What the stage came to; said when it ends."""
        self.message = message

    def _emit(
        self, status: str, message: str, part: float | None, level: str = "info", **more: Any
    ) -> None:
        event: dict[str, Any] = {"type": "process_event", "stage": self.name, "status": status}
        event.update(level=level, message=message, **more)
        if part is not None:
            low, high = self.share
            event["percent"] = round(low + (high - low) * min(max(part, 0.0), 1.0))
        if "detail" in event:
            event["detail"] = str(event["detail"])[:DETAIL_CHARACTERS_MAX]
        # One write for each line, so that lines of helpers never cut into it.
        sys.stderr.write(json.dumps(event) + "\n")
        sys.stderr.flush()
