//! Texts of `backup` and `restore`.

use crate::text::{Lang, texts};
use std::fmt::Display;

texts! {
    backed_up(dir, sessions, files, bytes) { "backup complete: {dir} ({sessions} sessions, {files} files, {bytes} bytes)" "备份完成：{dir}（{sessions} 个会话，{files} 个文件，{bytes} 字节）" }
    backup_holds_key() { "the backup contains the secret key and the access token: protect it like the server itself" "备份中包含主密钥和访问令牌：请像保护服务器一样保护它" }
    backup_without_key() { "the secret key comes from NETACLAW_SECRET_KEY and is not in the backup: store it separately" "主密钥来自 NETACLAW_SECRET_KEY，不在备份中：请另行保存" }
    backup_without_mysql() { "data in MySQL is not in the backup: back it up after this command with `mysqldump --single-transaction`" "MySQL 中的数据不在备份中：请在此命令之后用 `mysqldump --single-transaction` 备份" }
    backup_left_out(names) { "not included because they do not belong to NetaClaw: {names}" "未包含（不属于 NetaClaw）：{names}" }
    backup_inside() { "it is inside the data directory" "位于数据目录之内" }
    dir_not_empty() { "it is not empty" "目录不为空" }
    choose_other_dir() { "choose another directory" "请选择其他目录" }
    partial_exists() { "another backup is in progress here, or was interrupted" "此处有正在进行或已中断的备份" }
    remove_partial() { "wait until it is complete, or remove this directory" "请等待其完成，或删除该目录" }
    no_manifest() { "it has no manifest.json, so it is not a complete backup" "其中没有 manifest.json：不是完整的备份" }
    manifest_unreadable(why) { "its manifest cannot be read: {why}" "无法读取其清单：{why}" }
    manifest_of_other_format(found, known) { "its format is {found}, but this program reads {known}" "备份格式为 {found}，本程序可读取 {known}" }
    use_newer_netaclaw() { "use the version of NetaClaw that created it" "请使用创建该备份的 NetaClaw 版本" }
    manifest_unsafe(path) { "its manifest names a path outside the data directory: {path}" "其清单包含数据目录之外的路径：{path}" }
    checksums_differ(count, first) { "files missing or different from the manifest: {count}; the first is {first}" "缺失或与清单不符的文件：{count} 个，第一个为 {first}" }
    choose_complete_backup() { "use another backup" "请使用其他备份" }
    database_damaged(why) { "the database is damaged: {why}" "数据库已损坏：{why}" }
    restore_backup() { "restore a backup with `netaclaw restore` into an empty data directory" "请用 `netaclaw restore` 将备份恢复到空的数据目录" }
    restore_elsewhere() { "choose an empty directory with --data-dir, or move this one away" "请用 --data-dir 指定空目录，或先移走此目录" }
    restore_incomplete() { "a restore into this directory was interrupted" "此目录的恢复曾被中断" }
    restore_again() { "empty the directory and run `netaclaw restore` again" "请清空目录，并重新运行 `netaclaw restore`" }
    backup_verified(dir) { "backup verified: {dir}" "备份校验通过：{dir}" }
    restored(dir) { "restored: {dir}" "已恢复：{dir}" }
    backup_contents(created, version, sessions, files, bytes) { "created {created} by NetaClaw {version}: {sessions} sessions, {files} files, {bytes} bytes" "由 NetaClaw {version} 创建于 {created}：{sessions} 个会话，{files} 个文件，{bytes} 字节" }
    provide_key() { "set NETACLAW_SECRET_KEY to the key of the original server" "请将 NETACLAW_SECRET_KEY 设为原服务器的主密钥" }
    restore_mysql() { "import the dump of the MySQL database before you start the server" "启动服务前，请先导入 MySQL 数据库的转储" }
    start_server() { "start the server with `netaclaw`; check it with `netaclaw doctor`" "用 `netaclaw` 启动服务；用 `netaclaw doctor` 检查" }
    check_took_long(seconds) { "the integrity check of the database took longer than {seconds} s and was skipped; run it in full with `netaclaw doctor`" "数据库完整性检查超过 {seconds} 秒，已跳过；可用 `netaclaw doctor` 完整检查" }
}
