//! Words of the doctor.

use crate::text::{Lang, texts};
use std::fmt::Display;

texts! {
    level_ok() { "ok" "正常" }
    level_info() { "info" "信息" }
    level_warn() { "warn" "警告" }
    level_fail() { "fail" "失败" }
    all_is_well() { "all is well" "一切正常" }
    found(failures, warnings) { "failures: {failures}, warnings: {warnings}" "失败：{failures}，警告：{warnings}" }

    environment() { "environment" "环境变量" }
    no_variables() { "nothing of NetaClaw is set" "没有设置 NetaClaw 的变量" }
    not_read() { "NetaClaw does not read it" "NetaClaw 不读取它" }
    unset_it() { "unset it" "请取消设置" }
    configuration() { "configuration" "配置" }
    config_read(file) { "{file}" "{file}" }
    config_absent() { "no file, the defaults count" "没有配置文件，使用默认值" }

    dir_will_be_made(dir) { "{dir} does not exist yet; the first start makes it" "{dir} 还不存在；首次启动时创建" }
    dir_cannot_be_made() { "it does not exist and cannot be made" "不存在，也无法创建" }
    no_directory() { "it is no directory" "不是目录" }
    choose_data_dir() { "choose another one with --data-dir or NETACLAW_DATA_DIR" "请用 --data-dir 或 NETACLAW_DATA_DIR 指定其他目录" }
    dir_and_space(dir, free) { "{dir}, {free} free" "{dir}，可用 {free}" }
    make_space() { "make space on this disk, or move the directory" "请清理磁盘，或移动该目录" }
    said_by_variable(name) { "from {name}" "来自 {name}" }
    correct_or_unset() { "correct or unset it" "请改正或取消设置" }
    made_at_first_start() { "not there yet; the first start makes it" "还没有；首次启动时创建" }
    key_file_gone(file) { "{file} is gone, and with it what the keys of the channels were encrypted with" "{file} 不见了，渠道密钥是用它加密的" }
    file_and_mode(file, mode) { "{file}, mode {mode}" "{file}，权限 {mode}" }
    others_may_read(file) { "others may read it: chmod 600 {file}" "其他用户可以读取：chmod 600 {file}" }

    session_files() { "session files" "会话文件" }
    see_verify_all() { "`netaclaw session verify --all` tells which" "用 `netaclaw session verify --all` 查看详情" }
    open_sessions() { "open sessions" "打开的会话" }
    in_use_now(count) { "{count}, by a server or a chat" "{count} 个，正被服务或对话使用" }
    session_database() { "session database" "会话数据库" }
    admin_store() { "admin store" "管理存储" }
    tables_current() { "reached, tables up to date" "可用，数据表为最新" }
    tables_behind(steps) { "reached; migrations that the next start makes: {steps}" "可用；下次启动将执行迁移：{steps} 个" }
    tables_ahead() { "a newer NetaClaw has changed its tables" "数据表已被更新的 NetaClaw 修改" }
    use_newer_program() { "use that version, or another data directory" "请使用该版本，或换一个数据目录" }
    check_store() { "check that it is there, that you may read it, and that its address is right" "请检查它是否存在、可读，以及地址是否正确" }

    uses(channel, model) { "uses {channel}, {model}" "使用 {channel}，{model}" }
    see_channels() { "`netaclaw channel list` shows the channels, `netaclaw agent edit` changes the agent" "用 `netaclaw channel list` 查看渠道，用 `netaclaw agent edit` 修改智能体" }
    not_asked() { "not asked (--offline)" "未询问（--offline）" }
    answered(millis) { "works, answered in {millis} ms" "可用，{millis} 毫秒内应答" }
    see_channel_test(name) { "`netaclaw channel test {name}` asks again" "用 `netaclaw channel test {name}` 再次测试" }

    listen_word(address) { "listen address {address}" "监听地址 {address}" }
    port_free() { "free" "空闲" }
    port_taken() { "another program listens there" "已被其他程序占用" }
    server_runs(version) { "NetaClaw {version} runs here and takes this token" "NetaClaw {version} 正在运行，并接受此令牌" }
    strange_server(version) { "a NetaClaw {version} runs here, but it does not take this data directory's token" "此处运行着 NetaClaw {version}，但不接受此数据目录的令牌" }
    other_version(running, ours) { "NetaClaw {running} runs here, and this is {ours}" "此处运行着 NetaClaw {running}，而本程序为 {ours}" }
    restart_it() { "restart the server" "请重启服务" }

    sandbox() { "sandbox" "沙箱" }
    landlock_version(version) { "the kernel can lock tools in (Landlock ABI {version})" "内核可以隔离工具（Landlock ABI {version}）" }
    landlock_truncates() { "it cannot keep them from emptying files elsewhere, Linux 6.2 can" "但无法阻止清空其他位置的文件，Linux 6.2 起可以" }
    landlock_signals() { "it cannot keep them from sending signals to other processes, Linux 6.12 can" "但无法阻止向其他进程发送信号，Linux 6.12 起可以" }
    landlock_sockets() { "it cannot tell sockets in the file tree apart, Linux 7.1 can; they are closed to tools" "但无法区分文件系统中的套接字，Linux 7.1 起可以；工具不能使用这些套接字" }
    landlock_off() { "the kernel has Landlock, but it is switched off; tools that start programs are off unless an agent allows it (sandbox.missing)" "内核支持 Landlock，但未启用；除非智能体允许（sandbox.missing），启动程序的工具不可用" }
    enable_landlock() { "add landlock to the kernel parameter lsm=" "请在内核参数 lsm= 中加入 landlock" }
    landlock_absent() { "this kernel cannot lock tools in; tools that start programs are off unless an agent allows it (sandbox.missing)" "此内核无法隔离工具；除非智能体允许（sandbox.missing），启动程序的工具不可用" }
    newer_kernel() { "use Linux 5.13 or newer, or run NetaClaw in a container" "请使用 Linux 5.13 或更新版本，或在容器中运行 NetaClaw" }
    namespaces() { "namespaces" "命名空间" }
    namespaces_work() { "programs get devices, temporary files, shared memory and IPC of their own; git hooks and settings are read-only for them" "程序拥有独立的设备、临时文件、共享内存和进程间通信；git 的钩子和设置对其只读" }
    namespaces_off() { "switched off (user_namespaces); programs are held by Landlock and seccomp alone: they can change .git/hooks and .git/config of a workspace, and have no /dev/shm, no terminals, no System V IPC and no /tmp but TMPDIR" "已关闭（user_namespaces）；仅由 Landlock 和 seccomp 限制程序：程序可以修改工作目录的 .git/hooks 和 .git/config，且没有 /dev/shm、终端和 System V IPC，临时文件只能放在 TMPDIR" }
    namespaces_refused(why) { "{why}; programs are held by Landlock and seccomp alone: they can change .git/hooks and .git/config of a workspace, and have no /dev/shm, no terminals, no System V IPC and no /tmp but TMPDIR" "{why}；仅由 Landlock 和 seccomp 限制程序：程序可以修改工作目录的 .git/hooks 和 .git/config，且没有 /dev/shm、终端和 System V IPC，临时文件只能放在 TMPDIR" }
    allow_namespaces() { "allow unprivileged user namespaces on this machine, or accept it with user_namespaces = \"off\" under [sandbox]" "请在此机器上允许非特权用户命名空间，或在 [sandbox] 中设置 user_namespaces = \"off\" 表示接受" }
    account() { "account" "运行账户" }
    runs_as_root() { "NetaClaw runs as root: programs of agents read every file of the machine that is not hidden, whatever its mode, and change files of all accounts in their workspaces" "NetaClaw 以 root 运行：智能体的程序可以读取机器上所有未隐藏的文件（不论权限），并能修改工作目录中所有账户的文件" }
    use_another_account() { "run it as an account of its own" "请使用专用账户运行" }
    programs() { "programs" "程序" }
    programs_found(names) { "found {names}" "已找到 {names}" }
    programs_missing(names) { "not found {names}" "未找到 {names}" }
}
