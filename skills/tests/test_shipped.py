"""What holds for every skill that is shipped."""

from __future__ import annotations

import re

import pytest
from conftest import SKILLS, Runner, load

SHIPPED = sorted(path.parent.name for path in SKILLS.glob("*/SKILL.md"))
STATUSES = {"started", "running", "completed"}
BAD = [
    (b"", "bad_input"),
    (b"{", "bad_input"),
    (b"\xff\xfe", "bad_input"),
    (b"[" * 100_000, "bad_input"),
    ([], "bad_input"),
    ({"surprise": 1}, "bad_input"),
    ({"language": "xx"}, "bad_input"),
]


def test_there_are_some():
    assert SHIPPED == ["folder-audit", "vehicle-damage-inspection"]


@pytest.mark.parametrize("skill", SHIPPED)
def test_front_matter_names_the_folder_and_an_entry_that_exists(skill):
    front = (SKILLS / skill / "SKILL.md").read_text(encoding="utf-8").split("---\n")[1]
    assert re.search(r"^name: (\S+)$", front, re.M)[1] == skill
    entry = re.search(r"^  entry: (\S+)$", front, re.M)[1]
    assert (SKILLS / skill / entry).is_file()
    description = re.search(r"^description: >-\n((?:  .*\n)+)", front, re.M)[1]
    assert 0 < len(" ".join(description.split())) <= 500


@pytest.mark.parametrize("skill", SHIPPED)
def test_the_helper_is_the_same_everywhere(skill):
    helper = "scripts/skill.py"
    assert (SKILLS / skill / helper).read_text() == (SKILLS / SHIPPED[0] / helper).read_text()


@pytest.mark.parametrize("skill", SHIPPED)
def test_both_languages_say_the_same(skill):
    english, chinese = load(skill, "words").LANGUAGES.values()
    assert english.keys() == chinese.keys()
    for name, text in english.items():
        blanks = re.compile(r"{\w+}")
        assert set(blanks.findall(text)) == set(blanks.findall(chinese[name])), name


@pytest.mark.parametrize("skill", SHIPPED)
@pytest.mark.parametrize(("given", "kind"), BAD)
def test_bad_input_is_a_typed_failure(skill, given, kind, runner: Runner):
    done = runner.run(skill, given)
    assert done.code == 1
    assert (done.result["ok"], done.result["kind"]) == (False, kind)
    assert done.result["error"]
    assert done.events == [] and done.logs == []


def check_events(events):
    """Stages come one by one, each begun and ended; batches count up; the bar only grows."""
    open_stage, percent, batch = None, 0, 0
    for event in events:
        assert event["status"] in STATUSES and event["message"]
        if event["status"] == "started":
            assert open_stage is None
            open_stage, batch = event["stage"], 0
        assert event["stage"] == open_stage
        if "batch" in event:
            assert event["batch"] == batch + 1 <= event["totalBatches"]
            batch = event["batch"]
        assert event.get("percent", percent) >= percent
        percent = event.get("percent", percent)
        if event["status"] == "completed":
            open_stage = None
    assert open_stage is None and percent == 100
