"""Chooses the frame that shows a finding best: sharp, large, and not cut off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul, sub

from frames import Frame
from grounding import Finding, Sighting
from raster import Box, Gray, gray

# The share of a frame that shows a damage as well as one can wish.
COVERAGE_ENOUGH = 0.03
CUT_OFF_PENALTY = 0.5


@dataclass(frozen=True)
class Selected:
    """A finding with its best sighting; the box is in pixels of the kept frame."""

    finding: Finding
    sighting: Sighting
    box: Box
    sharpness: float
    score: float


class Selector:
    """Measures each frame once, however many findings it shows."""

    def __init__(self, frames: list[Frame]) -> None:
        self._frames = frames
        self._sharpness: dict[int, float] = {}

    def select(self, finding: Finding) -> Selected:
        rated = (self._rated(finding, sighting) for sighting in finding.sightings)
        # Of equals the first, so that the result is always the same.
        return max(rated, key=lambda one: (one.score, -one.sighting.frame))

    def _rated(self, finding: Finding, sighting: Sighting) -> Selected:
        frame = self._frames[sighting.frame]
        box = sighting.candidate.box.scaled(frame.factor).grown(0, frame.width, frame.height)
        sharp = self._sharpness_of(sighting.frame)
        coverage = min(1.0, box.area / (COVERAGE_ENOUGH * frame.width * frame.height))
        score = sharp * (0.5 + 0.5 * coverage) * (0.5 + 0.5 * sighting.candidate.confidence)
        if touches_edge(box, frame):
            score *= CUT_OFF_PENALTY
        return Selected(finding, sighting, box, sharp, score)

    def _sharpness_of(self, index: int) -> float:
        if index not in self._sharpness:
            self._sharpness[index] = sharpness(gray(self._frames[index].picture()))
        return self._sharpness[index]


def sharpness(picture: Gray) -> float:
    """How suddenly brightness changes across the whole frame, as a hand shakes all of it.

    Squares, so that edges count and noise does not.
    """
    across = sum(bend(row) for row in picture.rows)
    down = sum(bend(column) for column in zip(*picture.rows))
    return round((across + down) / (picture.width * picture.height), 1)


def bend(line: Sequence[int]) -> int:
    steps = list(map(sub, line, line[1:]))
    bends = list(map(sub, steps, steps[1:]))
    return sum(map(mul, bends, bends))


def touches_edge(box: Box, frame: Frame) -> bool:
    is_at_start = box.left <= 0 or box.top <= 0
    return is_at_start or box.right >= frame.width or box.bottom >= frame.height
