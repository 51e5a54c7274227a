"""Draws the findings from the catalogue: counts are complete, lists are cut."""

from __future__ import annotations

from dataclasses import dataclass

from catalogue import Catalogue, Twins

LISTED_MAX = 1000
PATHS_OF_GROUP_MAX = 20

Named = tuple[int, list[bytes]]


@dataclass
class Difference:
    """Against an earlier audit. Removed is unknown if this one has not seen everything."""

    folder: str
    added: Named
    changed: Named
    removed: Named | None


@dataclass
class Findings:
    files: int
    size: int
    unread: int
    twin_groups: int
    twin_bytes: int
    twins: list[Twins]
    empty: Named
    big: tuple[int, list[tuple[bytes, int]]]
    broken_links: tuple[int, list[tuple[bytes, str]]]
    unreadable: tuple[int, list[tuple[bytes, str]]]
    special: tuple[int, list[tuple[bytes, str]]]
    difference: Difference | None = None


def find(catalogue: Catalogue, big_bytes: int) -> Findings:
    catalogue.prepare_comparing()
    files, size = catalogue.totals()
    groups, wasted, twins = catalogue.twins(LISTED_MAX, PATHS_OF_GROUP_MAX)
    return Findings(
        files=files,
        size=size,
        unread=catalogue.unread(),
        twin_groups=groups,
        twin_bytes=wasted,
        twins=twins,
        empty=catalogue.empty(LISTED_MAX),
        big=catalogue.big(big_bytes, LISTED_MAX),
        broken_links=catalogue.troubles("broken_link", LISTED_MAX),
        unreadable=catalogue.troubles("unreadable", LISTED_MAX),
        special=catalogue.troubles("special", LISTED_MAX),
    )


def compare(catalogue: Catalogue, folder: str, saw_everything: bool) -> Difference:
    return Difference(
        folder=folder,
        added=catalogue.added(LISTED_MAX),
        changed=catalogue.changed(LISTED_MAX),
        removed=catalogue.removed(LISTED_MAX) if saw_everything else None,
    )
