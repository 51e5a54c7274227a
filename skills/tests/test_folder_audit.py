from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from conftest import PATIENCE, Runner, load
from test_shipped import check_events

SKILL = "folder-audit"
STAGES = ["scan", "hash", "compare", "report"]


@pytest.fixture
def folder(runner: Runner) -> Path:
    """Equal files, a hard link, an empty file, broken links, a loop, a pipe, odd names."""
    folder = runner.workspace / "folder"
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "one").write_bytes(b"same contents")
    (folder / "deep" / "two").write_bytes(b"same contents")
    (folder / "deep" / "er" / "other").write_bytes(b"SAME CONTENTS")
    os.link(folder / "one", folder / "deep" / "one again")
    (folder / "empty").touch()
    (folder / "big").write_bytes(b"x" * 5000)
    (folder / "broken").symlink_to("nowhere")
    (folder / "loop").symlink_to("loop")
    (folder / "deep" / "up").symlink_to("..")
    os.mkfifo(folder / "pipe")
    (folder / ".git").mkdir()
    (folder / ".git" / "copy").write_bytes(b"same contents")
    odd = os.path.join(os.fsencode(folder), b"odd \xff|`\n")
    with open(odd, "wb") as file:
        file.write(b"odd")
    return folder


def test_finds_what_is_there(runner: Runner, folder: Path):
    done = runner.run(SKILL, {"folder": "folder", "bigFileBytes": 5000})
    assert (done.code, done.logs) == (0, [])
    result = done.result
    assert result["ok"] and result["complete"]
    assert result["counts"] == {
        "files": 7,
        "folders": 3,
        "links": 3,
        "bytes": 4 * 13 + 5000 + 3,
        "unread": 0,
        "duplicateGroups": 1,
        "duplicateBytes": 13,
        "empty": 1,
        "big": 1,
        "brokenLinks": 2,
        "unreadable": 0,
        "special": 1,
    }
    assert result["duplicates"] == [{"wasted": 13, "paths": ["deep/one again", "deep/two", "one"]}]
    assert result["brokenLinks"] == ["broken", "loop"]
    data = json.loads(runner.read(result["data"]))
    assert data["big"] == [{"path": "big", "size": 5000}]
    assert data["empty"] == ["empty"]
    assert data["special"] == ["pipe"]
    listing = [json.loads(line) for line in runner.read("skill-output/files.jsonl").splitlines()]
    assert {"pathHex": b"odd \xff|`\n".hex()}.items() <= listing[-2].items()
    assert listing[-1]["path"] == "one"


def test_reports_for_people_in_both_languages(runner: Runner, folder: Path):
    (folder / "a|b`c").touch()
    english = runner.run(SKILL, {"folder": "folder"})
    report = runner.read(english.result["report"])
    assert english.result["summary"] in report
    assert "| 13 bytes | 13 bytes | 2 | `deep/one again`, `deep/two`, `one` |" in report
    assert "- `a¦bˋc`" in report
    assert "`loop`: a loop of links" in report
    chinese = runner.run(SKILL, {"folder": "folder", "language": "zh"})
    assert "个文件" in chinese.result["summary"]
    assert chinese.result["counts"] == english.result["counts"]


def test_events_tell_stages_and_batches(runner: Runner, folder: Path):
    done = runner.run(SKILL, {"folder": "folder", "batchFiles": 2})
    assert done.stages() == STAGES
    check_events(done.events)
    batches = [event["batch"] for event in done.of_stage("hash") if "batch" in event]
    assert batches == [1, 2, 3]


def test_many_files_make_no_flood(runner: Runner):
    for number in range(3000):
        (runner.workspace / f"file {number}").write_bytes(b"%d" % number)
    done = runner.run(SKILL, {"batchFiles": 1})
    assert done.result["counts"]["files"] == 3000
    batches = [event for event in done.of_stage("hash") if "batch" in event]
    assert len(batches) == 50
    check_events(done.events)


def test_compares_with_an_earlier_audit(runner: Runner, folder: Path):
    first = runner.run(SKILL, {"folder": "folder"}).result
    earlier = runner.workspace / "earlier"
    runner.output.rename(earlier)
    same = runner.run(SKILL, {"folder": "folder", "previous": "earlier"}).result
    assert [same["counts"][name] for name in ("added", "changed", "removed")] == [0, 0, 0]

    (folder / "new").write_bytes(b"new")
    (folder / "deep" / "two").write_bytes(b"same_contents")
    (folder / "big").unlink()
    done = runner.run(SKILL, {"folder": "folder", "previous": "earlier/audit.json"})
    assert done.code == 0 and first["ok"]
    assert done.result["added"] == ["new"]
    assert done.result["changed"] == ["deep/two"]
    assert done.result["removed"] == ["big"]
    check_events(done.events)


def test_reports_of_skills_are_left_out_unless_asked_for(runner: Runner):
    first = runner.run(SKILL, {}).result["counts"]["files"]
    again = runner.run(SKILL, {}).result["counts"]["files"]
    (runner.output / "other").mkdir()
    (runner.output / "other" / "report.md").touch()
    asked_for = runner.run(SKILL, {"exclude": [], "folder": "skill-output/other"})
    assert (first, again, asked_for.result["counts"]["files"]) == (0, 0, 1)


def test_a_partial_audit_does_not_call_the_rest_removed(runner: Runner, folder: Path):
    runner.run(SKILL, {"folder": "folder"})
    runner.output.rename(runner.workspace / "earlier")
    done = runner.run(SKILL, {"folder": "folder", "previous": "earlier", "maxFiles": 2})
    assert done.result["complete"] is False
    assert done.result["counts"]["files"] == 2
    assert done.result["removed"] is None
    assert any("maxFiles" in message for message in done.warnings())


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"folder": "missing"}, "not_found"),
        ({"folder": ".."}, "outside_workspace"),
        ({"folder": "/"}, "outside_workspace"),
        ({"folder": "a\0b"}, "bad_input"),
        ({"folder": "file"}, "bad_input"),
        ({"folder": 1}, "bad_input"),
        ({"batchFiles": 0}, "bad_input"),
        ({"batchFiles": True}, "bad_input"),
        ({"exclude": "x"}, "bad_input"),
        ({"previous": "file"}, "bad_input"),
        ({"previous": "."}, "not_found"),
    ],
)
def test_refuses(runner: Runner, given, kind):
    (runner.workspace / "file").write_text("[]")
    done = runner.run(SKILL, given)
    assert (done.code, done.result["kind"]) == (1, kind)
    assert str(runner.workspace) not in json.dumps(done.result)


def test_a_link_out_of_the_workspace_is_refused(runner: Runner):
    (runner.workspace / "out").symlink_to(runner.scratch)
    assert runner.run(SKILL, {"folder": "out"}).result["kind"] == "outside_workspace"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_files_and_folders_are_told(runner: Runner, folder: Path):
    (folder / "one").chmod(0)
    (folder / "deep").chmod(0)
    try:
        done = runner.run(SKILL, {"folder": "folder"})
    finally:
        (folder / "deep").chmod(0o700)
    assert done.code == 0
    assert done.result["unreadable"] == ["deep", "one"]


def test_what_fails_while_it_is_read_is_told(runner: Runner, folder: Path):
    """Also as root: a file that went away after the scan, one that grew, one that is now a link."""
    catalogue_module, hashing_module = load(SKILL, "catalogue"), load(SKILL, "hashing")
    catalogue = catalogue_module.Catalogue(runner.scratch / "db")
    sizes = {b"gone": 3, b"big": 4999, b"loop": 3, b"pipe": 3, b"one": 13}
    catalogue.add_files(
        catalogue_module.Found(path, size, 0, number)
        for number, (path, size) in enumerate(sizes.items())
    )
    catalogue.prepare_hashing()
    hashing = hashing_module.Hashing(os.fsencode(folder), catalogue, lambda: False, 10, 10)
    assert hashing.run(lambda: None, lambda path: None)
    count, troubles = catalogue.troubles("unreadable", 10)
    assert count == 4
    assert [path for path, _ in troubles] == [b"big", b"gone", b"loop", b"pipe"]
    assert catalogue.unread() == 4
    assert hashing.part() == 1


def test_a_deadline_ends_the_scan_and_the_hashing(runner: Runner, folder: Path):
    catalogue_module, scan_module = load(SKILL, "catalogue"), load(SKILL, "scan")
    catalogue = catalogue_module.Catalogue(runner.scratch / "db")
    answers = iter([False, False, True])
    scan = scan_module.Scan(os.fsencode(folder), [], set(), 100, lambda: next(answers))
    assert scan.into(catalogue, lambda counts: None).stopped_by == "deadline"
    assert catalogue.totals()[0] <= 2

    catalogue.add_files([catalogue_module.Found(b"big", 5000, 0, 1)])
    catalogue.prepare_hashing()
    hashing = load(SKILL, "hashing").Hashing(os.fsencode(folder), catalogue, lambda: True, 1, 10)
    assert hashing.run(lambda: None, lambda path: None) is False
    assert catalogue.unread() > 0


def test_a_deadline_still_gives_a_report(runner: Runner):
    endless_file(runner.workspace)
    done = runner.run(SKILL, {"deadlineSeconds": 1})
    assert (done.code, done.result["complete"]) == (0, False)
    assert done.result["counts"]["unread"] == 1
    assert "incomplete" in runner.read(done.result["report"])
    check_events(done.events)


def test_sigterm_ends_it_at_once_without_a_report(runner: Runner):
    endless_file(runner.workspace)
    process = runner.start(SKILL)
    process.stdin.write(b"{}")
    process.stdin.close()
    for line in process.stderr:
        if json.loads(line)["stage"] == "hash":
            break
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == -signal.SIGTERM
    assert process.stdout.read() == b""
    assert list(runner.output.iterdir()) == []
    process.stdout.close()
    process.stderr.close()


def endless_file(folder: Path) -> None:
    """Takes no room on disk, and longer to read than any test waits."""
    with open(folder / "endless", "wb") as file:
        file.truncate(1 << 42)
