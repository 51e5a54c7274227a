"""Reads the files of the catalogue, in batches, and enters their SHA-256."""

from __future__ import annotations

import hashlib
import math
import os
import stat
from typing import Callable

from catalogue import Catalogue, Trouble
from scan import reason

CHUNK_BYTES = 1 << 20
# Opening a file costs about as much as reading this much of it.
OPEN_COST_BYTES = 1 << 16


class DeadlineReached(Exception):
    pass


class Changed(Exception):
    """The file is no longer what the scan has seen."""


class Hashing:
    def __init__(
        self,
        root: bytes,
        catalogue: Catalogue,
        is_over: Callable[[], bool],
        batch_files: int,
        batches_max: int,
    ) -> None:
        self.root = root
        self.catalogue = catalogue
        self.is_over = is_over
        self.files_total, self.bytes_total = catalogue.to_hash()
        self.batch_files = max(batch_files, math.ceil(self.files_total / batches_max))
        self.batches = math.ceil(self.files_total / self.batch_files)
        self.batch = 0
        self.files = 0
        self.bytes = 0

    def run(self, finished_batch: Callable[[], None], moving: Callable[[bytes], None]) -> bool:
        """Hashes everything; False if the deadline came first. What is done is entered anyway."""
        while self.batch < self.batches:
            first = self.batch * self.batch_files
            hashes: list[tuple[str, bytes]] = []
            troubles: list[Trouble] = []
            try:
                for path, size in self.catalogue.hash_batch(first, self.batch_files):
                    self._one(path, size, moving, hashes, troubles)
            except DeadlineReached:
                return False
            finally:
                self.catalogue.set_hashes(hashes)
                self.catalogue.add_troubles(troubles)
            self.batch += 1
            finished_batch()
        return True

    def part(self) -> float:
        """How much is done, from 0 to 1. Counts bytes, as batches may be very uneven."""
        done = self.bytes + self.files * OPEN_COST_BYTES
        whole = self.bytes_total + self.files_total * OPEN_COST_BYTES
        return done / whole if whole else 1.0

    def _one(
        self,
        path: bytes,
        size: int,
        moving: Callable[[bytes], None],
        hashes: list[tuple[str, bytes]],
        troubles: list[Trouble],
    ) -> None:
        before = self.bytes
        try:
            hashes.append((self._sha256(path, size, moving), path))
        except Changed:
            troubles.append(Trouble(path, "unreadable", "changed while it was read"))
        except OSError as error:
            troubles.append(Trouble(path, "unreadable", reason(error)))
        self.bytes = before + size
        self.files += 1

    def _sha256(self, path: bytes, size: int, moving: Callable[[bytes], None]) -> str:
        """The hash of a file that is still regular and of the size that the scan has seen."""
        # Since the scan, it may have been replaced by a link or a pipe.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with open(os.open(os.path.join(self.root, path), flags), "rb", buffering=0) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Changed
            digest = hashlib.sha256()
            buffer = memoryview(bytearray(min(CHUNK_BYTES, size + 1)))
            read = 0
            while count := file.readinto(buffer):
                if self.is_over():
                    raise DeadlineReached
                digest.update(buffer[:count])
                read += count
                if read > size:
                    raise Changed
                self.bytes += count
                moving(path)
        if read != size:
            raise Changed
        return digest.hexdigest()
