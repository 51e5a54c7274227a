import type { Messages } from '../types'

export default {
  title: '记忆',
  text: '智能体跨会话记住的关于您的简短事实，只有您自己看得到。',
  new: '新增记忆',
  search: '搜索记忆',
  agent: '智能体',
  anyAgent: '任意智能体',
  shared: '所有智能体',
  none: '还没有记住任何内容',
  noneText: '把以后仍然有用的事告诉智能体，或直接写在这里。',
  notFound: '没有找到相关记忆',
  actions: '“{text}”的操作',
  edit: '编辑',
  by: { agent: '智能体保存于 {when}', user: '您写于 {when}' },
  delete: { title: '忘记这条内容？', yes: '删除' },
  editor: {
    new: '新增记忆',
    edit: '编辑记忆',
    text: '内容',
    hint: '一句脱离上下文也能看懂的话。',
    left: '还可输入 {left} 个字符，最多 {max} 个',
    tooLong: '超出 {over} 个字符，最多 {max} 个。',
    agent: '由谁记住',
    save: '保存',
  },
} satisfies Messages['memory']
