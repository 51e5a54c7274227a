"""Detection by image comparison. This is no trained detector and knows nothing of cars.

A frame is laid on others that show the same: frames of a reference if there are some, else its
neighbours and, as vehicles are symmetric, mirrored frames. Where it differs and has more local
contrast than they have, something may be there that should not be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import sub
from typing import Callable, NamedTuple

from alignment import Alignment, align, equally_bright, mirrored, rough_distance, shifted, thumbnail
from bytewise import average
from raster import Box, Gray
from regions import Map, Region, connected, joined

# Mean differences, of 255, above which two frames do not show the same; and how much worse than
# the best another may fit before it is taken for another view.
COMPARABLE_MAX = 6.0
WORSE_BY = 2.2
# If so much of the frame differs, it is another view or another light, not damage.
DIFFERENT_PART_MAX = 0.12
# A frame that is less sharp hides things: it cannot show that something was not there.
SHARPNESS_MIN = 0.8
# Differences below these are noise.
THRESHOLDS = {"low": 18, "normal": 12, "high": 8}
# Near an edge small movements make large differences: so much of the edge is taken off.
EDGE_PART = 0.3
# Of pixels no further apart than the reach a region is made; regions so close are one damage.
REACH, JOIN_REACH = 2, 5
AREA_MIN = 6
# What damage adds to the contrast of a place: so much more, and in proportion.
CONTRAST_MORE, CONTRAST_TIMES = 3.0, 1.25
FITTED_MAX, PEERS_MAX = 3, 2
CANDIDATES_MAX = 8
# How far to believe each kind of comparison, at most.
TRUST = {"reference": 0.9, "neighbour": 0.7, "mirror": 0.6}


class View(NamedTuple):
    """A frame made ready for comparing; the gray is softened, the sharpness that of before."""

    gray: Gray
    thumbnail: Gray
    # Mean step from pixel to pixel, across and down.
    sharpness: tuple[float, float]


class Peer(NamedTuple):
    """Another frame, laid on the one that is looked at; kind is one of those in TRUST."""

    kind: str
    view: View
    fitted: Gray
    fit: Alignment


@dataclass(frozen=True)
class Candidate:
    """A place that may be damaged, in pixels of the frame that was looked at."""

    box: Box
    kind: str
    confidence: float
    evidence: str
    description: str = ""


class Looked(NamedTuple):
    """What comparing a frame came to, and whether with a reference or with others of its set."""

    candidates: list[Candidate]
    has_reference: bool


class Comparison:
    """Compares frames of one set, of which all are known from the beginning."""

    def __init__(self, frames: list[Gray], references: list[Gray], sensitivity: str) -> None:
        self.frames = [view_of(frame) for frame in frames]
        self.references = [view_of(reference) for reference in references]
        self.mirrored = [view_of(mirrored(frame)) for frame in frames]
        self.threshold = THRESHOLDS[sensitivity]

    def detect(self, index: int) -> Looked | None:
        """Candidates in a frame; None if no other frame shows the same."""
        frame = self.frames[index]
        by_reference = self._compare(frame, [("reference", self.references)])
        if by_reference is not None:
            return Looked(by_reference, has_reference=True)
        others = self.frames[:index] + self.frames[index + 1 :]
        by_others = self._compare(frame, [("neighbour", others), ("mirror", self.mirrored)])
        return None if by_others is None else Looked(by_others, has_reference=False)

    def _compare(self, frame: View, groups: list[tuple[str, list[View]]]) -> list[Candidate] | None:
        fitted = [peer for kind, views in groups for peer in fitting(frame, kind, views)]
        peers = chosen(frame, fitted)
        compared = [(peer.kind, self._differences(frame.gray, peer)) for peer in peers]
        if all(regions is None for _, regions in compared):
            return None
        found = [candidate_of(region, kind) for kind, all_of in compared for region in all_of or ()]
        return merged(found)[:CANDIDATES_MAX]

    def _differences(self, frame: Gray, peer: Peer) -> list[Region] | None:
        """Where a frame has something that the other has not; None if too much differs."""
        evidence = beyond(frame, peer.fitted)
        clear_edges(evidence, abs(peer.fit.dx) + 2, abs(peer.fit.dy) + 2)
        differing = sum(value >= self.threshold for row in evidence for value in row)
        if differing > DIFFERENT_PART_MAX * frame.width * frame.height:
            return None
        regions = connected(evidence, self.threshold, REACH, AREA_MIN)
        telling = [r for r in regions if has_more_contrast(frame, peer.fitted, r.box)]
        return joined(telling, JOIN_REACH)


def view_of(frame: Gray) -> View:
    return View(softened(frame), thumbnail(frame), sharpness(frame))


def sharpness(frame: Gray) -> tuple[float, float]:
    across = sum(sum(map(abs, map(sub, row, row[1:]))) for row in frame.rows)
    down = sum(sum(map(abs, map(sub, a, b))) for a, b in zip(frame.rows, frame.rows[1:]))
    pixels = frame.width * frame.height
    return across / pixels, down / pixels


def fitting(frame: View, kind: str, views: list[View]) -> Iterator[Peer]:
    """Those of a kind that may show the same, laid on the frame."""
    size = (frame.gray.width, frame.gray.height)
    same_size = [view for view in views if (view.gray.width, view.gray.height) == size]
    same_size.sort(key=lambda view: rough_distance(frame.thumbnail, view.thumbnail))
    for view in same_size[:FITTED_MAX]:
        bright = equally_bright(view.gray, frame.gray)
        fit = align(frame.gray, bright)
        if fit.remains <= COMPARABLE_MAX:
            yield Peer(kind, view, shifted(bright, fit.dx, fit.dy), fit)


def chosen(frame: View, peers: list[Peer]) -> list[Peer]:
    """Of each kind the best that fit about as well as the best of all, and are sharp enough."""
    if not peers:
        return []
    limit = min(peer.fit.remains for peer in peers) + WORSE_BY
    good = sorted(
        (peer for peer in peers if peer.fit.remains <= limit and is_sharp(peer.view, frame)),
        key=lambda peer: peer.fit.remains,
    )
    return [peer for kind in TRUST for peer in [p for p in good if p.kind == kind][:PEERS_MAX]]


def is_sharp(view: View, like: View) -> bool:
    return all(a >= SHARPNESS_MIN * b for a, b in zip(view.sharpness, like.sharpness))


def softened(frame: Gray) -> Gray:
    """Every pixel with some of its neighbours, so that thin lines may lie between pixels."""
    wide = [row[:1] + row + row[-1:] for row in frame.rows]
    across = [average(average(row[:-2], row[2:]), row[1:-1]) for row in wide]
    tall = [across[0], *across, across[-1]]
    rows = [average(average(a, c), b) for a, b, c in zip(tall, tall[1:], tall[2:])]
    return Gray(frame.width, frame.height, rows)


def beyond(frame: Gray, peer: Gray) -> Map:
    """How far each pixel is beyond everything that the other has around that place.

    An edge that lies half a pixel further on is no difference this way.
    """
    lowest, highest = filtered(peer.rows, min), filtered(peer.rows, max)
    return [
        [
            (
                0
                if low <= value <= high
                else max(0, max(value - high, low - value) - int(EDGE_PART * (high - low)))
            )
            for value, low, high in zip(row, lows, highs)
        ]
        for row, lows, highs in zip(frame.rows, lowest, highest)
    ]


def filtered(rows: list[bytes], choose: Callable[..., int]) -> list[bytes]:
    """The least or greatest value of every pixel and its eight neighbours."""
    wide = [row[:1] + row + row[-1:] for row in rows]
    across = [bytes(map(choose, row, row[1:], row[2:])) for row in wide]
    tall = [across[0], *across, across[-1]]
    return [bytes(map(choose, *three)) for three in zip(tall, tall[1:], tall[2:])]


def clear_edges(evidence: Map, across: int, down: int) -> None:
    """What came in from outside when a picture was moved says nothing."""
    height, width = len(evidence), len(evidence[0])
    for y, row in enumerate(evidence):
        if y < down or y >= height - down:
            row[:] = [0] * width
        else:
            row[:across] = [0] * across
            row[width - across :] = [0] * across


def has_more_contrast(frame: Gray, peer: Gray, box: Box) -> bool:
    """Tells the damaged frame from the one that it differs from: damage breaks smooth paint."""
    around = box.grown(1, frame.width, frame.height)
    mine, theirs = contrast(frame, around), contrast(peer, around)
    return mine >= theirs + CONTRAST_MORE and mine >= theirs * CONTRAST_TIMES


def contrast(picture: Gray, box: Box) -> float:
    """The mean deviation from the mean."""
    values = b"".join(row[box.left : box.right] for row in picture.rows[box.top : box.bottom])
    mean = sum(values) / len(values)
    return sum(abs(value - mean) for value in values) / len(values)


def candidate_of(region: Region, peer_kind: str) -> Candidate:
    certainty = min(1.0, region.strength / 40) * 0.6 + min(1.0, region.area / 60) * 0.4
    confidence = round(TRUST[peer_kind] * (0.4 + 0.6 * certainty), 2)
    kind = "scratch" if region.is_thin else "dent"
    return Candidate(region.box, kind, confidence, peer_kind)


def merged(candidates: list[Candidate]) -> list[Candidate]:
    """The most certain of those that lie on each other, the most certain first."""
    kept: list[Candidate] = []
    for candidate in sorted(candidates, key=lambda c: (-c.confidence, c.box)):
        near = candidate.box.grown(REACH, 1 << 30, 1 << 30)
        if not any(near.common(other.box) for other in kept):
            kept.append(candidate)
    return kept
