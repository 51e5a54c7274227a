"""Everything people read, in English and Chinese."""

from __future__ import annotations

ENGLISH = {
    "scan": "Scanning the folder",
    "scanning": "{files} files so far",
    "scanned": "{files} files in {folders} folders",
    "hash": "Hashing files",
    "hashing": "{files} of {total} files, {size}",
    "hashed": "{files} files, {size} hashed",
    "compare": "Comparing",
    "compared": "Groups of equal files: {groups}; broken links: {broken}",
    "what_contents": "contents and sizes",
    "what_previous": "the earlier audit",
    "report": "Writing the report",
    "reported": "Report written",
    "unreadable_warning": "{count} files or folders could not be read",
    "deadline": "The time was up before everything was read; the report says what is missing",
    "files_max": "There are more files than maxFiles; the rest was not looked at",
    "title": "Audit of {folder}",
    "summary": "{files} files, {size}. Groups of equal files: {groups}, wasting {wasted}. Empty"
    " files: {empty}. Very big files: {big}. Broken links: {broken}. Unreadable: {unreadable}.",
    "summary_difference": " Against the earlier audit: {added} added, {changed} changed, {removed}"
    " removed.",
    "summary_partial": " Incomplete: {unread} files were not read.",
    "unknown": "an unknown number",
    "partial": "**This audit is incomplete.** {why}. {unread} files were not read.",
    "other_folder": "The earlier audit was of another folder: {folder}.",
    "twins": "Equal files",
    "twins_head": "| wasted | each | copies | files |",
    "big_section": "Very big files ({size} and more)",
    "empty_section": "Empty files",
    "broken_section": "Broken links",
    "unreadable_section": "Could not be read",
    "special_section": "Neither file, folder nor link (not opened)",
    "added_section": "Added since the earlier audit",
    "changed_section": "Changed since the earlier audit",
    "removed_section": "Removed since the earlier audit",
    "none": "None.",
    "more": "… and {count} more, see {data}",
    "counted": "{files} files, {size}, in {folders} folders; {links} links, {excluded} left out.",
}
CHINESE = {
    "scan": "正在扫描文件夹",
    "scanning": "目前 {files} 个文件",
    "scanned": "{folders} 个文件夹中共 {files} 个文件",
    "hash": "正在计算哈希",
    "hashing": "{files} / {total} 个文件，{size}",
    "hashed": "已计算 {files} 个文件，共 {size}",
    "compare": "正在比较",
    "compared": "{groups} 组内容相同的文件，{broken} 个失效链接",
    "what_contents": "内容与大小",
    "what_previous": "上次审计",
    "report": "正在撰写报告",
    "reported": "报告已写好",
    "unreadable_warning": "{count} 个文件或文件夹无法读取",
    "deadline": "时间已到，尚未读完全部内容；报告中说明了缺少的部分",
    "files_max": "文件数超过 maxFiles，其余未检查",
    "title": "{folder} 的审计",
    "summary": "{files} 个文件，共 {size}。{groups} 组内容相同的文件浪费 {wasted}；"
    "空文件 {empty} 个，特大文件 {big} 个，失效链接 {broken} 个，无法读取 {unreadable} 个。",
    "summary_difference": "与上次审计相比：新增 {added}，修改 {changed}，删除 {removed}。",
    "summary_partial": "不完整：{unread} 个文件未读取。",
    "unknown": "未知",
    "partial": "**本次审计不完整。** {why}。{unread} 个文件未读取。",
    "other_folder": "上次审计的是另一个文件夹：{folder}。",
    "twins": "内容相同的文件",
    "twins_head": "| 浪费 | 单个大小 | 份数 | 文件 |",
    "big_section": "特大文件（{size} 及以上）",
    "empty_section": "空文件",
    "broken_section": "失效链接",
    "unreadable_section": "无法读取",
    "special_section": "既非文件、文件夹，也非链接（未打开）",
    "added_section": "自上次审计以来新增",
    "changed_section": "自上次审计以来修改",
    "removed_section": "自上次审计以来删除",
    "none": "无。",
    "more": "……另有 {count} 个，见 {data}",
    "counted": "{folders} 个文件夹中共 {files} 个文件，{size}；"
    "{links} 个链接，略去 {excluded} 项。",
}
LANGUAGES = {"en": ENGLISH, "zh": CHINESE}


class Words:
    """The texts of one language, filled in."""

    def __init__(self, language: str) -> None:
        self._texts = LANGUAGES[language]

    def __call__(self, name: str, **values: object) -> str:
        return self._texts[name].format(**values)


def size_text(size: int) -> str:
    """Bytes as people say them: 1536 is 1.5 KiB."""
    amount = float(size)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{size} bytes" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TiB"
