// @vitest-environment jsdom
import { describe, expect, test, vi } from 'vitest'
import { BlockRenderer, renderFinished, type Block } from './blocks'

// Thousands of texts are sanitised by a slow DOM.
vi.setConfig({ testTimeout: 60_000 })

const html = (blocks: readonly Block[]) => blocks.map((block) => block.html.trim())

const SAMPLES = {
  prose: '# 标题\n\nSome **bold** and *slanted* text with `code`.\nSecond line.\n\n> quoted\n> more\n\nEnd.\n',
  lists: '1. one\n   ```sh\n   ls\n   ```\n2. two\n\n   still two\n\n- [ ] open\n- [x] done\n\ntext\n',
  table: 'before\n\n| a | b |\n| --- | ---: |\n| 1 | 2 |\n| 3 | 4 |\n\nafter\n',
  notTable: 'foo\n| a | b |\n|---|---|x\nbar\n\nbaz\n',
  headings: 'Title\n=====\n\ntext\n-\nmore\n\n---\n\nend\n',
  code: 'x\n\n```rust\nfn main() {\n\n    println!("```");\n}\n```\n\ny\n\n~~~\nunclosed\n',
  math: 'Inline $a+b$ and \\(c\\).\n\n$$\n\\frac{1}{2}\n$$\n\n\\[ x \\]\n\ndone $$y$$ end\n',
  references:
    'See [one] and [two][2].\n\ntext\n\nmore\n\n[one]: https://one.example\n\nlast\n\n[2]: https://two.example/path\n',
  windows: 'a\r\n\r\nb\r\n\r\n- c\r\n',
}

describe('a text that grows', () => {
  test.each(Object.entries(SAMPLES))('%s: ends as if it had come at once', (_name, text) => {
    for (const step of [1, 2, 3, 7, 19]) {
      const renderer = new BlockRenderer()
      for (let end = step; end < text.length; end += step) renderer.render(text.slice(0, end), true)
      const grown = renderer.render(text, false)
      const whole = new BlockRenderer().render(text, false)
      expect(html(grown)).toEqual(html(whole))
      expect(grown.map((block) => block.slots)).toEqual(whole.map((block) => block.slots))
    }
  })

  test('what another piece of the text defines is known here', () => {
    const renderer = new BlockRenderer()
    expect(html(renderer.render('See [one].\n', false))).toEqual(['<p>See [one].</p>'])
    expect(html(renderer.render('See [one].\n', false, '[one]: https://one.example'))[0]).toContain(
      'href="https://one.example"',
    )
    expect(html(renderFinished('See [one].\n', '[one]: https://one.example'))[0]).toContain(
      'href="https://one.example"',
    )
  })

  test('blocks above the end keep their identity', () => {
    const renderer = new BlockRenderer()
    const before = renderer.render('one\n\ntwo\n\nthree\n\nfo', true)
    const after = renderer.render('one\n\ntwo\n\nthree\n\nfour and', true)
    expect(after.slice(0, 3)).toEqual(before.slice(0, 3))
    expect(after.slice(0, 3).every((block, index) => block === before[index])).toBe(true)
    expect(after[3]).not.toBe(before[3])
  })

  test('a fence is open until its end has come', () => {
    const renderer = new BlockRenderer()
    const open = renderer.render('```js\nlet a\n``', true)
    expect(open[0]!.slots).toEqual([{ kind: 'code', language: 'js', text: 'let a\n``', open: true }])
    const closed = renderer.render('```js\nlet a\n```', true)
    expect(closed[0]!.slots).toEqual([{ kind: 'code', language: 'js', text: 'let a', open: false }])
    expect(renderFinished('```js\nlet a')[0]!.slots).toMatchObject([{ open: false }])
  })

  test('a text that is replaced is rendered anew', () => {
    const renderer = new BlockRenderer()
    renderer.render('one\n\ntwo\n\nthree\n\nfour', true)
    expect(html(renderer.render('ONE\n\ntwo', true))).toEqual(['<p>ONE</p>', '<p>two</p>'])
  })
})

describe('what is unfinished', () => {
  const growing = (text: string) => html(new BlockRenderer().render(text, true)).join('')

  test.each([
    ['**bo', '<p><strong>bo</strong></p>'],
    ['a **bold *and', '<p>a <strong>bold <em>and</em></strong></p>'],
    ['use `cod', '<p>use <code>cod</code></p>'],
    ['~~gone', '<p><s>gone</s></p>'],
    ['see [the docs](https://exa', '<p>see the docs</p>'],
    ['see [the do', '<p>see the do</p>'],
    ['look ![alt](https://x', '<p>look</p>'],
    ['2 * 3 = 6', '<p>2 * 3 = 6</p>'],
    ['Title\n--', '<p>Title</p>'],
    ['text **', '<p>text</p>'],
    ['- ', ''],
  ])('%j', (text, expected) => {
    expect(growing(text)).toBe(expected)
  })

  test('the first row of a table is a table', () => {
    expect(growing('| a | b |')).toContain('<th>a</th>')
    expect(growing('| a | b |\n| --')).toContain('<th>a</th>')
    expect(growing('| a | b |\n|---|---|\n| 1')).toContain('<td>1</td>')
  })
})

describe('Markdown', () => {
  const one = (text: string) => html(renderFinished(text)).join('')

  test('emphasis next to Chinese punctuation', () => {
    expect(one('这是**“重点”**内容，**注意：**看')).toBe(
      '<p>这是<strong>“重点”</strong>内容，<strong>注意：</strong>看</p>',
    )
  })

  test('money and shell variables are not formulas', () => {
    for (const text of ['costs $5 or $6.', '$HOME/$USER', 'a US$5/US$6 b', '`$x$`']) {
      expect(renderFinished(text)[0]!.slots).toEqual([])
    }
    expect(renderFinished('设 $x_1$，则')[0]!.slots).toEqual([
      { kind: 'math', text: 'x_1', display: false, open: false },
    ])
  })

  test('links of the web open elsewhere; paths are not links', () => {
    expect(one('[a](https://x.example/?q=1&r=2)')).toContain('target="_blank"')
    expect(one('[a](https://x.example)')).toContain('rel="noopener noreferrer nofollow"')
    expect(one('[main](./src/main.rs)')).toBe('<p><span class="md-ref" title="./src/main.rs">main</span></p>')
    expect(one('main.rs and https://x.example，然后')).toContain('>https://x.example</a>，然后')
  })

  test('images of other sites are links, own ones can be opened', () => {
    expect(one('![cat](https://x.example/cat.png)')).not.toContain('<img')
    expect(one('![cat](/admin/netaclaw/attachments/1)')).toContain('data-image')
    expect(one('![cat](data:image/png;base64,AAAA)')).toContain('<img')
  })

  test('task lists', () => {
    expect(one('- [x] done')).toContain('data-checked="true"')
  })
})
