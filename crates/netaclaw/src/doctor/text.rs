//! Texts of the doctor.

use crate::text::{Lang, texts};
use std::fmt::Display;

texts! {
    level_ok() { "ok" "正常" }
    level_info() { "info" "信息" }
    level_warn() { "warn" "警告" }
    level_fail() { "fail" "失败" }
    all_is_well() { "no problems found" "未发现问题" }
    found(failures, warnings) { "failures: {failures}, warnings: {warnings}" "失败：{failures}，警告：{warnings}" }

    environment() { "environment" "环境变量" }
    no_variables() { "no NetaClaw variables are set" "没有设置 NetaClaw 的变量" }
    not_read() { "NetaClaw does not use this variable" "NetaClaw 不使用此变量" }
    unset_it() { "correct its name or unset it" "请改正名称或取消设置" }
    configuration() { "configuration" "配置" }
    config_read(file) { "{file}" "{file}" }
    config_absent() { "no configuration file; using the defaults" "没有配置文件，使用默认值" }

    dir_will_be_made(dir) { "{dir} does not exist yet; the first start creates it" "{dir} 尚不存在；首次启动时创建" }
    dir_cannot_be_made() { "it does not exist and cannot be created" "不存在，也无法创建" }
    no_directory() { "it is not a directory" "不是目录" }
    choose_data_dir() { "choose another one with --data-dir or NETACLAW_DATA_DIR" "请用 --data-dir 或 NETACLAW_DATA_DIR 指定其他目录" }
    dir_and_space(dir, free) { "{dir}, {free} free" "{dir}，可用 {free}" }
    make_space() { "free space on this disk, or move the directory" "请清理磁盘，或移动该目录" }
    said_by_variable(name) { "from {name}" "来自 {name}" }
    correct_or_unset() { "correct or unset it" "请改正或取消设置" }
    made_at_first_start() { "does not exist yet; the first start creates it" "尚不存在；首次启动时创建" }
    key_file_gone(file) { "{file} is missing; the API keys of the channels cannot be decrypted without it" "{file} 不存在；没有它就无法解密渠道的 API 密钥" }
    file_and_mode(file, mode) { "{file}, mode {mode}" "{file}，权限 {mode}" }
    others_may_read(file) { "other users can read it: chmod 600 {file}" "其他用户可以读取：chmod 600 {file}" }

    session_files() { "session files" "会话文件" }
    see_verify_all() { "see `netaclaw session verify --all` for details" "用 `netaclaw session verify --all` 查看详情" }
    open_sessions() { "open sessions" "打开的会话" }
    in_use_now(count) { "{count}, used by a server or a chat" "{count} 个，正被服务或对话使用" }
    session_database() { "session database" "会话数据库" }
    admin_store() { "admin store" "管理存储" }
    tables_current() { "connected, tables up to date" "已连接，数据表为最新" }
    tables_behind(steps) { "connected; the next start runs migrations: {steps}" "已连接；下次启动将执行 {steps} 个迁移" }
    tables_ahead() { "its tables were migrated by a newer version of NetaClaw" "数据表已由更新版本的 NetaClaw 迁移" }
    use_newer_program() { "use that version, or another data directory" "请使用该版本，或换一个数据目录" }
    check_store() { "check that it exists, that its address is correct and that you have access" "请检查它是否存在、地址是否正确，以及是否有访问权限" }

    uses(channel, model) { "uses {channel}, {model}" "使用 {channel}，{model}" }
    see_channels() { "see `netaclaw channel list`; change the agent with `netaclaw agent edit`" "用 `netaclaw channel list` 查看渠道，用 `netaclaw agent edit` 修改智能体" }
    not_asked() { "not tested (--offline)" "未测试（--offline）" }
    answered(millis) { "available, responded in {millis} ms" "可用，{millis} 毫秒内响应" }
    see_channel_test(name) { "test it again with `netaclaw channel test {name}`" "用 `netaclaw channel test {name}` 再次测试" }

    see_mcp_test(name) { "test it again with `netaclaw mcp test {name}`, or disable it with `netaclaw mcp disable {name}`" "用 `netaclaw mcp test {name}` 再次测试，或用 `netaclaw mcp disable {name}` 停用" }
    mcp_silent(seconds) { "it did not answer within {seconds} s" "{seconds} 秒内没有应答" }
    mcp_offers(count) { "available, tools: {count}" "可用，{count} 个工具" }

    listen_word(address) { "listen address {address}" "监听地址 {address}" }
    port_free() { "available" "可用" }
    port_taken() { "another program is listening there" "另一个程序正在监听此地址" }
    server_runs(version) { "NetaClaw {version} is running here and accepts this token" "NetaClaw {version} 正在运行，并接受此令牌" }
    strange_server(version) { "NetaClaw {version} is running here but does not accept the token of this data directory" "NetaClaw {version} 正在运行，但不接受此数据目录的令牌" }
    other_version(running, ours) { "NetaClaw {running} is running here, but this program is {ours}" "此处运行着 NetaClaw {running}，而本程序为 {ours}" }
    restart_it() { "restart the server" "请重启服务" }

    sandbox() { "sandbox" "沙箱" }
    landlock_version(version) { "supported (Landlock ABI {version})" "内核支持（Landlock ABI {version}）" }
    landlock_truncates() { "programs can truncate files outside their workspace; Linux 6.2 or newer prevents this" "程序仍可清空工作区以外的文件，Linux 6.2 及更新版本可以阻止" }
    landlock_signals() { "programs can send signals to other processes; Linux 6.12 or newer prevents this" "程序仍可向其他进程发送信号，Linux 6.12 及更新版本可以阻止" }
    landlock_sockets() { "programs cannot use any sockets in the file system; Linux 7.1 or newer can distinguish them" "程序不能使用文件系统中的任何套接字，Linux 7.1 及更新版本才能区分" }
    landlock_off() { "the kernel has Landlock, but it is disabled; tools that start programs are unavailable unless an agent allows them (sandbox.missing)" "内核有 Landlock，但未启用；除非智能体允许（sandbox.missing），启动程序的工具不可用" }
    enable_landlock() { "add landlock to the kernel parameter lsm=" "请在内核参数 lsm= 中加入 landlock" }
    landlock_absent() { "this kernel has no Landlock; tools that start programs are unavailable unless an agent allows them (sandbox.missing)" "此内核没有 Landlock；除非智能体允许（sandbox.missing），启动程序的工具不可用" }
    newer_kernel() { "use Linux 5.13 or newer, or run NetaClaw in a container" "请使用 Linux 5.13 或更新版本，或在容器中运行 NetaClaw" }
    namespaces() { "namespaces" "命名空间" }
    namespaces_work() { "programs have their own devices, temporary files, shared memory and IPC; git hooks and settings are read-only" "程序拥有独立的设备、临时文件、共享内存和进程间通信；git 的钩子和设置对其只读" }
    namespaces_off() { "disabled (user_namespaces); only Landlock and seccomp restrict programs: they can change .git/hooks and .git/config of a workspace, and have no /dev/shm, terminals or System V IPC, and only TMPDIR for temporary files" "已停用（user_namespaces）；程序仅受 Landlock 和 seccomp 限制：可以修改工作区的 .git/hooks 和 .git/config，且没有 /dev/shm、终端和 System V IPC，临时文件只能放在 TMPDIR" }
    namespaces_refused(why) { "{why}; only Landlock and seccomp restrict programs: they can change .git/hooks and .git/config of a workspace, and have no /dev/shm, terminals or System V IPC, and only TMPDIR for temporary files" "{why}；程序仅受 Landlock 和 seccomp 限制：可以修改工作区的 .git/hooks 和 .git/config，且没有 /dev/shm、终端和 System V IPC，临时文件只能放在 TMPDIR" }
    allow_namespaces() { "allow unprivileged user namespaces on this machine, or accept this with user_namespaces = \"off\" under [sandbox]" "请在此机器上允许非特权用户命名空间，或在 [sandbox] 中设置 user_namespaces = \"off\" 以接受现状" }
    account() { "account" "运行账户" }
    runs_as_root() { "NetaClaw runs as root: programs of agents can read every file that is not hidden, whatever its mode, and can change files of all accounts in their workspaces" "NetaClaw 以 root 运行：智能体的程序可以读取所有未隐藏的文件（不论权限），并能修改其工作区中任何账户的文件" }
    use_another_account() { "run it with a dedicated account" "请使用专用账户运行" }
    programs() { "programs" "程序" }
    programs_found(names) { "found: {names}" "已找到：{names}" }
    programs_missing(names) { "not found: {names}" "未找到：{names}" }
}
