"""The skills need to write nowhere but in the workspace and where they are started."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import sandbox
from conftest import Runner, load

pytestmark = pytest.mark.skipif(not sandbox.is_available(), reason="no Landlock in this kernel")


@pytest.fixture
def locked_in(runner: Runner) -> Runner:
    folders = [str(runner.workspace), str(runner.scratch)]
    runner.before = [sys.executable, sandbox.__file__, *folders, "--"]
    return runner


def test_a_folder_too_large_to_sort_in_memory(locked_in: Runner):
    deep = locked_in.workspace.joinpath(*("d" * 240 for _ in range(3)))
    deep.mkdir(parents=True)
    for number in range(3000):
        (deep / f"{number:0240}").touch()
    done = locked_in.run("folder-audit", {})
    assert (done.code, done.logs) == (0, [])
    assert done.result["counts"]["files"] == 3000
    assert list(locked_in.scratch.iterdir()) == []


def test_the_vehicle(locked_in: Runner):
    samples, png = (load("vehicle-damage-inspection", name) for name in ("sample_frames", "png"))
    for number in range(2):
        picture = samples.draw(samples.VIEWS[0], (number, 0), has_damage=bool(number))
        (locked_in.workspace / f"{number}.png").write_bytes(png.encode(picture))
    done = locked_in.run("vehicle-damage-inspection", {"source": "."})
    assert (done.code, done.logs) == (0, [])
    assert [finding["frames"] for finding in done.result["findings"]] == [["1.png"]]
    assert Path(locked_in.workspace / done.result["images"][0]["path"]).is_file()
    assert list(locked_in.scratch.iterdir()) == []
