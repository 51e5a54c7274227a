"""Inspects a vehicle: extract frames, detect, ground, select, report. See SKILL.md."""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import skill
from comparison import THRESHOLDS, Candidate, Comparison
from frames import Collected, Collector, Frame
from grounding import Finding, Grounding
from raster import Gray
from report import (
    DATA_NAME,
    REPORT_NAME,
    Inspection,
    Method,
    findings,
    summary,
    write_pictures,
    write_reports,
)
from selection import Selected, Selector
from skill import SkillError, Stage
from vision import Vision, VisionError
from words import LANGUAGES, Words

# After so many failed batches in a row, no further batch is sent to the model.
VISION_FAILURES_MAX = 2
FINDINGS_MAX = 50


@dataclass
class Task:
    source: Path
    reference: Path | None
    frames_max: int
    batch_frames: int
    pictures_max: int
    sensitivity: str
    vision: Vision | None
    # Whether image comparison may take the place of a model that fails.
    may_compare: bool
    words: Words


def read_task(given: skill.Input) -> Task:
    skill.known_names(
        given,
        *("source", "reference", "detector", "sensitivity", "maxFrames", "batchFrames"),
        *("maxPictures", "language"),
    )
    words = Words(skill.choice(given, "language", tuple(LANGUAGES)))
    sensitivity = skill.choice(given, "sensitivity", ("normal", *THRESHOLDS))
    detector = skill.choice(given, "detector", ("auto", "comparison", "vision"))
    vision = None if detector == "comparison" else Vision.from_environment()
    if detector == "vision" and vision is None:
        raise SkillError("unsupported", "no model with image support is configured for this skill")
    source, reference = skill.text(given, "source"), skill.text(given, "reference")
    if not source:
        raise SkillError("bad_input", "`source` is missing: a video or a folder of frames")
    return Task(
        source=skill.existing("source", source),
        reference=skill.existing("reference", reference) if reference else None,
        frames_max=skill.number(given, "maxFrames", 48, 1, 240),
        batch_frames=skill.number(given, "batchFrames", 3, 1, 16),
        pictures_max=skill.number(given, "maxPictures", 4, 0, 6),
        sensitivity=sensitivity,
        vision=vision,
        may_compare=detector != "vision",
        words=words,
    )


def inspect(given: skill.Input) -> dict[str, Any]:
    task = read_task(given)
    output = skill.output_dir()
    with tempfile.TemporaryDirectory(prefix="vehicle-damage-", dir=scratch()) as private:
        return run_stages(task, output, Path(private))


def scratch() -> str | None:
    """The server starts an entry in a directory made for it; a person may be anywhere."""
    return os.getcwd() if "NETACLAW_OPERATION_ID" in os.environ else None


def run_stages(task: Task, output: Path, private: Path) -> dict[str, Any]:
    collected, references = extract_stage(task, private)
    frames = collected.frames
    grays = [frame.gray() for frame in frames]
    detection = Detection(task, frames, grays, [frame.gray() for frame in references])
    candidates = detect_stage(task, detection, frames)
    found = ground_stage(task, grays, candidates)
    selected = select_stage(task, found, frames)
    inspection = Inspection(collected, detection.method, selected)
    pictures = report_stage(task, inspection, output)
    return result(task, inspection, pictures, output)


def extract_stage(task: Task, private: Path) -> tuple[Collected, list[Frame]]:
    words = task.words
    sources = [("extract", task.source, private / "frames")]
    if task.reference:
        sources.append(("extract_reference", task.reference, private / "reference"))
    found: list[Collected] = []
    with Stage("extract", words("extract"), (0, 30)) as stage:
        for place, (message, source, into) in enumerate(sources):

            def saw(done: int, total: int, message: str = message, place: int = place) -> None:
                part = (place + done / total) / len(sources)
                detail = f"{done} / {total}"
                stage.moving(words(message), part=part, current=done, total=total, detail=detail)

            found.append(Collector(into, task.frames_max, saw).collect(source))
            for name, why in found[-1].skipped:
                stage.warn(words("frame_skipped"), detail=f"{name}: {why}")
        stage.end(words("extracted", frames=" + ".join(str(len(one.frames)) for one in found)))
    return found[0], found[1].frames if task.reference else []


class Detection:
    """Asks the model if there is one, and compares where there is none or where it fails."""

    def __init__(
        self, task: Task, frames: list[Frame], grays: list[Gray], references: list[Gray]
    ) -> None:
        self.task = task
        self.frames = frames
        self.comparison = Comparison(grays, references, task.sensitivity)
        self.method = Method()
        self.failures = 0

    @property
    def has_vision(self) -> bool:
        return self.task.vision is not None and self.failures < VISION_FAILURES_MAX

    def batch(self, indices: range, stage: Stage) -> list[list[Candidate]]:
        found = self._by_vision(indices, stage) if self.has_vision else None
        if found is not None:
            return found
        if self.task.vision is not None:
            self.method.fallback.extend(indices)
        return [self._by_comparison(index) for index in indices]

    def _by_vision(self, indices: range, stage: Stage) -> list[list[Candidate]] | None:
        vision = self.task.vision
        assert vision is not None
        try:
            found = vision.detect([self.frames[index] for index in indices])
        except VisionError as error:
            if not self.task.may_compare:
                raise SkillError("vision_failed", str(error)) from None
            self.failures += 1
            stage.warn(self.task.words("vision_failed"), detail=str(error))
            return None
        self.failures = 0
        self.method.model = vision.model
        self.method.by_vision.extend(indices)
        return found

    def _by_comparison(self, index: int) -> list[Candidate]:
        looked, method = self.comparison.detect(index), self.method
        if looked is None:
            method.unseen.append(index)
            return []
        (method.by_reference if looked.has_reference else method.by_others).append(index)
        return looked.candidates


def detect_stage(task: Task, detection: Detection, frames: list[Frame]) -> list[list[Candidate]]:
    words, step = task.words, task.batch_frames
    starts = range(0, len(frames), step)
    candidates: list[list[Candidate]] = []
    with Stage("detect", words("detect"), (30, 75)) as stage:
        for number, start in enumerate(starts, 1):
            indices = range(start, min(start + step, len(frames)))
            candidates += detection.batch(indices, stage)
            count = sum(map(len, candidates))
            how = words("detect_comparison")
            if detection.has_vision and task.vision:
                how = words("detect_vision", model=task.vision.model)
            stage.batch(number, len(starts), words("detect"), detail=how, candidates=count)
        stage.end(words("detected", candidates=sum(map(len, candidates))))
    return candidates


def ground_stage(task: Task, grays: list[Gray], candidates: list[list[Candidate]]) -> list[Finding]:
    words = task.words
    with Stage("ground", words("ground"), (75, 85)) as stage:
        grounding = Grounding()
        for index, (picture, found) in enumerate(zip(grays, candidates)):
            grounding.add(index, picture, found)
            stage.moving(words("ground"), part=index / len(grays))
        stage.end(words("grounded", findings=len(grounding.findings)))
    return grounding.findings


def select_stage(task: Task, found: list[Finding], frames: list[Frame]) -> list[Selected]:
    """Findings with their best frames, the surest first."""
    words = task.words
    surest = sorted(found, key=lambda one: -one.surest.confidence)[:FINDINGS_MAX]
    with Stage("select", words("select"), (85, 95)) as stage:
        selector, selected = Selector(frames), []
        for number, finding in enumerate(surest, 1):
            selected.append(selector.select(finding))
            frame = frames[selected[-1].sighting.frame].name
            stage.batch(number, len(surest), words("select"), detail=frame)
        stage.end(words("selected", frames=len({one.sighting.frame for one in selected})))
    return selected


def report_stage(task: Task, inspection: Inspection, output: Path) -> list[tuple[str, str]]:
    with Stage("report", task.words("report"), (95, 100)) as stage:
        pictures = write_pictures(inspection, output, task.pictures_max, task.words)
        stage.batch(1, 2, task.words("report"), detail=", ".join(name for name, _ in pictures))
        write_reports(inspection, pictures, output, task.words)
        stage.batch(2, 2, task.words("report"), detail=REPORT_NAME)
        stage.end(task.words("reported"))
    return pictures


def result(
    task: Task, inspection: Inspection, pictures: list[tuple[str, str]], output: Path
) -> dict[str, Any]:
    method, frames = inspection.method, inspection.frames
    return {
        "ok": True,
        "summary": summary(inspection, task.words),
        "method": method.name,
        "methodNote": " ".join(method.sentences(frames, task.words)),
        "report": skill.relative(output / REPORT_NAME),
        "data": skill.relative(output / DATA_NAME),
        "images": [
            {"path": skill.relative(output / name), "caption": caption}
            for name, caption in pictures
        ],
        "counts": {
            "frames": len(frames),
            "unreadable": len(inspection.collected.skipped),
            "notJudged": len(method.unseen),
            "findings": len(inspection.selected),
        },
        "findings": findings(inspection),
    }


if __name__ == "__main__":
    sys.exit(skill.run(inspect))
