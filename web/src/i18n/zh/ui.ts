import type { Messages } from '../types'

export default {
  copied: '已复制',
  code: {
    plain: '文本',
    copy: '复制代码',
    wrap: '自动换行',
    fold: '收起',
    unfold: '展开全部 {count} 行',
    label: '代码：{language}',
  },
  diagram: {
    label: '图表',
    source: '查看源码',
    drawing: '查看图表',
    problem: '无法绘制此图表。',
  },
} satisfies Messages['ui']
