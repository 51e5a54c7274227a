import type { Messages } from '../types'

export default {
  app: 'NetaClaw',
  notFound: '此地址没有页面。',
  toChat: '前往聊天',
} satisfies Messages['shell']
