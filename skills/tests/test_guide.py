"""The example of the skill author's guide works as it stands there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PATIENCE, SKILLS, ended

DOCS = SKILLS.parent / "docs"
GUIDES = ["skills.md", "skills.zh.md"]


def blocks(guide: str, language: str) -> list[str]:
    text = (DOCS / guide).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def test_both_guides_have_the_same_example():
    for language in ("markdown", "python"):
        assert blocks(GUIDES[0], language) == blocks(GUIDES[1], language) != []


@pytest.mark.parametrize("guide", GUIDES)
def test_the_example_has_ten_lines(guide):
    (entry,) = blocks(guide, "python")
    assert len(entry.splitlines()) == 10


def test_the_example_runs(tmp_path: Path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.txt").write_text("one two")
    (notes / "b.txt").write_bytes(b"three \xff")
    process = subprocess.run(
        [sys.executable, "-c", blocks(GUIDES[0], "python")[0]],
        env={"NETACLAW_WORKSPACE": str(tmp_path)},
        input=json.dumps({"folder": "notes"}).encode(),
        capture_output=True,
        timeout=PATIENCE,
    )
    done = ended(process.returncode, process.stdout, process.stderr)
    assert (done.code, done.logs) == (0, [])
    assert done.result == {"ok": True, "summary": "4 words in 2 files", "words": 4}
    assert [(event["batch"], event["detail"]) for event in done.events] == [
        (1, "a.txt"),
        (2, "b.txt"),
    ]
    assert {event["totalBatches"] for event in done.events} == {2}
