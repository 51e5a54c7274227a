import type { Messages } from '../types'

export default {
  title: '连接模型',
  text: '目前由内置的演示模型回答。选择由谁来回答，只需不到一分钟。',
  textMore: '选择由谁来回答，只需不到一分钟。',
  step: { supplier: '选择供应商', connect: '连接 {name}', model: '选择模型' },
  needsKey: '需要 API 密钥',
  noKey: '无需密钥',
  address: '地址',
  addressHint: '留空则使用默认地址。',
  addressNeeded: '服务器地址，例如 https://models.example.com/v1',
  key: 'API 密钥',
  keyHint: '密钥加密保存在此服务器上，之后不再显示。',
  connect: '连接',
  testing: '正在询问供应商…',
  anyway: '仍然继续',
  model: '模型',
  modelHint: '默认智能体将使用它，之后可随时更改。',
  finish: '使用并开始聊天',
  panel: {
    title: '正在与演示模型对话',
    text: '它是内置的，可离线使用，用来展示 NetaClaw 的功能。要得到真正的回答，请连接您自己的模型。',
    go: '连接模型',
    dismiss: '不再显示',
  },
} satisfies Messages['welcome']
