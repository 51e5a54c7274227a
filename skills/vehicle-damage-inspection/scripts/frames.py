"""Collects the frames to look at, from a video or a folder, as small PPM files of our own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import ffmpeg
from formats import FormatError, read_picture, write_ppm
from raster import Gray, Picture, gray, shrink, shrink_factor
from skill import SkillError, shown

PLAIN_SUFFIXES = (".png", ".ppm", ".pgm", ".bmp")
CODED_SUFFIXES = (".jpg", ".jpeg", ".webp")
# Frames are kept so large for pictures, and looked at so small.
KEPT_LONGEST = 640
LOOKED_AT_LONGEST = 160
# If the shorter side is less than this when it is looked at, there is nothing to compare.
SHORTEST_MIN = 16
# Larger files are quicker by ffmpeg, if it is there.
PLAIN_BYTES_MAX = 4 << 20
VIDEO_PER_SECOND = 2.0


@dataclass(frozen=True)
class Frame:
    """A frame under the name that people know it by."""

    name: str
    file: Path
    width: int
    height: int

    def picture(self) -> Picture:
        return read_picture(self.file)

    @property
    def factor(self) -> int:
        """How many pixels across become one when it is looked at."""
        return shrink_factor(self.width, self.height, LOOKED_AT_LONGEST)

    def gray(self) -> Gray:
        return gray(self.picture(), self.factor)


@dataclass
class Collected:
    frames: list[Frame]
    # Names and reasons of those that could not be read.
    skipped: list[tuple[str, str]]
    # How many the folder has, of which only some are looked at.
    available: int


class Collector:
    def __init__(self, into: Path, frames_max: int, saw: Callable[[int, int], None]) -> None:
        self.into = into
        self.frames_max = frames_max
        # Called with the number of finished frames and of all frames.
        self.saw = saw

    def collect(self, source: Path) -> Collected:
        self.into.mkdir()
        collected = self._folder(source) if source.is_dir() else self._video(source)
        if not collected.frames:
            reasons = {why for _, why in collected.skipped}
            raise SkillError("unsupported", f"no frame could be read: {', '.join(sorted(reasons))}")
        return collected

    def _folder(self, folder: Path) -> Collected:
        suffixes = PLAIN_SUFFIXES + CODED_SUFFIXES
        files = [f for f in folder.iterdir() if f.suffix.lower() in suffixes and f.is_file()]
        if not files:
            raise SkillError("not_found", f"no frames in the folder: {', '.join(suffixes)}")
        files.sort(key=in_order)
        chosen = spread(files, self.frames_max)
        if ffmpeg.find() is None and all(f.suffix.lower() in CODED_SUFFIXES for f in chosen):
            ffmpeg.needed()
        frames: list[Frame] = []
        skipped: list[tuple[str, str]] = []
        for number, file in enumerate(chosen, 1):
            try:
                frames.append(self._kept(file, self.into / f"frame-{number:05}.ppm"))
            except (FormatError, OSError) as error:
                why = str(error) if isinstance(error, FormatError) else "cannot be read"
                skipped.append((shown(file.name), why))
            self.saw(number, len(chosen))
        return Collected(frames, skipped, len(files))

    def _kept(self, file: Path, target: Path) -> Frame:
        """Reads a picture by ourselves if that is possible and quick, else by ffmpeg."""
        is_plain = file.suffix.lower() in PLAIN_SUFFIXES
        is_large = file.stat().st_size > PLAIN_BYTES_MAX
        if ffmpeg.find() and (is_large or not is_plain):
            if not ffmpeg.convert(file, target, KEPT_LONGEST):
                raise FormatError("not an image that ffmpeg can read")
            return frame_of(shown(file.name), target, read_picture(target))
        if not is_plain:
            raise FormatError("needs ffmpeg, which is not installed")
        picture = read_picture(file)
        kept = shrink(picture, shrink_factor(picture.width, picture.height, KEPT_LONGEST))
        write_ppm(target, kept)
        return frame_of(shown(file.name), target, kept)

    def _video(self, video: Path) -> Collected:
        seconds = ffmpeg.duration(video)
        per_second = VIDEO_PER_SECOND
        if seconds and seconds * per_second > self.frames_max:
            per_second = self.frames_max / seconds
        files = ffmpeg.extract(
            video,
            self.into,
            per_second,
            self.frames_max,
            KEPT_LONGEST,
            lambda done: self.saw(min(done, self.frames_max), self.frames_max),
        )
        named = [(f"{index / per_second:.1f} s", file) for index, file in enumerate(files)]
        try:
            frames = [frame_of(name, file, read_picture(file)) for name, file in named]
        except FormatError as error:
            # All frames of a video are alike.
            raise SkillError("unsupported", f"the video cannot be read: {error}") from None
        return Collected(frames, [], len(frames))


def frame_of(name: str, file: Path, picture: Picture) -> Frame:
    frame = Frame(name, file, picture.width, picture.height)
    if min(frame.width, frame.height) // frame.factor < SHORTEST_MIN:
        raise FormatError("too small or too narrow")
    return frame


def spread(files: list[Path], count: int) -> list[Path]:
    """Evenly chosen, the first and the last among them."""
    if len(files) <= count:
        return files
    last = len(files) - 1
    return [files[round(index * last / max(count - 1, 1))] for index in range(count)]


def in_order(file: Path) -> list[tuple[int, int, str]]:
    """Numbers in names count as numbers: frame 2 comes before frame 10."""
    parts = re.split(r"(\d+)", file.name)
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]
