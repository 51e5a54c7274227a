"""Everything people read, in English and Chinese."""

from __future__ import annotations

ENGLISH = {
    "extract": "Collecting frames",
    "extract_reference": "Collecting reference frames",
    "extracted": "Frames: {frames}",
    "frame_skipped": "A frame could not be read",
    "detect": "Looking for damage",
    "detect_vision": "by the model {model}",
    "detect_comparison": "by image comparison",
    "detected": "Places to look at: {candidates}",
    "vision_failed": "The model could not look at a batch; image comparison takes its place",
    "ground": "Locating what was found",
    "grounded": "Findings: {findings}",
    "select": "Selecting the best frames",
    "selected": "Best frames: {frames}",
    "report": "Writing the report",
    "reported": "Report written",
    "title": "Vehicle damage inspection",
    "summary": "Frames looked at: {looked}. Findings: {findings}.",
    "summary_list": " {list}.",
    "separator": "; ",
    "summary_none": " Nothing conspicuous was found, which does not prove that nothing is there.",
    "summary_unseen": " Frames without a comparable one, hence not judged: {count}.",
    "summary_finding": "{number}: {kind} in {frame} ({confidence} %)",
    "method": "Method",
    "method_vision": "{count} frames were looked at by the model {model}. It can be wrong in both"
    " directions.",
    "method_comparison": "{count} frames were looked at by image comparison, not by a trained"
    " detector: places that differ from {against} and have more local contrast.",
    "method_limits": "To image comparison, reflections, dirt, water or stickers look like damage,"
    " and damage that all frames show alike is not found. Percents say how distinct a difference"
    " is, not how likely damage is.",
    "against_reference": "the reference frames",
    "against_others": "neighbouring and mirrored frames",
    "method_fallback": "The model failed for {count} frames; image comparison took its place.",
    "method_unseen": "{count} frames could not be judged, because no other frame shows the same:"
    " {names}.",
    "method_skipped": "Frames that could not be read: {names}.",
    "method_some": "Of {available} frames, {chosen}, evenly chosen, were looked at.",
    "advice": "Whatever this report says, a person has to look at the vehicle itself.",
    "findings": "Findings",
    "none": "None.",
    "finding_title": "{number}. {kind}, {confidence} %",
    "finding_frame": "Best frame: {frame}. Seen in: {frames}.",
    "finding_box": "Place: {left}–{right} % from the left, {top}–{bottom} % from the top.",
    "finding_said": "The model's words: {words}",
    "picture_caption": "{frame}: {list}",
    "picture_item": "{number} {kind} ({confidence} %)",
    "kind_dent": "possible dent",
    "kind_scratch": "possible scratch",
    "kind_crack": "possible crack",
    "kind_broken_part": "possibly broken part",
    "kind_rust": "possible rust",
    "kind_other": "conspicuous place",
}
CHINESE = {
    "extract": "正在收集画面",
    "extract_reference": "正在收集参考画面",
    "extracted": "画面：{frames}",
    "frame_skipped": "有一幅画面无法读取",
    "detect": "正在查找损伤",
    "detect_vision": "由模型 {model} 检测",
    "detect_comparison": "以图像比较检测",
    "detected": "待查看的位置：{candidates}",
    "vision_failed": "模型未能检查一批画面，改用图像比较",
    "ground": "正在定位",
    "grounded": "发现：{findings}",
    "select": "正在选择最佳画面",
    "selected": "最佳画面：{frames}",
    "report": "正在撰写报告",
    "reported": "报告已写好",
    "title": "车辆损伤检查",
    "summary": "已检查画面：{looked}。发现：{findings}。",
    "summary_list": "{list}。",
    "separator": "；",
    "summary_none": "未发现异常，但这并不证明没有损伤。",
    "summary_unseen": "因没有可比较的画面而未判断：{count}。",
    "summary_finding": "{number}：{kind}，见 {frame}（{confidence} %）",
    "method": "方法",
    "method_vision": "{count} 幅画面由模型 {model} 检查。它可能误报，也可能漏报。",
    "method_comparison": "{count} 幅画面以图像比较检查，而非经过训练的检测器：找出与{against}不同"
    "且局部对比度更高的位置。",
    "method_limits": "对图像比较而言，反光、污渍、水迹或贴纸与损伤并无区别，各画面中都相同的损伤"
    "则不会被发现。百分比表示差异有多明显，而不是损伤的可能性。",
    "against_reference": "参考画面",
    "against_others": "相邻画面及镜像画面",
    "method_fallback": "模型未能检查 {count} 幅画面，改用图像比较。",
    "method_unseen": "{count} 幅画面无法判断，因为没有其他画面拍到同一处：{names}。",
    "method_skipped": "无法读取的画面：{names}。",
    "method_some": "共 {available} 幅画面，均匀选取并检查了 {chosen} 幅。",
    "advice": "无论本报告结论如何，都需要有人查看实车。",
    "findings": "发现",
    "none": "无。",
    "finding_title": "{number}. {kind}，{confidence} %",
    "finding_frame": "最佳画面：{frame}。出现于：{frames}。",
    "finding_box": "位置：距左 {left}–{right} %，距上 {top}–{bottom} %。",
    "finding_said": "模型的描述：{words}",
    "picture_caption": "{frame}：{list}",
    "picture_item": "{number} {kind}（{confidence} %）",
    "kind_dent": "疑似凹陷",
    "kind_scratch": "疑似划痕",
    "kind_crack": "疑似裂纹",
    "kind_broken_part": "疑似部件损坏",
    "kind_rust": "疑似锈蚀",
    "kind_other": "异常位置",
}
LANGUAGES = {"en": ENGLISH, "zh": CHINESE}


class Words:
    """The texts of one language, filled in."""

    def __init__(self, language: str) -> None:
        self._texts = LANGUAGES[language]

    def __call__(self, name: str, **values: object) -> str:
        return self._texts[name].format(**values)
