"""Runs an entry as the server does: input on stdin, events on stderr, the result on stdout."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SKILLS = Path(__file__).resolve().parents[1]
# Nothing here takes long; this only keeps a broken entry from blocking the tests.
PATIENCE = 60


@dataclass
class Ended:
    code: int
    result: dict[str, Any]
    events: list[dict[str, Any]]
    logs: list[str]

    def of_stage(self, stage: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["stage"] == stage]

    def stages(self) -> list[str]:
        """The stages in the order in which they began."""
        return [event["stage"] for event in self.events if event["status"] == "started"]

    def warnings(self) -> list[str]:
        return [event["message"] for event in self.events if event["level"] == "warning"]


@dataclass
class Runner:
    """A workspace, and the skills that are run on it."""

    workspace: Path
    scratch: Path
    variables: dict[str, str] = field(default_factory=dict)
    # A command that the entry is run by.
    before: list[str] = field(default_factory=list)

    def start(self, skill: str, **more: Any) -> subprocess.Popen[bytes]:
        environment = {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "PYTHONUNBUFFERED": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "NETACLAW_OPERATION_ID": "op-test",
            "NETACLAW_WORKSPACE": str(self.workspace),
            "NETACLAW_SKILL_DIR": str(SKILLS / skill),
            "NETACLAW_OUTPUT_DIR": str(self.output),
            **self.variables,
        }
        entry = SKILLS / skill / "scripts" / "main.py"
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        command = [*self.before, sys.executable, str(entry)]
        return subprocess.Popen(command, cwd=self.scratch, env=environment, **pipes, **more)

    def run(self, skill: str, given: Any) -> Ended:
        data = given if isinstance(given, bytes) else json.dumps(given).encode()
        process = self.start(skill)
        out, err = process.communicate(data, timeout=PATIENCE)
        return ended(process.returncode, out, err)

    @property
    def output(self) -> Path:
        return self.workspace / "skill-output"

    def read(self, path: str) -> str:
        assert not Path(path).is_absolute()
        return (self.workspace / path).read_text(encoding="utf-8")


def ended(code: int, out: bytes, err: bytes) -> Ended:
    events, logs = [], []
    for line in err.decode().splitlines():
        event = json.loads(line) if line.startswith("{") else None
        if event and event["type"] == "process_event":
            events.append(event)
        else:
            logs.append(line)
    return Ended(code, json.loads(out), events, logs)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    made = Runner(tmp_path / "workspace", tmp_path / "scratch")
    made.workspace.mkdir()
    made.scratch.mkdir()
    return made


def load(skill: str, name: str) -> ModuleType:
    """A module of one skill. Both have modules of the same names, so none stays registered."""
    scripts = str(SKILLS / skill / "scripts")
    before = set(sys.modules)
    sys.path.insert(0, scripts)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(scripts)
        for added in set(sys.modules) - before:
            if (getattr(sys.modules[added], "__file__", None) or "").startswith(scripts):
                del sys.modules[added]
