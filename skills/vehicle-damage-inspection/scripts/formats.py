"""Reads pictures that need no other program: PNG, PPM, PGM and BMP. What it is, the bytes tell."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import png
from raster import Picture

NETPBM = re.compile(rb"P([56])(?:\s|#[^\n]*\n)+(\d{1,6})\s+(\d{1,6})\s+(\d{1,5})\s")
FILE_BYTES_MAX = 256 << 20


class FormatError(ValueError):
    """Not a picture that can be read here."""


def read_picture(path: Path) -> Picture:
    if path.stat().st_size > FILE_BYTES_MAX:
        raise FormatError("far too large")
    data = path.read_bytes()
    if data.startswith(png.SIGNATURE):
        try:
            return png.decode(data)
        except png.PngError as error:
            raise FormatError(str(error)) from None
    if data.startswith((b"P5", b"P6")):
        return read_netpbm(data)
    if data.startswith(b"BM"):
        return read_bmp(data)
    raise FormatError("neither PNG, PPM, PGM nor BMP")


def read_netpbm(data: bytes) -> Picture:
    head = NETPBM.match(data)
    if not head:
        raise FormatError("damaged PPM or PGM")
    kind, width, height, top = (int(group) for group in head.groups())
    channels = 3 if kind == 6 else 1
    size = width * height * channels
    body = data[head.end() : head.end() + size]
    if top != 255 or not size or len(body) < size:
        raise FormatError("PPM or PGM that is cut off or not of 8 bits")
    return Picture(width, height, body if channels == 3 else gray_to_rgb(body))


def gray_to_rgb(values: bytes) -> bytes:
    pixels = bytearray(len(values) * 3)
    for channel in range(3):
        pixels[channel::3] = values
    return bytes(pixels)


def read_bmp(data: bytes) -> Picture:
    try:
        (start,) = struct.unpack_from("<I", data, 10)
        width, height, _, depth, packing = struct.unpack_from("<iiHHI", data, 18)
    except struct.error:
        raise FormatError("damaged BMP") from None
    # Packing 3 means that masks follow; those of 32 bits are BGRA everywhere it matters.
    is_plain = (depth == 24 and packing == 0) or (depth == 32 and packing in (0, 3))
    if not is_plain or width <= 0 or height == 0:
        raise FormatError("BMP that is not of 24 or 32 bits without compression")
    step = depth // 8
    stride = (width * step + 3) // 4 * 4
    if width * abs(height) > png.PIXELS_MAX or len(data) < start + stride * abs(height):
        raise FormatError("BMP that is cut off or far too large")
    # A positive height means that the bottom row comes first.
    order = range(height - 1, -1, -1) if height > 0 else range(-height)
    lines = (data[start + y * stride : start + y * stride + width * step] for y in order)
    return Picture(width, abs(height), b"".join(bgr_to_rgb(line, step) for line in lines))


def bgr_to_rgb(line: bytes, step: int) -> bytes:
    pixels = bytearray(len(line) // step * 3)
    for channel in range(3):
        pixels[channel::3] = line[2 - channel :: step]
    return bytes(pixels)


def write_ppm(path: Path, picture: Picture) -> None:
    path.write_bytes(b"P6 %d %d 255\n" % (picture.width, picture.height) + picture.pixels)
