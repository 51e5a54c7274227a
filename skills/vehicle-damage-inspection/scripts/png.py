"""PNG, as far as frames need it: Python brings zlib along, but no picture formats.

Reads every colour type and bit depth except for interlaced files; writes 8-bit RGB.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from bytewise import minus, plus
from raster import Picture

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
# A phone's largest photos; more would take minutes in plain Python.
PIXELS_MAX = 64_000_000


class PngError(ValueError):
    pass


class Header(NamedTuple):
    width: int
    height: int
    depth: int
    colour: int

    @property
    def channels(self) -> int:
        return CHANNELS[self.colour]

    @property
    def stride(self) -> int:
        return (self.width * self.channels * self.depth + 7) // 8


def encode(picture: Picture) -> bytes:
    header = struct.pack(">IIBBBBB", picture.width, picture.height, 8, 2, 0, 0, 0)
    body = zlib.compress(b"".join(filtered(picture)), 6)
    return SIGNATURE + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def chunk(kind: bytes, data: bytes) -> bytes:
    check = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)


def filtered(picture: Picture) -> Iterator[bytes]:
    """Each row as its difference from the one above, which compresses better than itself."""
    above = bytes(picture.width * 3)
    for y in range(picture.height):
        row = picture.row(y)
        yield b"\2" + minus(row, above)
        above = row


def decode(data: bytes) -> Picture:
    """Raises PngError for what is no PNG, is damaged, or is interlaced."""
    try:
        return decode_chunks(data)
    except (struct.error, zlib.error, IndexError, KeyError) as error:
        raise PngError(f"damaged PNG ({error})") from None


def decode_chunks(data: bytes) -> Picture:
    if not data.startswith(SIGNATURE):
        raise PngError("not a PNG")
    header, palette, packed = None, b"", []
    for kind, body in chunks(data):
        if kind == b"IHDR":
            header = read_header(body)
        elif kind == b"PLTE":
            palette = body
        elif kind == b"IDAT":
            packed.append(body)
    if header is None or not packed:
        raise PngError("damaged PNG (no picture in it)")
    size = (header.stride + 1) * header.height
    # Never more than the header promises, whatever the file unpacks to.
    raw = zlib.decompressobj().decompress(b"".join(packed), size)
    if len(raw) < size:
        raise PngError("damaged PNG (cut off)")
    rows = unfilter(raw, header)
    return Picture(
        header.width, header.height, b"".join(to_rgb(row, header, palette) for row in rows)
    )


def chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    position = len(SIGNATURE)
    while position < len(data):
        length, kind = struct.unpack_from(">I4s", data, position)
        body = data[position + 8 : position + 8 + length]
        (check,) = struct.unpack_from(">I", data, position + 8 + length)
        if check != zlib.crc32(kind + body):
            raise PngError("damaged PNG (checksum)")
        yield kind, body
        if kind == b"IEND":
            return
        position += 12 + length


def read_header(body: bytes) -> Header:
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", body)
    if interlaced:
        raise PngError("interlaced PNG")
    if depth not in DEPTHS.get(colour, ()) or not 0 < width * height <= PIXELS_MAX:
        raise PngError("damaged PNG (header), or far too large")
    return Header(width, height, depth, colour)


def unfilter(raw: bytes, header: Header) -> Iterator[bytes]:
    step = max(1, header.channels * header.depth // 8)
    above = bytes(header.stride)
    for start in range(0, len(raw), header.stride + 1):
        kind, row = raw[start], raw[start + 1 : start + 1 + header.stride]
        above = UNFILTERS[kind](row, above, step)
        yield above


def unfilter_sub(row: bytes, _: bytes, step: int) -> bytes:
    plain = bytearray(len(row))
    for first in range(step):
        plain[first::step] = bytes(value & 255 for value in accumulate(row[first::step]))
    return bytes(plain)


def unfilter_up(row: bytes, above: bytes, _: int) -> bytes:
    return plus(row, above)


def unfilter_average(row: bytes, above: bytes, step: int) -> bytes:
    plain = bytearray(step) + row
    for index, up in enumerate(above):
        plain[index + step] = (plain[index + step] + ((plain[index] + up) >> 1)) & 255
    return bytes(plain[step:])


def unfilter_paeth(row: bytes, above: bytes, step: int) -> bytes:
    plain = bytearray(step) + row
    corner_row = bytes(step) + above
    for index, up in enumerate(above):
        left, corner = plain[index], corner_row[index]
        by_left, by_up = abs(up - corner), abs(left - corner)
        by_corner = abs(left + up - 2 * corner)
        if by_left <= by_up and by_left <= by_corner:
            nearest = left
        else:
            nearest = up if by_up <= by_corner else corner
        plain[index + step] = (plain[index + step] + nearest) & 255
    return bytes(plain[step:])


UNFILTERS = [
    lambda row, above, step: row,
    unfilter_sub,
    unfilter_up,
    unfilter_average,
    unfilter_paeth,
]


def to_rgb(row: bytes, header: Header, palette: bytes) -> bytes:
    """A row of samples as RGB. Alpha is left out: frames of a camera have none."""
    samples = eight_bits(row, header)
    if header.colour == 3:
        return b"".join(palette[3 * index : 3 * index + 3] for index in samples)
    channels = header.channels
    if channels <= 2:
        return b"".join(bytes((value,)) * 3 for value in samples[::channels])
    if channels == 3:
        return samples
    rgb = bytearray(header.width * 3)
    for channel in range(3):
        rgb[channel::3] = samples[channel::4]
    return bytes(rgb)


def eight_bits(row: bytes, header: Header) -> bytes:
    """One byte for each sample; numbers of palette colours stay what they are."""
    if header.depth == 8:
        return row
    if header.depth == 16:
        return row[::2]
    per_byte, top = 8 // header.depth, (1 << header.depth) - 1
    scale = 1 if header.colour == 3 else 255 // top
    shifts = [8 - header.depth * (i + 1) for i in range(per_byte)]
    samples = bytes((byte >> shift & top) * scale for byte in row for shift in shifts)
    return samples[: header.width]
