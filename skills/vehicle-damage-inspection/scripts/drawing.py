"""Draws on pictures: what a report marks, and what the sample frames are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Callable

from raster import Box, Picture

Colour = tuple[int, int, int]
Point = tuple[float, float]
# Digits, three by five, each row three bits.
DIGITS = {
    "0": (7, 5, 5, 5, 7),
    "1": (2, 6, 2, 2, 7),
    "2": (7, 1, 7, 4, 7),
    "3": (7, 1, 3, 1, 7),
    "4": (5, 5, 7, 1, 1),
    "5": (7, 4, 7, 1, 7),
    "6": (7, 4, 7, 5, 7),
    "7": (7, 1, 2, 2, 2),
    "8": (7, 5, 7, 5, 7),
    "9": (7, 5, 7, 1, 7),
}


class Canvas:
    """A picture that can be drawn on. What lies outside is cut off."""

    def __init__(self, width: int, height: int, colour: Colour = (0, 0, 0)) -> None:
        self.width = width
        self.height = height
        self.pixels = bytearray(bytes(colour) * (width * height))

    @classmethod
    def of(cls, picture: Picture) -> Canvas:
        canvas = cls(0, 0)
        canvas.width, canvas.height = picture.width, picture.height
        canvas.pixels = bytearray(picture.pixels)
        return canvas

    def picture(self) -> Picture:
        return Picture(self.width, self.height, bytes(self.pixels))

    def span(self, y: int, left: int, right: int, colour: Colour) -> None:
        left, right = max(left, 0), min(right, self.width)
        if 0 <= y < self.height and left < right:
            start = (y * self.width + left) * 3
            self.pixels[start : start + (right - left) * 3] = bytes(colour) * (right - left)

    def fill(self, box: Box, colour: Colour) -> None:
        for y in range(box.top, box.bottom):
            self.span(y, box.left, box.right, colour)

    def frame(self, box: Box, colour: Colour, thickness: int) -> None:
        """The outline of a box, drawn inwards."""
        left, top, right, bottom = box
        inner_top, inner_bottom = top + thickness, bottom - thickness
        self.fill(Box(left, top, right, inner_top), colour)
        self.fill(Box(left, inner_bottom, right, bottom), colour)
        self.fill(Box(left, inner_top, left + thickness, inner_bottom), colour)
        self.fill(Box(right - thickness, inner_top, right, inner_bottom), colour)

    def number(self, value: int, left: int, top: int, size: int, colour: Colour) -> None:
        for place, digit in enumerate(str(value)):
            for y, bits in enumerate(DIGITS[digit]):
                for x in range(3):
                    if bits & (4 >> x):
                        corner_x = left + (place * 4 + x) * size
                        corner_y = top + y * size
                        dot = Box(corner_x, corner_y, corner_x + size, corner_y + size)
                        self.fill(dot, colour)

    def paste(self, picture: Picture, left: int, top: int) -> None:
        """Puts a picture there, which must lie inside."""
        for y in range(picture.height):
            start = ((top + y) * self.width + left) * 3
            self.pixels[start : start + picture.width * 3] = picture.row(y)

    def polygon(self, points: Sequence[Point], colour_at: Callable[[int], Colour]) -> None:
        """Fills a polygon; the colour may depend on the height."""
        top = math.ceil(min(y for _, y in points) - 0.5)
        bottom = math.ceil(max(y for _, y in points) - 0.5)
        edges = list(zip(points, [*points[1:], points[0]]))
        for y in range(max(top, 0), min(bottom, self.height)):
            middle = y + 0.5
            crossings = sorted(
                x1 + (middle - y1) * (x2 - x1) / (y2 - y1)
                for (x1, y1), (x2, y2) in edges
                if (y1 <= middle) != (y2 <= middle)
            )
            for left, right in zip(crossings[::2], crossings[1::2]):
                self.span(y, math.ceil(left - 0.5), math.ceil(right - 0.5), colour_at(y))

    def shade(self, box: Box, change: Callable[[int, int], float]) -> None:
        """Makes pixels of a box brighter or darker by what `change` says for them."""
        inside = box.grown(0, self.width, self.height)
        for y in range(inside.top, inside.bottom):
            for x in range(inside.left, inside.right):
                by = round(change(x, y))
                if by:
                    start = (y * self.width + x) * 3
                    for index in range(start, start + 3):
                        self.pixels[index] = min(max(self.pixels[index] + by, 0), 255)
