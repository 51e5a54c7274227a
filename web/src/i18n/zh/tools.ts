export default {
  title: '工具',
  intro: '全局工具设置。在此停用的工具，智能体无法启用；正在运行的智能体自下次工具调用起生效。',
  search: '搜索工具',
  filter: { label: '筛选工具', all: '全部', switched: '已自定义', gone: '已移除' },
  none: '没有匹配的工具',
  noneText: '换个词试试，或显示全部工具。',
  setting: { default: '默认', on: '启用', off: '停用' },
  settingOf: '{name}的全局设置',
  why: {
    onByDefault: '默认启用，智能体可以停用。',
    offByDefault: '默认停用，智能体可以启用。',
    on: '全局启用，智能体可以停用。',
    off: '全局停用，智能体不能启用。',
    gone: '已不可用。设置会保留，恢复后继续生效。',
  },
  weaker: {
    refused:
      '此机器不允许用户命名空间，仅由 Landlock 和 seccomp 限制程序：程序可以修改工作目录的 .git/hooks 和 .git/config，且没有 /dev/shm、终端和 System V IPC。',
    off: '用户命名空间已关闭，仅由 Landlock 和 seccomp 限制程序：程序可以修改工作目录的 .git/hooks 和 .git/config，且没有 /dev/shm、终端和 System V IPC。',
  },
  gone: '已移除',
  more: '{name}的详情',
  arguments: '参数：',
  users: '各智能体的状态',
  noUsers: '没有智能体使用它。',
  changedMeanwhile: '其他人刚修改了{name}，现在显示的是最新设置。',
}
