"""Pictures in memory. Plain Python is quick enough because whole rows are handled at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from bytewise import average, plus

# How bright the eye takes full red, green and blue to be, for every value of each.
RED, GREEN, BLUE = (
    bytes(round(value * weight) for value in range(256)) for weight in (0.3, 0.587, 0.113)
)


@dataclass(frozen=True)
class Picture:
    """RGB, eight bits each, row by row from the top."""

    width: int
    height: int
    pixels: bytes

    def row(self, y: int) -> bytes:
        stride = self.width * 3
        return self.pixels[y * stride : (y + 1) * stride]


@dataclass(frozen=True)
class Gray:
    """Brightness only, as rows."""

    width: int
    height: int
    rows: list[bytes]


class Box(NamedTuple):
    """A rectangle in pixels; right and bottom are outside it."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        return self.right - self.left

    @property
    def height(self) -> int:
        return self.bottom - self.top

    @property
    def area(self) -> int:
        return max(self.width, 0) * max(self.height, 0)

    def grown(self, by: int, width: int, height: int) -> Box:
        """Larger on all sides, within a picture."""
        return Box(
            max(self.left - by, 0),
            max(self.top - by, 0),
            min(self.right + by, width),
            min(self.bottom + by, height),
        )

    def moved(self, dx: int, dy: int) -> Box:
        return Box(self.left + dx, self.top + dy, self.right + dx, self.bottom + dy)

    def scaled(self, by: float) -> Box:
        return Box(*(round(side * by) for side in self))

    def common(self, other: Box) -> int:
        """The area that both cover."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(width, 0) * max(height, 0)

    def union(self, other: Box) -> Box:
        return Box(
            min(self.left, other.left),
            min(self.top, other.top),
            max(self.right, other.right),
            max(self.bottom, other.bottom),
        )


def shrink_factor(width: int, height: int, longest: int) -> int:
    """By which whole number to divide so that no side is longer."""
    return max(1, -(-max(width, height) // longest))


def shrink(picture: Picture, factor: int) -> Picture:
    if factor == 1:
        return picture
    planes = [shrink_plane(plane, factor) for plane in planes_of(picture)]
    return from_planes(planes)


def gray(picture: Picture, factor: int = 1) -> Gray:
    """Brightness as the eye weighs the colours, divided in size by a factor."""
    red, green, blue = (shrink_plane(plane, factor) for plane in planes_of(picture))
    rows = [
        plus(plus(r.translate(RED), g.translate(GREEN)), b.translate(BLUE))
        for r, g, b in zip(red, green, blue)
    ]
    return Gray(len(rows[0]), len(rows), rows)


def planes_of(picture: Picture) -> list[list[bytes]]:
    rows = [picture.row(y) for y in range(picture.height)]
    return [[row[channel::3] for row in rows] for channel in range(3)]


def from_planes(planes: list[list[bytes]]) -> Picture:
    width, height = len(planes[0][0]), len(planes[0])
    pixels = bytearray(width * height * 3)
    for channel, plane in enumerate(planes):
        pixels[channel::3] = b"".join(plane)
    return Picture(width, height, bytes(pixels))


def shrink_plane(rows: list[bytes], factor: int) -> list[bytes]:
    """Averages squares of pixels; what does not fill a square at the edge is cut off.

    Of a large square only four pixels are looked at: more would not show more.
    """
    if factor == 1:
        return rows
    width = len(rows[0]) // factor
    first, second = factor // 4, factor - 1 - factor // 4
    shrunk = []
    for top in range(0, len(rows) - factor + 1, factor):
        upper, lower = rows[top + first], rows[top + second]
        left, right = (
            average(upper[offset::factor][:width], lower[offset::factor][:width])
            for offset in (first, second)
        )
        shrunk.append(average(left, right))
    return shrunk


def crop(picture: Picture, box: Box) -> Picture:
    rows = [picture.row(y)[box.left * 3 : box.right * 3] for y in range(box.top, box.bottom)]
    return Picture(box.width, box.height, b"".join(rows))


def enlarge(picture: Picture, factor: int) -> Picture:
    """Every pixel becomes a square."""
    rows = []
    for y in range(picture.height):
        row = bytearray(picture.width * factor * 3)
        for channel in range(3):
            plane = picture.row(y)[channel::3]
            for step in range(factor):
                row[channel + 3 * step :: 3 * factor] = plane
        rows.append(bytes(row) * factor)
    return Picture(picture.width * factor, picture.height * factor, b"".join(rows))
