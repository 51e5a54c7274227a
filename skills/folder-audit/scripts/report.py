"""Writes the findings: Markdown for people, JSON for programs, a listing for the next audit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from catalogue import Catalogue
from compare import Findings
from previous import DATA_NAME, VERSION, row_of
from scan import Scanned
from skill import shown, write_file
from words import Words, size_text

REPORT_NAME = "audit.md"
LISTING_NAME = "files.jsonl"
# A report is read by people and by models; everything else is in the JSON beside it.
SHOWN_MAX = 50
PATHS_SHOWN_MAX = 5


@dataclass
class Audit:
    """Everything there is to say."""

    folder: str
    big_bytes: int
    scanned: Scanned
    findings: Findings
    # Why the audit is incomplete, in words.
    partial: str | None

    def counts(self) -> dict[str, int | None]:
        found, difference = self.findings, self.findings.difference
        counts: dict[str, int | None] = {
            "files": found.files,
            "folders": self.scanned.folders,
            "links": self.scanned.links,
            "bytes": found.size,
            "unread": found.unread,
            "duplicateGroups": found.twin_groups,
            "duplicateBytes": found.twin_bytes,
            "empty": found.empty[0],
            "big": found.big[0],
            "brokenLinks": found.broken_links[0],
            "unreadable": found.unreadable[0],
            "special": found.special[0],
        }
        if difference:
            counts.update(added=difference.added[0], changed=difference.changed[0])
            counts["removed"] = difference.removed[0] if difference.removed else None
        return counts


def write_listing(catalogue: Catalogue, folder: Path) -> None:
    """Streams every file to disk, so that memory stays small."""
    unfinished = folder / (LISTING_NAME + ".part")
    with open(unfinished, "w", encoding="utf-8", newline="\n") as file:
        for row in catalogue.every_file():
            file.write(json.dumps(row_of(*row)) + "\n")
    unfinished.replace(folder / LISTING_NAME)


def write_reports(audit: Audit, folder: Path, words: Words) -> None:
    write_file(folder / DATA_NAME, json.dumps(data(audit), indent=1) + "\n")
    write_file(folder / REPORT_NAME, "\n".join(markdown(audit, words)) + "\n")


def summary(audit: Audit, words: Words) -> str:
    found, difference = audit.findings, audit.findings.difference
    said = words(
        "summary",
        files=found.files,
        size=size_text(found.size),
        groups=found.twin_groups,
        wasted=size_text(found.twin_bytes),
        empty=found.empty[0],
        big=found.big[0],
        broken=found.broken_links[0],
        unreadable=found.unreadable[0],
    )
    if difference:
        removed = difference.removed[0] if difference.removed else words("unknown")
        said += words(
            "summary_difference",
            added=difference.added[0],
            changed=difference.changed[0],
            removed=removed,
        )
    return said + (words("summary_partial", unread=found.unread) if audit.partial else "")


def data(audit: Audit) -> dict[str, Any]:
    found, difference = audit.findings, audit.findings.difference
    document: dict[str, Any] = {
        "kind": "folder-audit",
        "version": VERSION,
        "folder": audit.folder,
        "complete": audit.partial is None,
        "files": LISTING_NAME,
        "counts": audit.counts(),
        "duplicates": [{**group._asdict(), "paths": names(group.paths)} for group in found.twins],
        "empty": names(found.empty[1]),
        "big": [{"path": shown(path), "size": size} for path, size in found.big[1]],
        "brokenLinks": reasons(found.broken_links[1]),
        "unreadable": reasons(found.unreadable[1]),
        "special": names(path for path, _ in found.special[1]),
    }
    if difference:
        document["difference"] = {
            "folder": difference.folder,
            "added": names(difference.added[1]),
            "changed": names(difference.changed[1]),
            "removed": names(difference.removed[1]) if difference.removed else None,
        }
    return document


def markdown(audit: Audit, words: Words) -> Iterator[str]:
    found, scanned = audit.findings, audit.scanned
    yield f"# {words('title', folder=code(audit.folder))}\n"
    yield summary(audit, words) + "\n"
    if audit.partial:
        yield words("partial", why=audit.partial, unread=found.unread) + "\n"
    yield words(
        "counted",
        files=found.files,
        size=size_text(found.size),
        folders=scanned.folders,
        links=scanned.links,
        excluded=scanned.excluded,
    )
    yield from difference_sections(audit, words)
    yield from twins_section(found, words)
    big = [f"{code(shown(path))}: {size_text(size)}" for path, size in found.big[1]]
    size = size_text(audit.big_bytes)
    yield from section(words("big_section", size=size), (found.big[0], big), words)
    yield from section(words("empty_section"), coded(found.empty), words)
    yield from section(words("broken_section"), explained(found.broken_links), words)
    for name in ("unreadable", "special"):
        listed = getattr(found, name)
        if listed[0]:
            yield from section(words(f"{name}_section"), explained(listed), words)


def difference_sections(audit: Audit, words: Words) -> Iterator[str]:
    difference = audit.findings.difference
    if difference is None:
        return
    if difference.folder != audit.folder:
        yield "\n" + words("other_folder", folder=code(difference.folder))
    for name in ("added", "changed", "removed"):
        listed = getattr(difference, name)
        if listed is not None:
            yield from section(words(f"{name}_section"), coded(listed), words)


def twins_section(found: Findings, words: Words) -> Iterator[str]:
    yield f"\n## {words('twins')}\n"
    if not found.twins:
        yield words("none")
        return
    yield words("twins_head")
    yield "| --: | --: | --: | :-- |"
    for group in found.twins[:SHOWN_MAX]:
        named = [code(shown(path)) for path in group.paths[:PATHS_SHOWN_MAX]]
        if group.files > len(named):
            named.append("…")
        wasted, each = size_text(group.wasted), size_text(group.size)
        yield f"| {wasted} | {each} | {group.files} | {', '.join(named)} |"
    yield from rest(found.twin_groups, words)


def section(title: str, listed: tuple[int, list[str]], words: Words) -> Iterator[str]:
    count, lines = listed
    yield f"\n## {title}\n"
    if not count:
        yield words("none")
    for line in lines[:SHOWN_MAX]:
        yield f"- {line}"
    yield from rest(count, words)


def rest(count: int, words: Words) -> Iterator[str]:
    if count > SHOWN_MAX:
        yield "\n" + words("more", count=count - SHOWN_MAX, data=code(DATA_NAME))


def coded(listed: tuple[int, list[bytes]]) -> tuple[int, list[str]]:
    return listed[0], [code(shown(path)) for path in listed[1]]


def explained(listed: tuple[int, list[tuple[bytes, str]]]) -> tuple[int, list[str]]:
    return listed[0], [f"{code(shown(path))}: {why}" for path, why in listed[1]]


def names(paths: Iterable[bytes]) -> list[str]:
    return [shown(path) for path in paths]


def reasons(rows: Iterable[tuple[bytes, str]]) -> list[dict[str, str]]:
    return [{"path": shown(path), "reason": why} for path, why in rows]


def code(name: str) -> str:
    """A name as Markdown code. What would end the code or the table's cell is written otherwise."""
    return "`" + name.replace("`", "ˋ").replace("|", "¦") + "`"
