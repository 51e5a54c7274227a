import type { Messages } from '../types'

export default {
  app: 'NetaClaw',
  notFound: '此地址没有页面。',
  toChat: '前往聊天',
  skip: '跳到正文',
  nav: { label: '页面', chat: '聊天' },
  menu: { open: '打开菜单', collapse: '隐藏侧栏' },
  sessions: {
    label: '会话',
    new: '新聊天',
    search: '搜索会话',
    showArchived: '显示已归档的会话',
    empty: '还没有会话。写一条消息即可开始。',
    noneArchived: '没有已归档的会话。',
    noneFound: '没有符合搜索的会话。',
    failed: '无法加载列表。',
    more: '显示更多',
    untitled: '新聊天',
    confirmRemove: '删除“{title}”？',
    confirmRemoveText: '其中的消息将不复存在，且无法恢复。',
    remove: '删除',
    problem: '操作未成功：{message}',
  },
  settings: {
    label: '外观与账户',
    language: '语言',
    theme: { label: '主题', system: '跟随系统', light: '浅色', dark: '深色' },
    logout: '退出登录',
  },
} satisfies Messages['shell']
