import type { Messages } from '../types'

export default {
  save: {
    save: '保存',
    create: '创建',
    reset: '放弃修改',
    dirty: '有未保存的修改。',
    saved: '已保存',
    wrong: '请检查标出的字段。',
  },
  unsaved: {
    title: '不保存并离开？',
    text: '本页的修改将会丢失。',
    leave: '离开',
    stay: '留下',
  },
  conflict: {
    title: '他人已修改',
    text: '您编辑期间，其他用户于 {when} 保存了此项。您的修改尚未保存。',
    same: '两个版本内容相同。',
    hint: '如果保留您的版本，仅对方改过的字段仍采用对方的值。',
    by: { me: '您修改过', them: '对方修改过', both: '双方都修改过' },
    theirs: '对方',
    mine: '您',
    takeTheirs: '载入对方的版本',
    keepMine: '保留我的并保存',
    later: '继续编辑',
  },
  forbidden: {
    title: '仅限管理员',
    text: '您可以使用智能体，但不能查看服务器的配置。',
  },
  model: {
    first: '首个模型：{model}',
    none: '没有模型',
    gone: '未找到',
    disabled: '已停用',
    auxiliary: '辅助',
    notAuxiliary: '不是辅助渠道',
  },
  problem: {
    unauthorized: '登录已失效。',
    forbidden: '您没有权限执行此操作。',
    not_found: '未找到，可能已删除。',
    rate_limited: '请求过于频繁，请稍后重试。',
    unavailable: '服务器暂时不可用，请重试。',
    internal: '服务器内部错误，原因见服务器日志。',
    unreachable: '无法连接服务器。',
    field: '{field}：{message}',
    refused: '{message}',
  },
} satisfies Messages['admin']
