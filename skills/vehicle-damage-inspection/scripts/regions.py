"""Connected regions of a map of evidence, as boxes."""

from __future__ import annotations

from dataclasses import dataclass

from raster import Box

Map = list[list[int]]


@dataclass(frozen=True)
class Region:
    box: Box
    # Pixels, and their mean evidence.
    area: int
    strength: float

    @property
    def is_thin(self) -> bool:
        """Long and narrow, however it lies in its box."""
        length = max(self.box.width, self.box.height)
        return length >= 6 and self.area / length <= length / 3


def connected(evidence: Map, threshold: int, reach: int, area_min: int) -> list[Region]:
    """Regions of pixels at or above the threshold, the strongest first.

    Pixels belong together if they are no further apart than `reach`: a scratch that is thinner
    than a pixel shows as a row of dots.
    """
    waiting = {
        (x, y)
        for y, row in enumerate(evidence)
        for x, value in enumerate(row)
        if value >= threshold
    }
    found = []
    while waiting:
        pixels = taken_from(waiting, reach)
        if len(pixels) >= area_min:
            found.append(region_of(pixels, evidence))
    return sorted(found, key=lambda region: (-region.area * region.strength, region.box))


def taken_from(waiting: set[tuple[int, int]], reach: int) -> list[tuple[int, int]]:
    """Takes one region out of the pixels that wait. Needs no recursion, however large it is."""
    start = min(waiting)
    waiting.remove(start)
    pixels, near = [start], range(-reach, reach + 1)
    for x, y in pixels:
        neighbours = {(x + dx, y + dy) for dy in near for dx in near} & waiting
        waiting -= neighbours
        pixels.extend(sorted(neighbours))
    return pixels


def region_of(pixels: list[tuple[int, int]], evidence: Map) -> Region:
    across, down = [x for x, _ in pixels], [y for _, y in pixels]
    box = Box(min(across), min(down), max(across) + 1, max(down) + 1)
    strength = sum(evidence[y][x] for x, y in pixels) / len(pixels)
    return Region(box, len(pixels), strength)


def joined(regions: list[Region], reach: int) -> list[Region]:
    """Regions that lie close together as one: a dent is dark above and bright below."""
    waiting, done = list(regions), []
    while waiting:
        region = waiting.pop(0)
        near = region.box.grown(reach, 1 << 30, 1 << 30)
        partner = next((other for other in waiting if near.common(other.box)), None)
        if partner is None:
            done.append(region)
        else:
            # The union may be close to others that neither was close to.
            waiting.remove(partner)
            waiting.append(union(region, partner))
    return done


def union(one: Region, other: Region) -> Region:
    area = one.area + other.area
    strength = (one.area * one.strength + other.area * other.strength) / area
    return Region(one.box.union(other.box), area, strength)
