//! Texts about skills.

use crate::text::{Lang, texts};
use std::fmt::Display;

texts! {
    no_skills() { "no skills" "没有技能" }
    skill_named(name) { "skill \"{name}\"" "技能 \"{name}\"" }
    skill_state() { "state" "状态" }
    skill_source() { "source" "来源" }
    skill_ready() { "ready" "可用" }
    skill_unavailable() { "unavailable" "不可用" }
    skill_invalid() { "invalid" "无效" }
    skill_shadowed() { "overridden" "已覆盖" }
    skill_not_chosen() { "not selected" "未选用" }
    skill_of_agent() { "agent" "智能体" }
    skill_of_data() { "data directory" "数据目录" }
    skill_of_workspace() { "workspace" "工作区" }
    skill_shipped() { "built-in" "内置" }
    skill_made(place) { "created {place}; try it with: netaclaw skill run {place} --input '{{\"names\": [\"Ada\"]}}'" "已创建 {place}；可以这样试用：netaclaw skill run {place} --input '{{\"names\": [\"Ada\"]}}'" }
    skill_bad_name() { "use lower-case letters, digits and hyphens" "请使用小写字母、数字和连字符" }
    skill_no_file() { "it contains no SKILL.md" "其中没有 SKILL.md" }
    skill_name_folder() { "specify the folder of a skill" "请指定技能文件夹" }
    skill_good(name) { "{name}: no problems found" "{name}：未发现问题" }
    skill_warning(text) { "warning: {text}" "警告：{text}" }
    skill_problem(text) { "problem: {text}" "问题：{text}" }
    skill_default_description() { "Describes what this skill does and when to use it." "说明这个技能做什么，以及何时使用。" }
    skill_input_not_json() { "the input is not a JSON object" "输入不是 JSON 对象" }
    skill_see_input() { "see the expected input with `netaclaw skill check`" "用 `netaclaw skill check` 查看所需的输入" }
}
