// @vitest-environment jsdom
import { flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { testI18n } from '../testing'
import MarkdownView from './MarkdownView.vue'
import { morphHtml } from './morph'

const show = (source: string, growing = false) =>
  mount(MarkdownView, { props: { source, growing }, global: { plugins: [testI18n()] }, attachTo: document.body })

beforeEach(() => {
  Element.prototype.scrollTo = () => {}
})

const frame = () => new Promise((done) => requestAnimationFrame(done))

async function grow(view: ReturnType<typeof show>, source: string): Promise<void> {
  await view.setProps({ source, growing: true })
  await frame()
  await flushPromises()
}

vi.setConfig({ testTimeout: 30_000 })

describe('a text that grows on the page', () => {
  test('keeps its nodes, also those of the last block', async () => {
    const view = show('first\n\nsecond **bold** te', true)
    const [first, second] = view.findAll('p').map((paragraph) => paragraph.element)
    const text = second!.lastChild
    await grow(view, 'first\n\nsecond **bold** text and `more`')
    expect(view.findAll('p').map((paragraph) => paragraph.element)).toEqual([first, second])
    expect(text!.isConnected).toBe(true)
    expect(text!.textContent).toBe(' text and ')
    await view.setProps({ source: 'first\n\nsecond **bold** text and `more`', growing: false })
    expect(text!.isConnected).toBe(true)
  })

  test('keeps the selection', async () => {
    const view = show('one two', true)
    const text = view.get('p').element.firstChild!
    const range = document.createRange()
    range.setStart(text, 0)
    range.setEnd(text, 3)
    await grow(view, 'one two three')
    expect(range.startContainer).toBe(text)
    expect([range.startOffset, range.endOffset]).toEqual([0, 3])
  })

  test('keeps a code block and its colours', async () => {
    const view = show('```rust\nfn main() {\n    l', true)
    await vi.waitFor(() => expect(view.find('.hljs-keyword').exists()).toBe(true), 20_000)
    const keyword = view.get('.hljs-keyword').element
    const block = view.get('figure').element
    await grow(view, '```rust\nfn main() {\n    let a = 1;\n    le')
    expect(view.get('figure').element).toBe(block)
    expect(keyword.isConnected).toBe(true)
    expect(view.get('code').text()).toBe('fn main() {\n    let a = 1;\n    le')
    await view.setProps({ source: '```rust\nfn main() {\n    let a = 1;\n    let b;\n}\n```', growing: false })
    expect(view.get('code').text()).toBe('fn main() {\n    let a = 1;\n    let b;\n}')
    expect(view.findAll('.hljs-keyword').map((found) => found.text())).toEqual(['fn', 'let', 'let'])
  })

  test('draws once per frame', async () => {
    const view = show('a', true)
    await view.setProps({ source: 'ab' })
    await view.setProps({ source: 'abc' })
    expect(view.text()).toBe('a')
    await frame()
    await flushPromises()
    expect(view.text()).toBe('abc')
  })
})

describe('code', () => {
  beforeEach(() => {
    Object.defineProperty(navigator, 'clipboard', { value: { writeText: vi.fn(async () => {}) }, configurable: true })
  })
  afterEach(() => vi.restoreAllMocks())

  test('is copied as it is', async () => {
    const view = show('- x\n  ```sh\n  echo "<a>"\n  ```')
    await view.get('button[aria-label="Copy code"]').trigger('click')
    expect(navigator.clipboard.writeText).toHaveBeenCalledWith('echo "<a>"')
    await flushPromises()
    expect(view.find('button[aria-label="Copied"]').exists()).toBe(true)
  })

  test('of more than forty lines is folded', async () => {
    const text = Array.from({ length: 41 }, (_, index) => `line ${index}`).join('\n')
    const view = show(`\`\`\`\n${text}\n\`\`\``)
    expect(view.get('figure').attributes('data-folded')).toBe('true')
    await view.get('button[aria-expanded]').trigger('click')
    expect(view.get('figure').attributes('data-folded')).toBeUndefined()
    expect(
      show(`\`\`\`\n${text.slice(0, -8)}\n\`\`\``)
        .find('button[aria-expanded]')
        .exists(),
    ).toBe(false)
  })
})

test('an image asks to be opened', async () => {
  const view = show('![a cat](/admin/netaclaw/attachments/1)')
  await view.get('.md-image img').trigger('click')
  expect(view.emitted('openImage')).toMatchObject([[{ alt: 'a cat' }]])
})

test('formulas are drawn, unreadable ones keep their source', async () => {
  const view = show('$a^2$ and $\\frac{$')
  await vi.waitFor(() => expect(view.find('.katex').exists()).toBe(true), 20_000)
  expect(view.text()).toContain('\\frac{')
})

describe('morphing', () => {
  function check(before: string, after: string): void {
    const root = document.createElement('div')
    root.innerHTML = before
    morphHtml(root, after)
    expect(root.innerHTML).toBe(after)
  }

  test('ends equal', () => {
    check('<p>a</p>', '<p>ab</p><p>c</p>')
    check('<p>a<b>x</b></p><ul><li>1</li></ul>', '<p>a</p>')
    check('<p class="x">a</p>', '<p title="t">b<i>c</i>d</p>')
    check('', '<table><tbody><tr><td>1</td></tr></tbody></table>')
    check('text<br>more', '<h1>x</h1>')
  })
})
