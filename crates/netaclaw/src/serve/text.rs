//! Texts of the server.

use crate::text::{Lang, texts};
use std::fmt::Display;

texts! {
    listening(address, link) { "NetaClaw is ready at {address} — open {link}" "NetaClaw 已就绪：{address} — 打开 {link}" }
    listening_at(address) { "NetaClaw is ready at {address}" "NetaClaw 已就绪：{address}" }
    on_all_addresses(origin, bound) { "{origin} (listening on {bound})" "{origin}（监听 {bound}）" }
    other_server(process, address) { "another server (process {process}, {address}) uses this data directory. Both show the same sessions and settings, but a session that is open in one of them is busy in the other, and each has its own limits. Stop one of them, or choose another directory with --data-dir" "另一个服务（进程 {process}，{address}）正在使用此数据目录。两个服务显示相同的会话和设置，但在其中一个里打开的会话，在另一个里会显示为占用，且限额分别计算。请停止其中一个，或用 --data-dir 指定其他目录" }
    other_chat(process) { "a terminal chat (process {process}) uses this data directory; the session that is open in it is busy here until it ends" "一个终端对话（进程 {process}）正在使用此数据目录；它打开的会话在其结束前显示为占用" }
    for_a_link(command) { "run `{command}` here to print a login link" "在本机运行 `{command}` 可获取登录链接" }
    with_the_token(variable) { "log in with the token in {variable}" "请用 {variable} 中的令牌登录" }
    no_token_yet() { "there is no access token yet" "还没有访问令牌" }
    start_once(variable) { "start the server once with this data directory, or set {variable}" "请先用此数据目录启动一次服务，或设置 {variable}" }
    listen_setting() { "listen address" "监听地址" }
    not_an_address() { "this is not a valid listen address" "这不是有效的监听地址" }
    listen_example() { "use the form 127.0.0.1:7300" "请写成 127.0.0.1:7300 的形式" }
    listen_elsewhere() { "choose another address with --listen, or port 0 for any free port" "请用 --listen 指定其他地址，或用端口 0 自动选择" }
    no_accounts() { "the server would be reachable from other machines, but no user or token is configured" "其他机器将可以访问此服务，但还没有配置可以登录的用户或令牌" }
    set_token(variable) { "set {variable}, or set a password or add a token for a user first" "请设置 {variable}，或先为用户设置密码或添加令牌" }
    workspace_at_data(agent) { "agent {agent}: its workspace contains the data directory or is inside it. Tools cannot see that part, and programs cannot create files next to it. Set another workspace for the agent, or start the server in another directory" "智能体 {agent}：其工作区包含数据目录，或位于其中。工具看不到这一部分，程序也不能在其旁边新建文件。请为该智能体另设工作区，或从其他目录启动服务" }
    stopped_at_once() { "received a second stop signal: runs are interrupted, and the next start completes them" "收到第二次停止信号：运行已被中断，下次启动时收尾" }
}
