//! Words of the server.

use crate::text::{Lang, texts};
use std::fmt::Display;

texts! {
    listening(address, link) { "NetaClaw is ready at {address} — open {link}" "NetaClaw 已就绪：{address} — 打开 {link}" }
    listening_at(address) { "NetaClaw is ready at {address}" "NetaClaw 已就绪：{address}" }
    for_a_link(command) { "for a link that logs in, run `{command}` here" "如需登录链接，请在本机运行 `{command}`" }
    with_the_token(variable) { "log in with the token in {variable}" "请用 {variable} 中的令牌登录" }
    no_token_yet() { "there is none yet" "还没有访问令牌" }
    start_once(variable) { "start the server once with this data directory, or set {variable}" "请先用此数据目录启动一次服务，或设置 {variable}" }
    not_an_address() { "this is not an address to listen on" "这不是可以监听的地址" }
    listen_example() { "write it as 127.0.0.1:7300" "请写成 127.0.0.1:7300 的形式" }
    listen_elsewhere() { "choose another address with --listen, or port 0 for a free one" "请用 --listen 指定其他地址，或用端口 0 自动选择" }
    no_accounts() { "the server would be open to other machines, and nobody is configured to log in" "服务将对其他机器开放，但还没有配置可以登录的用户或令牌" }
    set_token(variable) { "set {variable}, or first give a user a password or a token" "请设置 {variable}，或先为用户设置密码或添加令牌" }
    workspace_at_data(agent) { "agent {agent}: its workspace contains the data directory or lies inside it. Tools cannot see that part, and programs cannot create files directly beside it. Give the agent a workspace of its own, or start the server in another directory" "智能体 {agent}：其工作目录包含数据目录，或位于其中。工具看不到这一部分，程序也不能在其旁边直接新建文件。请为该智能体另设工作目录，或从其他目录启动服务" }
    stopped_at_once() { "asked to stop twice: what was under way is cut off, and the next start closes it" "收到第二次停止信号：进行中的内容已被中断，下次启动时会妥善收尾" }
}
