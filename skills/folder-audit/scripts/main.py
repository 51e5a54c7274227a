"""Audits a folder: scan, hash, compare, report. The instructions are in SKILL.md."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

import skill
from catalogue import Catalogue
from compare import Findings, compare, find
from hashing import Hashing
from previous import DATA_NAME, load_previous
from report import LISTING_NAME, REPORT_NAME, Audit, names, summary, write_listing, write_reports
from scan import Scan, Scanned
from skill import SkillError, Stage
from words import LANGUAGES, Words, size_text

BATCHES_MAX = 50
RESULT_GROUPS_MAX = 5
RESULT_NAMES_MAX = 10


@dataclass
class Task:
    folder: Path
    previous: Path | None
    exclude: list[str]
    big_bytes: int
    files_max: int
    batch_files: int
    deadline_seconds: int
    words: Words


def read_task(given: skill.Input) -> Task:
    skill.known_names(
        given,
        *("folder", "previous", "exclude", "bigFileBytes", "maxFiles", "batchFiles"),
        *("deadlineSeconds", "language"),
    )
    folder = skill.existing("folder", skill.text(given, "folder", "."))
    if not folder.is_dir():
        raise SkillError("bad_input", "`folder` is not a folder")
    previous = skill.text(given, "previous")
    return Task(
        folder=folder,
        previous=skill.existing("previous", previous) if previous else None,
        exclude=skill.texts(given, "exclude", (".git", "skill-output")),
        big_bytes=skill.number(given, "bigFileBytes", 100 << 20, 1, 1 << 50),
        files_max=skill.number(given, "maxFiles", 1_000_000, 1, 10_000_000),
        batch_files=skill.number(given, "batchFiles", 20, 1, 10_000),
        deadline_seconds=skill.number(given, "deadlineSeconds", 540, 1, 86_400),
        words=Words(skill.choice(given, "language", tuple(LANGUAGES))),
    )


def audit(given: skill.Input) -> dict[str, Any]:
    task = read_task(given)
    output = skill.output_dir()
    ends = time.monotonic() + task.deadline_seconds
    with tempfile.TemporaryDirectory(prefix="folder-audit-", dir=scratch()) as private:
        catalogue = Catalogue(Path(private) / "catalogue.sqlite")
        try:
            ours = {os.fsencode(output), os.fsencode(private)}
            return run_stages(task, catalogue, output, ours, lambda: time.monotonic() >= ends)
        finally:
            catalogue.close()


def scratch() -> str | None:
    """The server starts an entry in a directory made for it; a person may be anywhere."""
    return os.getcwd() if "NETACLAW_OPERATION_ID" in os.environ else None


def run_stages(
    task: Task, catalogue: Catalogue, output: Path, ours: set[bytes], is_over: Callable[[], bool]
) -> dict[str, Any]:
    root = os.fsencode(task.folder)
    # What cannot be compared with should be known before the long work, not after it.
    earlier = load_previous(task.previous, catalogue) if task.previous else None
    scan = Scan(root, task.exclude, ours, task.files_max, is_over)
    scanned = scan_stage(scan, catalogue, task.words)
    catalogue.prepare_hashing()
    hashing = Hashing(root, catalogue, is_over, task.batch_files, BATCHES_MAX)
    all_hashed = hash_stage(hashing, task.words)
    why = scanned.stopped_by or (None if all_hashed else "deadline")
    findings = compare_stage(task, catalogue, earlier, scanned)
    partial = task.words(why) if why else None
    done = Audit(skill.relative(task.folder), task.big_bytes, scanned, findings, partial)
    report_stage(done, catalogue, output, task.words)
    return result(done, output, task.words)


def scan_stage(scan: Scan, catalogue: Catalogue, words: Words) -> Scanned:
    with Stage("scan", words("scan"), (0, 10)) as stage:

        def saw(so_far: Scanned) -> None:
            stage.moving(words("scan"), detail=words("scanning", files=so_far.files))

        scanned = scan.into(catalogue, saw)
        if scanned.stopped_by:
            stage.warn(words(scanned.stopped_by))
        stage.end(words("scanned", files=scanned.files, folders=scanned.folders))
    return scanned


def hash_stage(hashing: Hashing, words: Words) -> bool:
    """False if the time was up before everything was read."""
    with Stage("hash", words("hash"), (10, 85)) as stage:

        def finished_batch() -> None:
            size = size_text(hashing.bytes)
            detail = words("hashing", files=hashing.files, total=hashing.files_total, size=size)
            part = hashing.part()
            stage.batch(hashing.batch, hashing.batches, words("hash"), part=part, detail=detail)

        def moving(path: bytes) -> None:
            stage.moving(words("hash"), part=hashing.part(), detail=skill.shown(path))

        is_complete = hashing.run(finished_batch, moving)
        if not is_complete:
            stage.warn(words("deadline"))
        stage.end(words("hashed", files=hashing.files, size=size_text(hashing.bytes)))
    return is_complete


def compare_stage(
    task: Task, catalogue: Catalogue, earlier: str | None, scanned: Scanned
) -> Findings:
    words = task.words
    with Stage("compare", words("compare"), (85, 95)) as stage:
        steps = 1 if earlier is None else 2
        findings = find(catalogue, task.big_bytes)
        stage.batch(1, steps, words("compare"), detail=words("what_contents"))
        if earlier is not None:
            findings.difference = compare(catalogue, earlier, scanned.stopped_by is None)
            stage.batch(2, steps, words("compare"), detail=words("what_previous"))
        if findings.unreadable[0]:
            stage.warn(words("unreadable_warning", count=findings.unreadable[0]))
        stage.end(words("compared", groups=findings.twin_groups, broken=findings.broken_links[0]))
    return findings


def report_stage(done: Audit, catalogue: Catalogue, output: Path, words: Words) -> None:
    with Stage("report", words("report"), (95, 100)) as stage:
        write_listing(catalogue, output)
        stage.batch(1, 2, words("report"), detail=LISTING_NAME)
        write_reports(done, output, words)
        stage.batch(2, 2, words("report"), detail=REPORT_NAME)
        stage.end(words("reported"))


def result(done: Audit, output: Path, words: Words) -> dict[str, Any]:
    """What the model reads: the counts and the worst of each; the rest is in the files."""
    found, difference = done.findings, done.findings.difference
    document: dict[str, Any] = {
        "ok": True,
        "summary": summary(done, words),
        "complete": done.partial is None,
        "report": skill.relative(output / REPORT_NAME),
        "data": skill.relative(output / DATA_NAME),
        "counts": done.counts(),
        "duplicates": [
            {"wasted": group.wasted, "paths": names(group.paths[:RESULT_NAMES_MAX])}
            for group in found.twins[:RESULT_GROUPS_MAX]
        ],
        "brokenLinks": names(path for path, _ in found.broken_links[1][:RESULT_NAMES_MAX]),
        "unreadable": names(path for path, _ in found.unreadable[1][:RESULT_NAMES_MAX]),
    }
    if difference:
        for name in ("added", "changed", "removed"):
            listed = getattr(difference, name)
            document[name] = names(listed[1][:RESULT_NAMES_MAX]) if listed else None
    return document


if __name__ == "__main__":
    sys.exit(skill.run(audit))
