import type { Messages } from '../types'

export default {
  text: '请登录后继续。',
  linkRefused: '此链接已失效：其中的令牌已过期或吊销。请用其他令牌登录。',
  way: '登录方式',
  by: { token: '令牌', password: '用户名和密码' },
  token: '访问令牌',
  tokenHint: '服务器在终端中启动时会打印带令牌的链接，也可运行 `netaclaw link` 再次打印。可直接粘贴整个链接。',
  name: '用户名',
  password: '密码',
  enter: '登录',
  wait: '尝试次数过多，请在 {time}后重试。',
  wrong: {
    token: '令牌无效，可能已过期或吊销。',
    password: '用户名或密码错误。',
  },
  again: '重新登录',
  againText: '登录已过期。本页内容不会丢失，登录后即可继续。',
} satisfies Messages['login']
