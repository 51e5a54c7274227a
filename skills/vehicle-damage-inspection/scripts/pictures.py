"""The pictures of a report: a frame with its findings marked, and beside it one of them closer."""

from __future__ import annotations

from drawing import Canvas, Colour
from raster import Box, Picture, crop, enlarge

MARK: Colour = (255, 64, 32)
INK: Colour = (255, 255, 255)
PAPER: Colour = (24, 24, 26)
LINE = 2
DIGIT = 2
# The closer look is a square as high as the frame; this much around a finding is shown.
AROUND = 0.25


def annotated(frame: Picture, marks: list[tuple[int, Box]]) -> Picture:
    """Marks are numbers with boxes; the first is the one shown closer."""
    canvas = Canvas.of(frame)
    for number, box in marks:
        mark(canvas, number, box)
    closer = closer_look(frame, marks[0][1])
    sheet = Canvas(frame.width + closer.width, frame.height, PAPER)
    sheet.paste(canvas.picture(), 0, 0)
    sheet.paste(closer, frame.width, (frame.height - closer.height) // 2)
    return sheet.picture()


def mark(canvas: Canvas, number: int, box: Box) -> None:
    canvas.frame(box.grown(LINE, canvas.width, canvas.height), MARK, LINE)
    width, height = (4 * len(str(number)) + 1) * DIGIT, 7 * DIGIT
    # The number stands above its box, or inside if there is no room.
    top = box.top - LINE - height if box.top >= LINE + height else box.top
    left = min(max(box.left - LINE, 0), canvas.width - width)
    canvas.fill(Box(left, top, left + width, top + height), MARK)
    canvas.number(number, left + DIGIT, top + DIGIT, DIGIT, INK)


def closer_look(frame: Picture, box: Box) -> Picture:
    """The place and some of its surroundings, as large as the height of the frame allows."""
    around = box.grown(round(max(box.width, box.height) * AROUND), frame.width, frame.height)
    part = crop(frame, around)
    return enlarge(part, max(1, frame.height // max(part.width, part.height)))
