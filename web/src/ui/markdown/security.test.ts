// @vitest-environment jsdom
import { flushPromises, mount } from '@vue/test-utils'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { HOSTILE } from '@/gallery/hostile'
import { testI18n } from '../testing'
import { BlockRenderer } from './blocks'
import { imageOf, harmless } from './diagram'
import { formulaHtml } from './formula'
import { inlineHtml } from './inline'
import MarkdownView from './MarkdownView.vue'

// Thousands of texts are sanitised by a slow DOM.
vi.setConfig({ testTimeout: 60_000 })

const EXECUTABLE = 'script, iframe, object, embed, form, style, link, meta, base, [srcdoc], svg script, foreignObject'

function expectHarmless(root: ParentNode): void {
  expect([...root.querySelectorAll(EXECUTABLE)]).toEqual([])
  for (const element of root.querySelectorAll('*')) {
    for (const { name, value } of element.attributes) {
      expect(name, element.outerHTML).not.toMatch(/^on/i)
      if (/^(href|src|xlink:href|action|formaction)$/i.test(name)) {
        expect(value, element.outerHTML).toMatch(
          /^(https?:\/\/|mailto:|\/(?!\/)|data:image\/(png|jpeg|gif|webp)|blob:http:\/\/localhost)/,
        )
      }
    }
  }
}

beforeEach(() => {
  window.matchMedia = () => ({ matches: false, addEventListener: () => {}, removeEventListener: () => {} }) as never
  Element.prototype.scrollTo = () => {}
})

describe('nothing executable survives', () => {
  test.each(HOSTILE)('%j', async (source) => {
    const view = mount(MarkdownView, { props: { source }, global: { plugins: [testI18n()] }, attachTo: document.body })
    await flushPromises()
    expectHarmless(view.element)
    await view.setProps({ source: `${source}\n\nand more`, growing: true })
    await flushPromises()
    expectHarmless(view.element)
    view.unmount()
  })

  test('in a line of words, which has no links, pictures or attributes at all', () => {
    for (const source of HOSTILE) {
      const root = document.createElement('template')
      root.innerHTML = inlineHtml(source)
      expectHarmless(root.content)
      expect(
        [...root.content.querySelectorAll('*')].filter(
          (element) => !element.matches('code, em, s, strong') || element.attributes.length > 0,
        ),
      ).toEqual([])
    }
  })

  test('cut at every place while it grows', () => {
    for (const source of HOSTILE) {
      const renderer = new BlockRenderer()
      for (let end = 1; end <= source.length; end += 3) {
        const root = document.createElement('template')
        root.innerHTML = renderer
          .render(source.slice(0, end), true)
          .map((block) => block.html)
          .join('')
        expectHarmless(root.content)
      }
    }
  })
})

test('formulas make no links and no attributes of their own', async () => {
  for (const text of [
    '\\href{javascript:pwned()}{x}',
    '\\url{javascript:pwned()}',
    '\\htmlStyle{position:fixed}{x}',
    '\\htmlId{a}{x}',
  ]) {
    const html = await formulaHtml(text, true)
    const root = document.createElement('div')
    root.innerHTML = html ?? ''
    expectHarmless(root)
    expect(root.querySelector('a, [id]')).toBeNull()
    expect(root.querySelector('[style*="fixed"]')).toBeNull()
  }
  expect(await formulaHtml('\\sqrt{\\frac{a}{b}}', true)).toContain('<svg')
})

test('a drawing is an image without links, scripts or foreign parts', () => {
  const { src } = imageOf(
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 10 20" onload="pwned()">
      <script>pwned()</script><a xlink:href="javascript:pwned()" href="javascript:pwned()"><text onclick="pwned()">hi</text></a>
      <foreignObject><p xmlns="http://www.w3.org/1999/xhtml">x</p></foreignObject><image href="https://evil.example/x"/></svg>`,
  )
  const text = decodeURIComponent(src)
  expect(text).toContain('>hi</text>')
  expect(text).not.toMatch(/pwned|script|evil|foreignObject/)
})

test('words of a diagram are no tags, and its arrows and line breaks stay', () => {
  expect(harmless('A["<img src=x onerror=pwned()>"]')).toBe('A["‹img src=x onerror=pwned()>"]')
  expect(harmless('A["#lt;svg onload=pwned()&gt; &#60;b #x3c;i"]')).toBe('A["‹svg onload=pwned()&gt; ‹b ‹i"]')
  expect(harmless('</b><!-- x')).toBe('‹/b>‹!-- x')
  expect(harmless('<<img src=x>')).toBe('<‹img src=x>')
  for (const source of ['A <--> B', 'A <|-- B', 'class A { <<interface>> }', 'A["one<br>two<br />three"]', 'A <- B']) {
    expect(harmless(source)).toBe(source)
  }
  expect(harmless('sequenceDiagram\n  link Alice: Site @ javascript:pwned()\n  Alice->>Bob: link: hi')).toBe(
    'sequenceDiagram\n\n  Alice->>Bob: link: hi',
  )
})
