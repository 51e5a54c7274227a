import type { Messages } from '../types'

export default {
  save: {
    save: '保存',
    create: '创建',
    reset: '放弃修改',
    dirty: '有未保存的修改。',
    saved: '已保存',
    wrong: '有些字段需要修改。',
  },
  unsaved: {
    title: '不保存就离开？',
    text: '此页上的修改将会丢失。',
    leave: '离开',
    stay: '留在此页',
  },
  conflict: {
    title: '有人先保存了',
    text: '在您编辑期间，有人于 {when} 保存了这条记录。您的修改尚未写入。',
    same: '您的版本与对方的版本相同。',
    hint: '保留您的修改时，只有对方改过的内容仍会保留。',
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
    first: '第一个：{model}',
    none: '没有模型',
    gone: '不存在',
    disabled: '已停用',
    auxiliary: '辅助',
  },
  problem: {
    unauthorized: '登录已失效。',
    forbidden: '您没有权限执行此操作。',
    not_found: '它不存在，或已被删除。',
    rate_limited: '操作过于频繁，请稍候。',
    unavailable: '服务器暂时无法处理，请重试。',
    internal: '服务器出错，错误已记录。',
    unreachable: '无法连接服务器。',
    refused: '服务器未接受：{message}',
  },
} satisfies Messages['admin']
