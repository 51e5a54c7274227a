"""Writes what was found: Markdown with pictures for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import png
from frames import Collected, Frame
from pictures import annotated
from selection import Selected
from skill import write_file
from words import Words

REPORT_NAME = "inspection.md"
DATA_NAME = "inspection.json"
NAMES_MAX = 12


@dataclass
class Method:
    """How each frame was looked at: this is what a reader has to know to believe a report."""

    model: str = ""
    by_vision: list[int] = field(default_factory=list)
    by_reference: list[int] = field(default_factory=list)
    by_others: list[int] = field(default_factory=list)
    # The model failed for these.
    fallback: list[int] = field(default_factory=list)
    # No other frame shows the same.
    unseen: list[int] = field(default_factory=list)

    @property
    def by_comparison(self) -> list[int]:
        return self.by_reference + self.by_others

    @property
    def name(self) -> str:
        if self.by_vision and self.by_comparison:
            return "mixed"
        return "vision" if self.by_vision else "image_comparison"

    def sentences(self, frames: list[Frame], words: Words) -> Iterator[str]:
        if self.by_vision:
            yield words("method_vision", count=len(self.by_vision), model=self.model)
        for against, frames_of in (("reference", self.by_reference), ("others", self.by_others)):
            if frames_of:
                named = words(f"against_{against}")
                yield words("method_comparison", count=len(frames_of), against=named)
        if self.by_comparison:
            yield words("method_limits")
        if self.fallback:
            yield words("method_fallback", count=len(self.fallback))
        if self.unseen:
            named = listed([frames[index].name for index in self.unseen])
            yield words("method_unseen", count=len(self.unseen), names=named)


@dataclass
class Inspection:
    collected: Collected
    method: Method
    # In the order of their numbers, which begin with 1.
    selected: list[Selected]

    @property
    def frames(self) -> list[Frame]:
        return self.collected.frames

    def frame_of(self, selected: Selected) -> Frame:
        return self.frames[selected.sighting.frame]


def write_pictures(
    inspection: Inspection, output: Path, pictures_max: int, words: Words
) -> list[tuple[str, str]]:
    """Names and captions of pictures, one for each best frame, the surest findings first."""
    by_frame: dict[int, list[tuple[int, Selected]]] = {}
    for number, selected in enumerate(inspection.selected, 1):
        by_frame.setdefault(selected.sighting.frame, []).append((number, selected))
    written = []
    for index, shown_here in list(by_frame.items())[:pictures_max]:
        frame = inspection.frames[index]
        picture = annotated(frame.picture(), [(number, one.box) for number, one in shown_here])
        name = f"finding-{shown_here[0][0]}.png"
        write_file(output / name, png.encode(picture))
        items = [item("picture_item", number, one, words) for number, one in shown_here]
        caption = words("picture_caption", frame=frame.name, list=", ".join(items))
        written.append((name, caption))
    return written


def write_reports(
    inspection: Inspection, pictures: list[tuple[str, str]], output: Path, words: Words
) -> None:
    write_file(output / DATA_NAME, json.dumps(data(inspection, words), indent=1) + "\n")
    write_file(output / REPORT_NAME, "\n".join(markdown(inspection, pictures, words)) + "\n")


def summary(inspection: Inspection, words: Words) -> str:
    method, selected = inspection.method, inspection.selected
    looked = len(method.by_vision) + len(method.by_comparison)
    said = words("summary", looked=looked, findings=len(selected))
    if selected:
        items = [
            item("summary_finding", number, one, words, frame=inspection.frame_of(one).name)
            for number, one in enumerate(selected, 1)
        ]
        said += words("summary_list", list=words("separator").join(items))
    else:
        said += words("summary_none")
    return said + (words("summary_unseen", count=len(method.unseen)) if method.unseen else "")


def item(text: str, number: int, selected: Selected, words: Words, **more: str) -> str:
    surest = selected.finding.surest
    kind, confidence = words(f"kind_{surest.kind}"), round(surest.confidence * 100)
    return words(text, number=number, kind=kind, confidence=confidence, **more)


def data(inspection: Inspection, words: Words) -> dict[str, Any]:
    method = inspection.method
    return {
        "kind": "vehicle-damage-inspection",
        "version": 1,
        "method": method.name,
        "methodNote": " ".join(method.sentences(inspection.frames, words)),
        "model": method.model or None,
        "frames": [frame.name for frame in inspection.frames],
        "notJudged": [inspection.frames[index].name for index in method.unseen],
        "unreadable": [{"name": name, "reason": why} for name, why in inspection.collected.skipped],
        "findings": findings(inspection),
    }


def findings(inspection: Inspection) -> list[dict[str, Any]]:
    return [finding(number, one, inspection) for number, one in enumerate(inspection.selected, 1)]


def finding(number: int, selected: Selected, inspection: Inspection) -> dict[str, Any]:
    surest, frame = selected.finding.surest, inspection.frame_of(selected)
    left, top, right, bottom = fractions(selected, frame)
    return {
        "number": number,
        "kind": surest.kind,
        "confidence": surest.confidence,
        "evidence": surest.evidence,
        "description": surest.description or None,
        "frame": frame.name,
        "frames": [inspection.frames[seen.frame].name for seen in selected.finding.sightings],
        "box": {"left": left, "top": top, "right": right, "bottom": bottom},
        "sharpness": selected.sharpness,
    }


def fractions(selected: Selected, frame: Frame) -> tuple[float, float, float, float]:
    """The box as parts of width and height, which hold for the original frame too."""
    left, top, right, bottom = selected.box
    return (
        round(left / frame.width, 3),
        round(top / frame.height, 3),
        round(right / frame.width, 3),
        round(bottom / frame.height, 3),
    )


def markdown(
    inspection: Inspection, pictures: list[tuple[str, str]], words: Words
) -> Iterator[str]:
    collected = inspection.collected
    yield f"# {words('title')}\n\n{summary(inspection, words)}\n"
    yield f"## {words('method')}\n"
    yield from (f"- {said}" for said in inspection.method.sentences(collected.frames, words))
    if collected.available > len(collected.frames) + len(collected.skipped):
        chosen = len(collected.frames)
        yield "- " + words("method_some", available=collected.available, chosen=chosen)
    if collected.skipped:
        named = listed([f"{name} ({why})" for name, why in collected.skipped])
        yield "- " + words("method_skipped", names=named)
    yield f"- {words('advice')}\n\n## {words('findings')}"
    if not inspection.selected:
        yield "\n" + words("none")
    for number, selected in enumerate(inspection.selected, 1):
        yield from finding_lines(number, selected, inspection, words)
    for name, caption in pictures:
        yield f"\n![{plain(caption)}]({name})"


def finding_lines(
    number: int, selected: Selected, inspection: Inspection, words: Words
) -> Iterator[str]:
    frame = inspection.frame_of(selected)
    seen_in = listed([inspection.frames[seen.frame].name for seen in selected.finding.sightings])
    percents = [round(100 * side) for side in fractions(selected, frame)]
    place = dict(zip(("left", "top", "right", "bottom"), percents))
    yield f"\n### {item('finding_title', number, selected, words)}\n"
    yield words("finding_frame", frame=plain(frame.name), frames=plain(seen_in))
    yield words("finding_box", **place)
    if selected.finding.surest.description:
        yield words("finding_said", words=plain(selected.finding.surest.description))


def listed(names: list[str]) -> str:
    more = ", …" if len(names) > NAMES_MAX else ""
    return ", ".join(names[:NAMES_MAX]) + more


def plain(text: str) -> str:
    """Text of others in Markdown: on one line, and no links or markup of its own."""
    return "".join("\\" + c if c in "\\`*_[]<>#|!" else c for c in " ".join(text.split()))
