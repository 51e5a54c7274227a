//! Words of the server.

use crate::text::{Lang, texts};
use std::fmt::Display;

texts! {
    listening(address, link) { "NetaClaw is ready at {address} — open {link}" "NetaClaw 已就绪：{address} — 打开 {link}" }
    not_an_address() { "this is not an address to listen on" "这不是可以监听的地址" }
    listen_example() { "write it as 127.0.0.1:7300" "请写成 127.0.0.1:7300 的形式" }
    listen_elsewhere() { "choose another address with --listen, or port 0 for a free one" "请用 --listen 指定其他地址，或用端口 0 自动选择" }
    no_accounts() { "the server would be open to other machines, and nobody is configured to log in" "服务将对其他机器开放，但还没有配置可以登录的用户或令牌" }
    set_token(variable) { "set {variable}, or first give a user a password or a token" "请设置 {variable}，或先为用户设置密码或添加令牌" }
    stopped_at_once() { "asked to stop twice: what was under way is cut off, and the next start closes it" "收到第二次停止信号：进行中的内容已被中断，下次启动时会妥善收尾" }
}
