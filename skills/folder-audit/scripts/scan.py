"""Walks a folder and enters what it finds into the catalogue. Reads no contents."""

from __future__ import annotations

import errno
import fnmatch
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Callable

from catalogue import Catalogue, Found, Trouble

ROWS_AT_ONCE = 1000


@dataclass
class Scanned:
    """How much was seen, and why not all of it, if so: deadline or files_max."""

    files: int = 0
    folders: int = 0
    links: int = 0
    excluded: int = 0
    stopped_by: str | None = None


@dataclass
class Scan:
    root: bytes
    exclude: list[str]
    # Folders that are ours, such as the one the report goes to.
    skip: set[bytes]
    files_max: int
    is_over: Callable[[], bool]

    def into(self, catalogue: Catalogue, saw: Callable[[Scanned], None]) -> Scanned:
        """Enters everything below the root; `saw` is called with the progress now and then."""
        counts = Scanned()
        files: list[Found] = []
        troubles: list[Trouble] = []
        for item in self._walk(counts):
            if isinstance(item, Found):
                files.append(item)
            else:
                troubles.append(item)
            if len(files) + len(troubles) >= ROWS_AT_ONCE:
                catalogue.add_files(files)
                catalogue.add_troubles(troubles)
                files, troubles = [], []
                saw(counts)
        catalogue.add_files(files)
        catalogue.add_troubles(troubles)
        return counts

    def _walk(self, counts: Scanned) -> Iterator[Found | Trouble]:
        # Links are looked at, never followed: a loop of links cannot trap the scan.
        waiting = [self.root]
        while waiting:
            folder = waiting.pop()
            counts.folders += 1
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        if counts.stopped_by is None and self.is_over():
                            counts.stopped_by = "deadline"
                        if counts.stopped_by is not None:
                            return
                        yield from self._look(entry, waiting, counts)
            except OSError as error:
                yield Trouble(self._name(folder), "unreadable", reason(error))

    def _look(
        self, entry: os.DirEntry[bytes], waiting: list[bytes], counts: Scanned
    ) -> Iterator[Found | Trouble]:
        name = self._name(entry.path)
        if entry.path in self.skip or self._is_excluded(name):
            counts.excluded += 1
            return
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            yield Trouble(name, "unreadable", reason(error))
            return
        if stat.S_ISDIR(status.st_mode):
            waiting.append(entry.path)
        elif stat.S_ISLNK(status.st_mode):
            counts.links += 1
            yield from broken_link(entry.path, name)
        elif stat.S_ISREG(status.st_mode):
            if counts.files >= self.files_max:
                counts.stopped_by = "files_max"
                return
            counts.files += 1
            yield Found(name, status.st_size, status.st_dev, status.st_ino)
        else:
            # A pipe or a device is never opened: reading it might not end.
            yield Trouble(name, "special", "not a regular file")

    def _name(self, path: bytes) -> bytes:
        return os.path.relpath(path, self.root)

    def _is_excluded(self, name: bytes) -> bool:
        path = os.fsdecode(name)
        last = os.path.basename(path)
        return any(
            fnmatch.fnmatchcase(last, p) or fnmatch.fnmatchcase(path, p) for p in self.exclude
        )


def broken_link(path: bytes, name: bytes) -> Iterator[Trouble]:
    try:
        os.stat(path)
    except OSError as error:
        why = "a loop of links" if error.errno == errno.ELOOP else reason(error)
        yield Trouble(name, "broken_link", why)


def reason(error: OSError) -> str:
    """The system's words without the path, which may be absolute."""
    return error.strerror or "input/output error"
