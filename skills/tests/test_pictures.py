"""Picture formats, and what is done with pixels, of the vehicle damage inspection."""

from __future__ import annotations

import random
import struct
import zlib

import pytest
from conftest import load

SKILL = "vehicle-damage-inspection"
png = load(SKILL, "png")
formats = load(SKILL, "formats")
raster = load(SKILL, "raster")
regions = load(SKILL, "regions")
alignment = load(SKILL, "alignment")


def noise(width: int, height: int, seed: int = 1):
    return raster.Picture(width, height, random.Random(seed).randbytes(width * height * 3))


def same(one, other) -> bool:
    return (one.width, one.height, one.pixels) == (other.width, other.height, other.pixels)


@pytest.mark.parametrize("size", [(1, 1), (7, 3), (3, 7), (64, 48)])
def test_png_survives_a_round_trip(size):
    picture = noise(*size)
    assert same(png.decode(png.encode(picture)), picture)


def test_png_has_the_form_that_others_read():
    data = png.encode(raster.Picture(2, 1, b"\xff\0\0\0\xff\0"))
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    length, kind, width, height = struct.unpack_from(">I4sII", data, 8)
    assert (length, kind, width, height) == (13, b"IHDR", 2, 1)
    assert struct.unpack_from(">I", data, 29)[0] == zlib.crc32(data[12:29])
    start = data.index(b"IDAT") + 4
    (size,) = struct.unpack_from(">I", data, start - 8)
    assert zlib.decompress(data[start : start + size]) == b"\2\xff\0\0\0\xff\0"
    assert data.endswith(b"IEND\xae\x42\x60\x82")


def made(width, height, depth, colour, rows, palette=b""):
    """A PNG of raw rows, each with its filter in front."""
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    parts = [png.chunk(b"IHDR", header)]
    if palette:
        parts.append(png.chunk(b"PLTE", palette))
    parts += [png.chunk(b"IDAT", zlib.compress(b"".join(rows))), png.chunk(b"IEND", b"")]
    return png.SIGNATURE + b"".join(parts)


def filter_row(kind: int, row: bytes, above: bytes, step: int) -> bytes:
    """The filters as the standard defines them, byte by byte."""
    out = bytearray([kind])
    for index, value in enumerate(row):
        left = row[index - step] if index >= step else 0
        corner = above[index - step] if index >= step else 0
        up = above[index]
        near = min((left, up, corner), key=lambda x: abs(left + up - corner - x))
        out.append((value - [0, left, up, (left + up) // 2, near][kind]) & 255)
    return bytes(out)


@pytest.mark.parametrize(("colour", "channels"), [(0, 1), (2, 3), (4, 2), (6, 4)])
def test_png_reads_every_filter(colour, channels):
    width, height, chance = 9, 10, random.Random(2)
    rows = [chance.randbytes(width * channels) for _ in range(height)]
    above = [bytes(width * channels), *rows]
    packed = [filter_row(y % 5, row, above[y], channels) for y, row in enumerate(rows)]
    decoded = png.decode(made(width, height, 8, colour, packed))
    for y, row in enumerate(rows):
        pixels = [row[i : i + channels] for i in range(0, len(row), channels)]
        expected = [p[:3] if channels >= 3 else p[:1] * 3 for p in pixels]
        assert decoded.row(y) == b"".join(expected)


def test_png_reads_few_and_many_bits():
    assert png.decode(made(9, 1, 1, 0, [b"\0\xaa\x80"])).pixels[::3] == b"\xff\0" * 4 + b"\xff"
    assert png.decode(made(3, 1, 2, 0, [b"\0\x1b"])).pixels[::3] == bytes([0, 85, 170])
    assert png.decode(made(1, 1, 16, 2, [b"\0\x12\x34\x56\x78\x9a\xbc"])).pixels == b"\x12\x56\x9a"
    palette = b"\1\2\3\4\5\6"
    assert png.decode(made(2, 1, 4, 3, [b"\0\x10"], palette)).pixels == b"\4\5\6\1\2\3"


def test_damaged_png_is_an_error_of_its_own():
    good, chance = png.encode(noise(20, 20)), random.Random(3)
    for length in range(len(good) - 12):
        with pytest.raises(png.PngError):
            png.decode(good[:length])
    for _ in range(500):
        bad = bytearray(good)
        bad[chance.randrange(len(bad))] ^= 1 << chance.randrange(8)
        with pytest.raises(png.PngError):
            png.decode(bytes(bad))


def test_png_that_lies_about_its_size():
    with pytest.raises(png.PngError):
        png.decode(made(60_000, 60_000, 8, 2, [b"\0"]))
    bomb = made(4, 1, 8, 0, [b"\0" * 50_000_000])
    assert png.decode(bomb).pixels == bytes(12)


def test_netpbm_and_bmp(tmp_path):
    picture = noise(5, 3)

    def read(data: bytes):
        (tmp_path / "file").write_bytes(data)
        return formats.read_picture(tmp_path / "file")

    formats.write_ppm(tmp_path / "ppm", picture)
    assert same(formats.read_picture(tmp_path / "ppm"), picture)
    assert read(b"P5\n# a comment\n2 1\n255\n\7\x09").pixels == b"\7\7\7\t\t\t"

    bottom_up = b"".join(bgr(picture.row(y)) + b"\0" for y in (2, 1, 0))
    head = struct.pack("<2sIHHIIiiHHIIIIII", b"BM", 0, 0, 0, 54, 40, 5, 3, 1, 24, 0, 0, 0, 0, 0, 0)
    assert same(read(head + bottom_up), picture)
    top_down = head[:22] + struct.pack("<i", -3) + head[26:]
    rows = b"".join(bgr(picture.row(y)) + b"\0" for y in range(3))
    assert same(read(top_down + rows), picture)

    for bad in (b"", b"GIF89a", b"P6 9 9 255\nxx", b"BM", head, b"\x89PNG\r\n\x1a\n"):
        with pytest.raises(formats.FormatError):
            read(bad)


def bgr(row: bytes) -> bytes:
    return b"".join(row[i : i + 3][::-1] for i in range(0, len(row), 3))


def test_shrinking_and_enlarging():
    picture = noise(4, 2)
    assert same(raster.shrink(raster.enlarge(picture, 3), 3), picture)
    assert raster.gray(raster.Picture(1, 1, b"\xff\xff\xff")).rows == [b"\xff"]


def test_regions_are_connected_boxed_and_joined():
    drawn = [
        "##.........",
        "##.........",
        "...........",
        ".......#...",
        "......#....",
        ".....#...x.",
    ]
    evidence = [[{"#": 20, "x": 9}.get(c, 0) for c in row] for row in drawn]
    found = regions.connected(evidence, 10, 1, 2)
    assert [tuple(region.box) for region in found] == [(0, 0, 2, 2), (5, 3, 8, 6)]
    assert [region.area for region in found] == [4, 3]
    assert [tuple(region.box) for region in regions.joined(found, 4)] == [(0, 0, 8, 6)]
    assert len(regions.joined(found, 1)) == 2


def test_a_whole_map_of_evidence_is_one_region():
    (region,) = regions.connected([[50] * 200 for _ in range(200)], 10, 2, 6)
    assert (region.area, region.strength) == (40_000, 50)


@pytest.mark.parametrize("shift", [(0, 0), (5, -3), (-9, 2)])
def test_alignment_finds_the_shift(shift):
    smooth = raster.gray(raster.shrink(noise(480, 270), 3))
    blocks = raster.gray(raster.enlarge(noise(20, 12), 8))
    picture = raster.Gray(160, 90, [row[:160] for row in blocks.rows[:90]])
    moved = alignment.shifted(picture, *shift)
    fit = alignment.align(moved, picture)
    assert (fit.dx, fit.dy) == shift
    assert alignment.align(picture, smooth).remains > 20
