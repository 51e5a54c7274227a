import type { Messages } from '../types'

export default {
  title: '连接模型',
  text: '目前由内置的演示模型回答。连接真实模型，只需不到一分钟。',
  textMore: '连接模型，只需不到一分钟。',
  step: { supplier: '选择供应商', connect: '连接 {name}', model: '选择模型' },
  needsKey: '需要 API 密钥',
  noKey: '无需密钥',
  address: 'Base URL',
  addressHint: '留空则使用默认地址。',
  addressNeeded: '服务器地址，例如 https://models.example.com/v1',
  key: 'API 密钥',
  keyHint: '密钥加密保存在此服务器上，之后不再显示。',
  connect: '连接',
  testing: '正在连接供应商…',
  advanced: '高级',
  supplier: { compatible: 'OpenAI 兼容接口', demo: '演示' },
  anyway: '仍然继续',
  model: '模型',
  modelHint: '由默认智能体使用，可随时更改。',
  finish: '保存并开始聊天',
  panel: {
    title: '您正在使用演示模型',
    text: '演示模型内置于 NetaClaw，可离线使用，用于展示功能。连接真实模型后即可获得真实的回答。',
    go: '连接模型',
    dismiss: '不再显示',
  },
} satisfies Messages['welcome']
