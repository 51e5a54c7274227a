"""Reads what an earlier audit has written, to compare with. See `report.py` for who writes it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from catalogue import Catalogue
from skill import SkillError

VERSION = 1
DATA_NAME = "audit.json"
ROWS_AT_ONCE = 1000
# A line holds a path, which the system limits, in hexadecimal at worst.
LINE_BYTES_MAX = 1 << 16


def load_previous(given: Path, catalogue: Catalogue) -> str:
    """Enters the files of an earlier audit into the catalogue; gives the folder that it was of."""
    data = given / DATA_NAME if given.is_dir() else given
    try:
        with open(data, "rb") as file:
            audit = json.load(file)
        if audit["kind"] != "folder-audit" or audit["version"] != VERSION:
            raise ValueError
        folder, listing = str(audit["folder"]), data.parent / os.path.basename(audit["files"])
        with open(listing, "rb") as file:
            rows = read_rows(file)
            while batch := list(islice(rows, ROWS_AT_ONCE)):
                catalogue.add_previous(batch)
    except FileNotFoundError:
        raise SkillError(
            "not_found", "`previous` holds no audit.json with its files.jsonl"
        ) from None
    except (ValueError, KeyError, TypeError):
        raise SkillError("bad_input", "`previous` is not a report of an earlier audit") from None
    return folder


def read_rows(file: BinaryIO) -> Iterator[tuple[bytes, int, str | None]]:
    while line := file.readline(LINE_BYTES_MAX):
        row = json.loads(line)
        yield path_of(row), int(row["size"]), row.get("sha256")


def row_of(path: bytes, size: int, sha256: str | None) -> dict[str, Any]:
    """A line of the listing. A path that is no text is written as its bytes."""
    try:
        named = {"path": path.decode("utf-8")}
    except UnicodeDecodeError:
        named = {"pathHex": path.hex()}
    return {**named, "size": size, "sha256": sha256}


def path_of(row: dict[str, Any]) -> bytes:
    return bytes.fromhex(row["pathHex"]) if "pathHex" in row else row["path"].encode("utf-8")
