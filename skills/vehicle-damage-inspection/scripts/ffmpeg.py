"""Lets ffmpeg read what plain Python cannot: videos, JPEG, very large pictures."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Callable

from skill import SkillError

DURATION = re.compile(r"Duration: (\d+):(\d\d):(\d\d(?:\.\d+)?)")
ERROR_CHARACTERS_MAX = 200


def find() -> str | None:
    return shutil.which("ffmpeg")


def needed() -> str:
    found = find()
    if found is None:
        raise SkillError(
            "unsupported",
            "ffmpeg is not installed: a video or JPEG frames cannot be read without it;"
            " install ffmpeg, or give a folder of PNG, PPM or BMP frames",
        )
    return found


def duration(video: Path) -> float | None:
    """Seconds, if the file says so. Without an output, ffmpeg describes the file and fails."""
    described = subprocess.run(
        [needed(), "-hide_banner", "-nostdin", *reading(video)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    found = DURATION.search(described.stderr.decode("utf-8", "replace"))
    if not found:
        return None
    hours, minutes, seconds = found.groups()
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


def extract(
    video: Path,
    into: Path,
    per_second: float,
    frames_max: int,
    longest: int,
    saw: Callable[[int], None],
) -> list[Path]:
    """Writes frames as PPM, evenly spread; `saw` is called with their number."""
    pictures = ["-vf", f"fps={per_second:.6f},{fitting(longest)}", "-frames:v", str(frames_max)]
    output = ["-c:v", "ppm", "-f", "image2", str(into / "video-%05d.ppm")]
    command = [needed(), "-v", "error", "-nostdin", "-nostats", "-progress", "pipe:1"]
    process = subprocess.Popen(
        [*command, *reading(video), *pictures, *output],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        # Both in one, so that neither pipe can fill up unread.
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    said = ""
    with process:
        assert process.stdout is not None
        for line in process.stdout:
            name, _, value = line.strip().partition("=")
            if name == "frame" and value.strip().isdigit():
                saw(int(value))
            elif not value:
                said = line
    frames = sorted(into.glob("video-*.ppm"))
    if process.returncode != 0 or not frames:
        raise SkillError(
            "unsupported", f"no frames could be read from the video: {brief(said, video)}"
        )
    return frames


def convert(picture: Path, target: Path, longest: int) -> bool:
    """Writes a picture as PPM, shrunk if need be; False if ffmpeg cannot read it either."""
    command = [needed(), "-v", "error", "-nostdin", "-y", *reading(picture)]
    output = [
        "-vf",
        fitting(longest),
        "-frames:v",
        "1",
        "-c:v",
        "ppm",
        "-f",
        "image2",
        "-update",
        "1",
    ]
    done = subprocess.run(
        [*command, *output, str(target)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return done.returncode == 0 and target.exists()


def reading(path: Path) -> list[str]:
    """As a file and nothing else: neither a name nor what is inside may lead anywhere else."""
    return ["-protocol_whitelist", "file,pipe", "-i", f"file:{path}"]


def fitting(longest: int) -> str:
    """Shrinks so that no side is longer; never enlarges."""
    size = f"w='min({longest},iw)':h='min({longest},ih)'"
    return f"scale={size}:force_original_aspect_ratio=decrease"


def brief(said: str, path: Path) -> str:
    """The last words of ffmpeg without the absolute path."""
    return (
        said.strip().replace(f"file:{path}", path.name)[:ERROR_CHARACTERS_MAX] or "no reason given"
    )
