"""Finds how two small gray pictures lie on each other: by a shift, and made equally bright."""

from __future__ import annotations

import math
from collections.abc import Iterable
from operator import mul, sub
from typing import NamedTuple

from raster import Gray, shrink_plane

# At this size a shift is searched everywhere, and then refined where it fitted best.
COARSE = 4
THUMBNAIL = 8
COARSE_REACH = 3
FINE_REACH = 2
# Light changes between frames; more than that is another picture.
GAIN_MIN, GAIN_MAX = 0.7, 1.4


class Alignment(NamedTuple):
    """The other picture fits best when moved by this; what remains is the mean difference."""

    dx: int
    dy: int
    remains: float


def mirrored(picture: Gray) -> Gray:
    return Gray(picture.width, picture.height, [row[::-1] for row in picture.rows])


def coarse(picture: Gray) -> Gray:
    rows = shrink_plane(picture.rows, COARSE)
    return Gray(len(rows[0]), len(rows), rows)


def thumbnail(picture: Gray) -> Gray:
    rows = shrink_plane(picture.rows, THUMBNAIL)
    return Gray(len(rows[0]), len(rows), rows)


def rough_distance(one: Gray, other: Gray) -> float:
    """How different two thumbnails are, to find out quickly what is worth aligning."""
    near = (-1, 0, 1)
    return best(one, other, ((dx, dy) for dx in near for dy in near)).remains


def align(one: Gray, other: Gray) -> Alignment:
    """Moves `other` onto `one`."""
    reach = range(-COARSE_REACH, COARSE_REACH + 1)
    rough = best(coarse(one), coarse(other), ((dx, dy) for dx in reach for dy in reach))
    fine = range(-FINE_REACH, FINE_REACH + 1)
    near = ((rough.dx * COARSE + dx, rough.dy * COARSE + dy) for dx in fine for dy in fine)
    return best(one, other, near)


def best(one: Gray, other: Gray, shifts: Iterable[tuple[int, int]]) -> Alignment:
    tried = ((difference(one, other, dx, dy), abs(dx) + abs(dy), dx, dy) for dx, dy in shifts)
    remains, _, dx, dy = min(tried)
    return Alignment(dx, dy, remains)


def difference(one: Gray, other: Gray, dx: int, dy: int) -> float:
    """The mean difference where they lie on each other; of large ones, of every third row."""
    top, bottom = max(dy, 0), min(dy, 0) + one.height
    left, right = max(dx, 0), min(dx, 0) + one.width
    total = 0
    rows = range(top, bottom, 3 if one.height > 60 else 1)
    for y in rows:
        mine, theirs = one.rows[y][left:right], other.rows[y - dy][left - dx : right - dx]
        total += sum(map(abs, map(sub, mine, theirs)))
    return total / max(len(rows) * (right - left), 1)


def shifted(picture: Gray, dx: int, dy: int) -> Gray:
    """Moved; what comes in from outside repeats the edge."""
    width, height = picture.width, picture.height
    rows = []
    for y in range(height):
        row = picture.rows[min(max(y - dy, 0), height - 1)]
        if dx > 0:
            row = row[:1] * dx + row[: width - dx]
        elif dx < 0:
            row = row[-dx:] + row[-1:] * -dx
        rows.append(row)
    return Gray(width, height, rows)


def equally_bright(picture: Gray, like: Gray) -> Gray:
    """With the brightness and contrast of another."""
    (mean, spread), (wanted_mean, wanted_spread) = light(picture), light(like)
    gain = min(max(wanted_spread / max(spread, 1.0), GAIN_MIN), GAIN_MAX)
    changed = (round((value - mean) * gain + wanted_mean) for value in range(256))
    table = bytes(min(max(value, 0), 255) for value in changed)
    return Gray(picture.width, picture.height, [row.translate(table) for row in picture.rows])


def light(picture: Gray) -> tuple[float, float]:
    """Mean and standard deviation."""
    count = picture.width * picture.height
    mean = sum(map(sum, picture.rows)) / count
    squares = sum(sum(map(mul, row, row)) for row in picture.rows) / count
    return mean, math.sqrt(max(squares - mean * mean, 0.0))
