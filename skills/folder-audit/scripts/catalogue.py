"""The files of an audit in a private SQLite database: memory stays small however many there are.

Paths are bytes relative to the audited folder, because file names need not be text.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

# SQLite sorts large tables in a directory that it chooses when it is loaded: a common one, which
# in a sandbox looks writable and is not. The server starts an entry in one that is.
os.environ.setdefault("SQLITE_TMPDIR", os.getcwd())

import sqlite3  # noqa: E402

SCHEMA = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE files (
    path BLOB PRIMARY KEY, size INTEGER, device INTEGER, inode INTEGER,
    twin INTEGER DEFAULT 0,  -- another file has the same size
    sha256 TEXT
);
CREATE TABLE troubles (path BLOB, kind TEXT, reason TEXT);
CREATE TABLE previous (path BLOB PRIMARY KEY, size INTEGER, sha256 TEXT);
"""
EMPTY_SHA256 = hashlib.sha256(b"").hexdigest()


class Found(NamedTuple):
    """A regular file, as the scan has seen it."""

    path: bytes
    size: int
    device: int
    inode: int


class Trouble(NamedTuple):
    """Something that is no readable file: kind is broken_link, unreadable or special."""

    path: bytes
    kind: str
    reason: str


class Twins(NamedTuple):
    """Files with the same contents."""

    sha256: str
    size: int
    files: int
    wasted: int
    paths: list[bytes]


class Catalogue:
    def __init__(self, file: Path) -> None:
        self._db = sqlite3.connect(str(file), isolation_level=None)
        self._db.executescript(SCHEMA)

    def close(self) -> None:
        self._db.close()

    def add_files(self, files: Iterable[Found]) -> None:
        self._many(
            "INSERT OR REPLACE INTO files (path, size, device, inode) VALUES (?, ?, ?, ?)", files
        )

    def add_troubles(self, troubles: Iterable[Trouble]) -> None:
        self._many("INSERT INTO troubles VALUES (?, ?, ?)", troubles)

    def add_previous(self, rows: Iterable[tuple[bytes, int, str | None]]) -> None:
        self._many("INSERT OR REPLACE INTO previous VALUES (?, ?, ?)", rows)

    def set_hashes(self, hashes: Iterable[tuple[str, bytes]]) -> None:
        self._many("UPDATE files SET sha256 = ? WHERE path = ?", hashes)

    def prepare_hashing(self) -> None:
        """Empty files need no reading; files that may have a twin are to be read first."""
        self._db.execute("CREATE INDEX by_size ON files (size)")
        self._db.execute("UPDATE files SET sha256 = ? WHERE size = 0", (EMPTY_SHA256,))
        self._db.execute(
            "UPDATE files SET twin = 1 WHERE size > 0 AND size IN"
            " (SELECT size FROM files GROUP BY size HAVING count(*) > 1)"
        )
        self._db.execute("CREATE INDEX by_turn ON files (twin DESC, path)")

    def to_hash(self) -> tuple[int, int]:
        """How many files are to be read, and their bytes."""
        return self._count_and_sum(
            "SELECT count(*), coalesce(sum(size), 0) FROM files WHERE size > 0"
        )

    def hash_batch(self, first: int, count: int) -> list[tuple[bytes, int]]:
        rows = self._db.execute(
            "SELECT path, size FROM files WHERE size > 0 ORDER BY twin DESC, path LIMIT ? OFFSET ?",
            (count, first),
        )
        return rows.fetchall()

    def prepare_comparing(self) -> None:
        self._db.execute("CREATE INDEX by_contents ON files (sha256, size)")

    def totals(self) -> tuple[int, int]:
        return self._count_and_sum("SELECT count(*), coalesce(sum(size), 0) FROM files")

    def unread(self) -> int:
        """Files whose contents are not known, because reading failed or time was up."""
        return self._count("SELECT count(*) FROM files WHERE sha256 IS NULL")

    def twins(self, groups_max: int, paths_max: int) -> tuple[int, int, list[Twins]]:
        """How many groups of equal files, the bytes they waste, and the worst groups.

        Names of one inode are one file, and waste nothing.
        """
        equal = (
            "SELECT sha256, size, count(DISTINCT device || ':' || inode) AS copies FROM files"
            " WHERE size > 0 AND sha256 IS NOT NULL GROUP BY sha256, size HAVING copies > 1"
        )
        count, wasted = self._count_and_sum(
            f"SELECT count(*), coalesce(sum(size * (copies - 1)), 0) FROM ({equal})"
        )
        worst = self._db.execute(
            f"SELECT sha256, size, copies, size * (copies - 1) AS wasted FROM ({equal})"
            " ORDER BY wasted DESC, sha256 LIMIT ?",
            (groups_max,),
        ).fetchall()
        groups = []
        for sha256, size, copies, waste in worst:
            paths = self._paths_of(sha256, paths_max)
            groups.append(Twins(sha256, size, copies, waste, paths))
        return count, wasted, groups

    def empty(self, limit: int) -> tuple[int, list[bytes]]:
        return self._listed("files WHERE size = 0", limit)

    def big(self, bytes_min: int, limit: int) -> tuple[int, list[tuple[bytes, int]]]:
        count = self._count("SELECT count(*) FROM files WHERE size >= ?", bytes_min)
        rows = self._db.execute(
            "SELECT path, size FROM files WHERE size >= ? ORDER BY size DESC, path LIMIT ?",
            (bytes_min, limit),
        )
        return count, rows.fetchall()

    def troubles(self, kind: str, limit: int) -> tuple[int, list[tuple[bytes, str]]]:
        count = self._count("SELECT count(*) FROM troubles WHERE kind = ?", kind)
        rows = self._db.execute(
            "SELECT path, reason FROM troubles WHERE kind = ? ORDER BY path LIMIT ?", (kind, limit)
        )
        return count, rows.fetchall()

    def added(self, limit: int) -> tuple[int, list[bytes]]:
        return self._listed("files WHERE path NOT IN (SELECT path FROM previous)", limit)

    def removed(self, limit: int) -> tuple[int, list[bytes]]:
        return self._listed("previous WHERE path NOT IN (SELECT path FROM files)", limit)

    def changed(self, limit: int) -> tuple[int, list[bytes]]:
        """Another size is another content; of an equal size the contents must be known."""
        condition = (
            "files JOIN previous USING (path)"
            " WHERE files.size <> previous.size OR files.sha256 <> previous.sha256"
        )
        return self._listed(condition, limit)

    def every_file(self) -> Iterator[tuple[bytes, int, str | None]]:
        return iter(self._db.execute("SELECT path, size, sha256 FROM files ORDER BY path"))

    def _listed(self, condition: str, limit: int) -> tuple[int, list[bytes]]:
        count = self._count(f"SELECT count(*) FROM {condition}")
        return count, self._paths(f"SELECT path FROM {condition} ORDER BY path LIMIT ?", limit)

    def _paths_of(self, sha256: str, limit: int) -> list[bytes]:
        query = "SELECT path FROM files WHERE sha256 = ? ORDER BY path LIMIT ?"
        return self._paths(query, sha256, limit)

    def _paths(self, query: str, *values: object) -> list[bytes]:
        return [path for (path,) in self._db.execute(query, values)]

    def _count(self, query: str, *values: object) -> int:
        (count,) = self._db.execute(query, values).fetchone()
        return int(count)

    def _count_and_sum(self, query: str) -> tuple[int, int]:
        count, total = self._db.execute(query).fetchone()
        return int(count), int(total)

    def _many(self, query: str, rows: Iterable[tuple[Any, ...]]) -> None:
        self._db.execute("BEGIN")
        self._db.executemany(query, rows)
        self._db.execute("COMMIT")
