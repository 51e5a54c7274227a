//! Texts about the configuration.

use crate::text::{Lang, texts};
use std::fmt::Display;

texts! {
    agent() { "agent" "智能体" }
    channel() { "channel" "渠道" }
    dict_group() { "dictionary group" "字典类型" }
    dict_entry() { "dictionary entry" "字典项" }
    setting() { "setting" "设置" }
    access_token() { "token" "令牌" }
    memory() { "memory" "记忆" }
    secret_key() { "secret key" "主密钥" }
    supplier() { "supplier" "供应商" }
    models_word() { "models" "模型" }
    address() { "address" "地址" }
    key_word() { "API key" "API 密钥" }
    for_what() { "used for" "用途" }
    answers() { "answers" "回答" }
    auxiliary() { "auxiliary" "辅助" }
    enabled() { "enabled" "启用" }
    disabled() { "disabled" "停用" }
    key_set(last4) { "…{last4}" "…{last4}" }
    key_is_set() { "set" "已设置" }
    and_more(first, count) { "{first} +{count}" "{first} 等 {count} 个" }
    default_mark() { "default" "默认" }
    approval() { "approval" "审批" }
    description() { "description" "描述" }
    compaction_at(threshold, keep) { "at {threshold}%, keeps {keep} messages" "达到 {threshold}% 时压缩，保留 {keep} 条消息" }
    compaction_off() { "off" "关闭" }
    sessions_in() { "sessions" "会话" }
    workspace() { "workspace" "工作区" }
    allowed_hosts() { "allowed hosts" "允许的主机" }
    sandbox_word() { "sandbox" "沙箱" }
    with_network() { "programs may use the network" "程序可以使用网络" }
    without_network() { "programs cannot use the network" "程序不能使用网络" }
    sandbox_optional() { "programs also run if the kernel does not support the sandbox" "内核不支持沙箱时程序仍会运行" }
    tools_word() { "tools" "工具" }
    on_and_off(on, off) { "enabled: {on}; disabled: {off}" "启用：{on}；停用：{off}" }
    skills_word() { "skills" "技能" }
    mcp_word() { "MCP servers" "MCP 服务器" }
    everything() { "all" "全部" }
    fallback() { "fallback" "备用" }
    revision() { "revision" "版本" }
    system_prompt() { "system prompt" "系统提示词" }
    tool() { "tool" "工具" }
    risk() { "risk" "风险" }
    risk_read() { "read" "只读" }
    risk_write() { "write" "写入" }
    risk_exec() { "execute" "执行" }
    risk_network() { "network" "网络" }
    risk_delegate() { "delegate" "委派" }
    global_setting() { "all agents" "全局" }
    on_by_default() { "enabled by default" "默认启用" }
    off_by_default() { "disabled by default" "默认停用" }
    tool_gone() { "does not exist" "不存在" }
    tool_source() { "source" "来源" }
    tool_state() { "state" "状态" }
    tool_why() { "reason" "原因" }
    on_with_approval() { "enabled, needs approval" "启用，需审批" }
    why_off_by_default() { "disabled by default; an agent or an administrator can enable it" "默认停用，可由智能体或管理员启用" }
    why_off_globally() { "an administrator disabled it for all agents" "管理员已为所有智能体停用" }
    why_off_for_agent() { "the agent's settings disable it" "智能体的设置将其停用" }
    why_model_without_tools() { "the model does not support tools" "模型不支持工具" }
    why_model_without_vision() { "the model does not support images" "模型不支持图片" }
    tool_enabled(name) { "tool {name}: enabled for all agents; an agent can still disable it" "工具 {name}：已为所有智能体启用，智能体仍可自行停用" }
    tool_disabled(name) { "tool {name}: disabled for all agents" "工具 {name}：已为所有智能体停用" }
    tool_reset(name) { "tool {name}: reset to its default; agents can enable or disable it" "工具 {name}：已恢复默认，由智能体决定是否启用" }
    no_channels() { "no channels" "没有渠道" }

    channel_added(name, supplier) { "channel {name}: added ({supplier})" "渠道 {name}：已添加（{supplier}）" }
    channel_updated(name, supplier) { "channel {name}: updated ({supplier})" "渠道 {name}：已更新（{supplier}）" }
    channel_same(name) { "channel {name}: no changes" "渠道 {name}：没有变化" }
    channel_removed(name) { "channel {name}: removed" "渠道 {name}：已删除" }
    agent_uses(agent, channel, model) { "agent {agent}: now uses {channel}, {model}" "智能体 {agent}：改用 {channel}，{model}" }
    auxiliary_uses(channel) { "auxiliary model (summaries and titles): {channel}" "辅助模型（摘要和标题）：{channel}" }
    no_models_yet(name) { "channel {name} has no models; add one with --model" "渠道 {name} 没有模型；请用 --model 添加" }
    no_key_yet(name) { "channel {name} has no API key, but its supplier requires one; set it with --api-key-env" "渠道 {name} 没有 API 密钥，而供应商要求提供；请用 --api-key-env 设置" }
    variable(name) { "variable {name}" "变量 {name}" }
    variable_empty() { "it is not set or is empty" "未设置或为空" }
    set_variable() { "store the key in it; --api-key-env expects the name of a variable, not the key" "请把密钥存入该变量；--api-key-env 后面是变量名，不是密钥" }
    not_a_variable() { "this is not a variable name" "这不是变量名" }
    test_passed(name, millis) { "channel {name}: available, responded in {millis} ms" "渠道 {name}：可用，{millis} 毫秒内响应" }
    its_models(models) { "models: {models}" "模型：{models}" }
    models_not_told() { "the supplier does not list its models" "供应商不提供模型列表" }
    missing_models(models) { "models that the supplier does not offer: {models}" "供应商没有这些模型：{models}" }

    agent_changed(name, rev) { "agent {name}: changed, revision {rev}" "智能体 {name}：已修改，版本 {rev}" }
    agent_same(name) { "agent {name}: no changes" "智能体 {name}：没有变化" }
    not_an_assignment(text) { "--set {text}" "--set {text}" }
    want_assignment() { "it does not have the form field=value" "不是 字段=值 的形式" }
    example_assignment() { "for example --set modelConfig.temperature=0.3" "例如 --set modelConfig.temperature=0.3" }
    editor(name) { "editor {name}" "编辑器 {name}" }
    editor_failed() { "it exited with an error" "异常退出" }
    set_editor() { "set EDITOR, or use --set" "请设置 EDITOR，或使用 --set" }
    no_terminal() { "an editor needs a terminal" "编辑器需要终端" }
    text_kept(path) { "your text is saved in {path}" "您的文本保存在 {path}" }
    form_head(name, rev) { "Agent {name}, revision {rev}. Fields that are not listed have their default values." "智能体 {name}，版本 {rev}。未写出的字段取默认值。" }
    form_absent(fields) { "Not set: {fields}" "未设置：{fields}" }
    form_cannot() { "an argument of a tool override is null, which this form cannot represent" "某个工具覆盖参数为 null，表单无法表示" }
    use_set() { "use --set" "请使用 --set" }

    does_not_exist() { "it does not exist" "不存在" }
    did_you_mean(name) { "did you mean {name}?" "您要找的是 {name} 吗？" }
    see_list_of(kind) { "see `netaclaw {kind} list`" "用 `netaclaw {kind} list` 查看" }
    changed_meanwhile(expected, current) { "it was changed elsewhere, from revision {expected} to {current}" "已在别处修改，从版本 {expected} 变为 {current}" }
    repeat_change() { "review it and repeat your change" "请查看后重新修改" }
    choose_other_name() { "choose another name" "请换一个名称" }
    in_use_by(by) { "it is used by {by}" "正被使用：{by}" }
    change_users_first() { "switch them to another channel first" "请先为它们换一个渠道" }
    key_not_opened() { "its API key cannot be decrypted: it was stored with another secret key, or modified since" "无法解密其 API 密钥：保存时用的是另一个主密钥，或之后被改动" }
    restore_secret_key() { "restore the secret.key it was stored with, or set the API key again with `netaclaw channel add`" "请恢复当时的 secret.key，或用 `netaclaw channel add` 重新设置 API 密钥" }
    unknown_session_provider(name) { "unknown session provider {name}; sessions are stored in files" "未知的会话存储 {name}：会话保存在文件中" }
    admin_store_values() { "use sqlite or mysql" "请使用 sqlite 或 mysql" }
}
