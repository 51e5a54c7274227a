//! Words about skills.

use crate::text::{Lang, texts};
use std::fmt::Display;

texts! {
    no_skills() { "no skills" "没有技能" }
    skill_state() { "state" "状态" }
    skill_source() { "from" "来源" }
    skill_ready() { "ready" "可用" }
    skill_unavailable() { "unavailable" "不可用" }
    skill_invalid() { "invalid" "无效" }
    skill_shadowed() { "shadowed" "被遮盖" }
    skill_not_chosen() { "not chosen" "未选用" }
    skill_of_agent() { "agent" "智能体" }
    skill_of_data() { "data directory" "数据目录" }
    skill_of_workspace() { "workspace" "工作目录" }
    skill_shipped() { "shipped" "内置" }
    skill_made(place) { "made {place}; try it with: netaclaw skill run {place} --input '{{\"names\": [\"Ada\"]}}'" "已创建 {place}；可以这样试用：netaclaw skill run {place} --input '{{\"names\": [\"Ada\"]}}'" }
    skill_bad_name() { "use lower-case letters, digits and hyphens" "请使用小写字母、数字和连字符" }
    skill_no_file() { "there is no SKILL.md in it" "其中没有 SKILL.md" }
    skill_name_folder() { "name the folder of a skill" "请给出技能文件夹" }
    skill_good(name) { "{name}: good" "{name}：没有问题" }
    skill_warning(text) { "warning: {text}" "警告：{text}" }
    skill_problem(text) { "problem: {text}" "问题：{text}" }
    skill_default_description() { "Says what this skill does, and when to use it." "说明这个技能做什么，以及何时使用。" }
    skill_input_not_json() { "the input is not a JSON object" "输入不是 JSON 对象" }
    skill_see_input() { "see what it wants to know: netaclaw skill check" "用 netaclaw skill check 查看它需要什么" }
}
