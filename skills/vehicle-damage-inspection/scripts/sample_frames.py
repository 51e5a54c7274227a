"""Makes sample frames: a drawn car from six positions, before and after it was damaged.

    python3 sample_frames.py FOLDER

writes FOLDER/before and FOLDER/after, eighteen PNG frames each, always the same ones, and a video
of each if ffmpeg is there. In `after` there is a scratch on the left rear door (seen from the
left) and a dent in the right front door (seen from the right, and closer from the right front).
"""

from __future__ import annotations

import math
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import png
from bytewise import average, minus, plus
from drawing import Canvas, Colour, Point
from raster import Box, Picture, from_planes, planes_of, shrink

WIDTH, HEIGHT = 480, 270
# Drawn larger and then shrunk, which makes edges smooth and movements finer than a pixel.
FINER = 2
FRAMES_PER_VIEW = 3
BODY: Colour = (52, 92, 158)
GLASS: Colour = (40, 48, 58)
TYRE: Colour = (28, 28, 30)
RIM: Colour = (150, 154, 160)
GAP: Colour = (26, 46, 82)
LAMP: Colour = (236, 232, 210)
TAIL: Colour = (176, 34, 34)
PRIMER: Colour = (226, 224, 218)
# How far noise goes in each direction.
GRAIN = 3
GRAINS = bytes(value % (2 * GRAIN + 1) for value in range(256))


class View(NamedTuple):
    """From where: one of the drawings, the part of it that fills the frame, what is damaged."""

    name: str
    drawing: str
    # Pixels of a frame for one unit, and the unit in the middle of the frame.
    scale: float
    middle: float
    # The car looks to the other side.
    is_flipped: bool
    damage: str


VIEWS = [
    View("left", "side", 4.0, 0, False, "scratch"),
    View("left-front", "side", 6.4, -22, False, ""),
    View("front", "front", 5.4, 0, False, ""),
    View("right-front", "side", 6.4, -22, True, "dent"),
    View("right", "side", 4.0, 0, True, "dent"),
    View("rear", "rear", 5.4, 0, False, ""),
]


def damaged_names() -> list[str]:
    """The frames of `after` in which damage can be seen."""
    return [name for name, view, _ in named_frames() if view.damage]


def named_frames() -> list[tuple[str, View, int]]:
    numbered = ((view, turn) for view in VIEWS for turn in range(FRAMES_PER_VIEW))
    return [
        (f"{number:02}-{view.name}-{turn + 1}.png", view, turn)
        for number, (view, turn) in enumerate(numbered, 1)
    ]


class Pen:
    """Draws in units of the car: x from the middle to the right, y from the ground up."""

    def __init__(self, canvas: Canvas, view: View, drift: Point) -> None:
        self.canvas = canvas
        self.scale = view.scale * FINER
        self.sign = -1 if view.is_flipped else 1
        self.middle = view.middle
        self.drift = drift

    def at(self, x: float, y: float) -> Point:
        across = WIDTH * FINER / 2 + self.sign * (x - self.middle) * self.scale
        ground = HEIGHT * FINER * 0.86
        return across + self.drift[0] * FINER, ground - y * self.scale + self.drift[1] * FINER

    def shape(self, points: Sequence[Point], colour: Colour, glow: float = 0.0) -> None:
        """A filled shape; with glow it is brighter above and darker below, as painted metal is."""
        placed = [self.at(x, y) for x, y in points]
        top, bottom = min(y for _, y in placed), max(y for _, y in placed)

        def colour_at(y: int) -> Colour:
            by = 1 + glow * (0.5 - (y - top) / max(bottom - top, 1))
            red, green, blue = (min(round(part * by), 255) for part in colour)
            return red, green, blue

        self.canvas.polygon(placed, colour_at)

    def disc(self, x: float, y: float, radius: float, colour: Colour) -> None:
        turns = [math.tau * step / 48 for step in range(48)]
        self.shape([(x + radius * math.cos(t), y + radius * math.sin(t)) for t in turns], colour)

    def line(self, points: Sequence[Point], thickness: float, colour: Colour) -> None:
        for (x1, y1), (x2, y2) in zip(points, points[1:]):
            length = math.hypot(x2 - x1, y2 - y1)
            side_x, side_y = -(y2 - y1) / length, (x2 - x1) / length
            half = thickness / 2
            corners = [(x1, y1, 1), (x2, y2, 1), (x2, y2, -1), (x1, y1, -1)]
            self.shape(
                [(x + s * side_x * half, y + s * side_y * half) for x, y, s in corners], colour
            )

    def dent(self, x: float, y: float, radius: float, depth: float) -> None:
        """Metal pressed in: dark where it turns away from the light above, bright below."""
        across, down = self.at(x, y)
        reach = radius * self.scale

        def change(column: int, row: int) -> float:
            dx, dy = (column - across) / reach, (row - down) / reach
            distance = math.hypot(dx, dy)
            return depth * 2.6 * dy * (1 - distance * distance) if distance < 1 else 0.0

        left, top = round(across - reach), round(down - reach)
        self.canvas.shade(Box(left, top, round(across + reach), round(down + reach)), change)


def draw_side(pen: Pen) -> None:
    body = [(-50, 7), (-50, 15), (-46, 18), (-28, 21), (-15, 33), (26, 33), (42, 22), (48, 21)]
    pen.shape([*body, (50, 13), (50, 7)], BODY, glow=0.5)
    pen.shape([(-24, 21.5), (-13.5, 31), (-1, 31), (-1, 21.5)], GLASS, glow=0.3)
    pen.shape([(1, 21.5), (1, 31), (24, 31), (34, 21.5)], GLASS, glow=0.3)
    for x in (-25, 0, 26):
        pen.line([(x, 9), (x, 21)], 0.4, GAP)
    for x in (-5, 20):
        pen.line([(x - 2, 18.6), (x + 2, 18.6)], 0.9, GAP)
    pen.shape([(-50, 15), (-46, 17.6), (-44, 15.5), (-49, 13.5)], LAMP)
    pen.shape([(49, 17), (46, 20), (45, 15), (49.5, 14)], TAIL)
    for x in (-32, 33):
        pen.disc(x, 7.5, 8.6, GAP)
        pen.disc(x, 7.5, 7.5, TYRE)
        pen.disc(x, 7.5, 4.6, RIM)


def draw_end(pen: Pen, lamps: Colour) -> None:
    """Front or rear: the same outline, other lamps."""
    for x in (-17, 17):
        pen.shape([(x - 3.5, 0), (x - 3.5, 9), (x + 3.5, 9), (x + 3.5, 0)], TYRE)
    outline = [(-22, 5), (-22, 19), (-16, 22), (-12, 33), (12, 33), (16, 22), (22, 19), (22, 5)]
    pen.shape(outline, BODY, glow=0.5)
    pen.shape([(-14, 22), (-10.8, 31), (10.8, 31), (14, 22)], GLASS, glow=0.3)
    for side in (-1, 1):
        pen.shape([(side * 21, 13), (side * 21, 17), (side * 13, 16), (side * 13, 13)], lamps)
    pen.line([(-21, 9.5), (21, 9.5)], 0.5, GAP)
    pen.shape([(-5, 6.4), (-5, 8.8), (5, 8.8), (5, 6.4)], RIM)


def draw_damage(pen: Pen, kind: str) -> None:
    if kind == "scratch":
        pen.line([(6, 12.2), (11, 13.6), (14, 13.2), (19, 15)], 0.7, PRIMER)
        pen.line([(8, 11.4), (13, 12.4)], 0.5, PRIMER)
    elif kind == "dent":
        pen.dent(-13, 14, 5.2, 40)


def draw(view: View, drift: Point, has_damage: bool) -> Picture:
    canvas = Canvas(WIDTH * FINER, HEIGHT * FINER)
    floor = round((HEIGHT * 0.8 + drift[1]) * FINER)
    for y in range(canvas.height):
        shade = 206 - y * 20 // canvas.height if y < floor else 128
        canvas.span(y, 0, canvas.width, (shade, shade, min(shade + 4, 255)))
    pen = Pen(canvas, view, drift)
    if view.drawing == "side":
        draw_side(pen)
    else:
        draw_end(pen, LAMP if view.drawing == "front" else TAIL)
    if has_damage:
        draw_damage(pen, view.damage)
    return shrink(canvas.picture(), FINER)


def filmed(picture: Picture, light: float, is_shaken: bool, chance: random.Random) -> Picture:
    """As a camera sees it: other light, noise, and now and then a shaken hand."""
    # Room is left for the noise at both ends.
    table = bytes(min(max(round(value * light), GRAIN), 255 - GRAIN) for value in range(256))
    planes = []
    for plane in planes_of(picture):
        rows = [row.translate(table) for row in plane]
        if is_shaken:
            rows = [smeared(row) for row in rows]
        planes.append([noisy(row, chance) for row in rows])
    return from_planes(planes)


def smeared(row: bytes) -> bytes:
    """Every pixel with those to its left and right."""
    inner = average(average(row[:-4], row[4:]), average(row[1:-3], row[3:-1]))
    return row[:2] + inner + row[-2:]


def noisy(row: bytes, chance: random.Random) -> bytes:
    noise = chance.randbytes(len(row)).translate(GRAINS)
    return minus(plus(row, noise), bytes((GRAIN,)) * len(row))


def make(folder: Path) -> None:
    for round_number, name in enumerate(("before", "after")):
        target = folder / name
        target.mkdir(parents=True, exist_ok=True)
        chance = random.Random(1000 + round_number)
        for file, view, turn in named_frames():
            drift = (chance.uniform(-4, 4), chance.uniform(-2, 2))
            light = chance.uniform(0.94, 1.06)
            picture = draw(view, drift, has_damage=name == "after")
            # The last of each view is shaken, so that there is something to choose.
            is_shaken = turn == FRAMES_PER_VIEW - 1
            frame = filmed(picture, light, is_shaken, chance)
            (target / file).write_bytes(png.encode(frame))


def make_video(frames: Path, video: Path) -> bool:
    """False if there is no ffmpeg here."""
    ffmpeg = shutil.which("ffmpeg")
    if ffmpeg is None:
        return False
    listing = ["-framerate", "3", "-pattern_type", "glob", "-i", f"{frames}/*.png"]
    coding = ["-pix_fmt", "yuv420p", "-c:v", "mpeg4", "-q:v", "2", str(video)]
    subprocess.run([ffmpeg, "-v", "error", "-nostdin", "-y", *listing, *coding], check=True)
    return True


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: sample_frames.py FOLDER", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    make(folder)
    made = [make_video(folder / name, folder / f"{name}.mp4") for name in ("before", "after")]
    print(f"{folder}: before and after, frames" + (" and videos" if all(made) else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
