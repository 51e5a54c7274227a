//! Texts about MCP servers.

use crate::text::{Lang, texts};
use std::fmt::Display;

texts! {
    mcp_server() { "MCP server" "MCP 服务器" }
    no_mcp_servers() { "no MCP servers" "没有 MCP 服务器" }
    mcp_how() { "command or URL" "命令或地址" }
    mcp_secrets() { "secrets" "密钥" }
    mcp_added(name) { "MCP server {name}: saved" "MCP 服务器 {name}：已保存" }
    mcp_enabled(name) { "MCP server {name}: enabled" "MCP 服务器 {name}：已启用" }
    mcp_disabled(name) { "MCP server {name}: disabled" "MCP 服务器 {name}：已停用" }
    mcp_not_opened() { "its secrets cannot be decrypted: they were stored with another secret key, or modified since" "无法解密其密钥：保存时用的是另一个主密钥，或之后被改动" }
    mcp_restore_key() { "restore the secret.key they were stored with, or add the server again with its secrets" "请恢复当时的 secret.key，或重新添加该服务器及其密钥" }
    mcp_removed(name) { "MCP server {name}: removed" "MCP 服务器 {name}：已删除" }
    mcp_works(name, count) { "MCP server {name}: available, tools: {count}" "MCP 服务器 {name}：可用，{count} 个工具" }
    mcp_needs_target() { "specify either a command after -- or a URL with --url" "请在 -- 之后给出命令，或用 --url 给出地址" }
    variable_not_set(name) { "the variable {name} is not set" "变量 {name} 未设置" }
    mcp_set_variable(name) { "set {name} before you run this command; secrets are read from variables, not from arguments" "请先设置变量 {name}；密钥取自变量，而不是命令行参数" }
}
