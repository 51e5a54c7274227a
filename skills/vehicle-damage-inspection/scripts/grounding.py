"""Makes findings of candidates: the same place in frames that follow each other is one finding."""

from __future__ import annotations

from dataclasses import dataclass

from alignment import align, equally_bright
from comparison import COMPARABLE_MAX, Candidate
from raster import Box, Gray

# A box that is nearly the whole frame points at nothing.
PART_MAX = 0.6
# So much of the smaller box must lie in the other to be the same place.
COMMON_PART_MIN = 0.3
# A touch of surroundings, so that a box does not hide what it marks.
MARGIN = 2


@dataclass(frozen=True)
class Sighting:
    """A candidate in one frame, in pixels of the frame as it was looked at."""

    frame: int
    candidate: Candidate


@dataclass
class Finding:
    sightings: list[Sighting]

    @property
    def surest(self) -> Candidate:
        return max((s.candidate for s in self.sightings), key=lambda c: c.confidence)


def grounded(candidates: list[Candidate], picture: Gray) -> list[Candidate]:
    """Candidates with boxes that lie in the frame and point at something."""
    kept = []
    for candidate in candidates:
        box = candidate.box.grown(MARGIN, picture.width, picture.height)
        if 0 < box.area <= PART_MAX * picture.width * picture.height:
            kept.append(with_box(candidate, box))
    return kept


def with_box(candidate: Candidate, box: Box) -> Candidate:
    fields = {**vars(candidate), "box": box}
    return Candidate(**fields)


class Grounding:
    """Takes the frames in their order and follows each place from frame to frame."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self._last: list[tuple[Finding, Sighting]] = []
        self._picture: Gray | None = None

    def add(self, index: int, picture: Gray, candidates: list[Candidate]) -> None:
        shift = self._shift_from_last(picture)
        now: list[tuple[Finding, Sighting]] = []
        for candidate in grounded(candidates, picture):
            sighting = Sighting(index, candidate)
            finding = self._same_place(candidate, shift)
            if finding is None:
                finding = Finding([])
                self.findings.append(finding)
            finding.sightings.append(sighting)
            now.append((finding, sighting))
        self._last, self._picture = now, picture

    def _shift_from_last(self, picture: Gray) -> tuple[int, int] | None:
        """How the last frame moves onto this one; None if they do not show the same."""
        last = self._picture
        if last is None or not self._last:
            return None
        if (last.width, last.height) != (picture.width, picture.height):
            return None
        fit = align(picture, equally_bright(last, picture))
        return (fit.dx, fit.dy) if fit.remains <= COMPARABLE_MAX else None

    def _same_place(self, candidate: Candidate, shift: tuple[int, int] | None) -> Finding | None:
        if shift is None:
            return None
        for finding, sighting in self._last:
            moved = sighting.candidate.box.moved(*shift)
            smaller = min(moved.area, candidate.box.area)
            if moved.common(candidate.box) >= COMMON_PART_MIN * smaller:
                return finding
        return None
