// @vitest-environment jsdom
import { describe, expect, test } from 'vitest'
import { BlockRenderer, renderFinished } from './blocks'

/** Lines between elements mean nothing. */
const html = (text: string) => renderFinished(text).map((block) => block.html.replace(/(>)\n(?=<|$)/g, '$1').trim())

describe('the few tags that are known', () => {
  test('keys, exponents and line breaks are drawn in a line', () => {
    expect(html('Press <kbd>Ctrl</kbd>+<KBD>C</KBD>, H<sub>2</sub>O, x<sup>2</sup><br>next')).toEqual([
      '<p>Press <kbd>Ctrl</kbd>+<kbd>C</kbd>, H<sub>2</sub>O, x<sup>2</sup><br>\nnext</p>',
    ])
  })

  test('one without its other half stays text', () => {
    expect(html('a <kbd>b')).toEqual(['<p>a &lt;kbd&gt;b</p>'])
    expect(html('a </sup> b')).toEqual(['<p>a &lt;/sup&gt; b</p>'])
  })

  test('others stay text, also with attributes', () => {
    for (const text of ['<b>x</b>', '<kbd onclick="alert(1)">x</kbd>', '<img src=x onerror=alert(1)>'])
      expect(html(text)[0]).not.toMatch(/<(b|kbd|img)/)
    expect(html('<details ontoggle="alert(1)">\n\nx\n\n</details>').join('')).not.toMatch(/<details/)
  })
})

describe('what is folded', () => {
  const text = 'Before\n\n<details>\n<summary>More **of it**</summary>\n\nOne\n\n- two\n\n</details>\n\nAfter'

  test('is one block with its Markdown inside', () => {
    expect(html(text)).toEqual([
      '<p>Before</p>',
      '<details><summary>More <strong>of it</strong></summary><p>One</p><ul><li>two</li></ul></details>',
      '<p>After</p>',
    ])
  })

  test('holds all that follows while its end has not come, and gives it back then', () => {
    const renderer = new BlockRenderer()
    let blocks = renderer.render('', true)
    for (let end = 1; end <= text.length; end++) blocks = renderer.render(text.slice(0, end), true)
    const grown = renderer.render(text, false)
    expect(blocks.length).toBeGreaterThan(0)
    expect(grown.map((block) => block.html)).toEqual(renderFinished(text).map((block) => block.html))
  })

  test('may hold another one', () => {
    const nested =
      '<details open>\n<summary>a</summary>\n\n<details>\n<summary>b</summary>\n\nx\n\n</details>\n\ny\n\n</details>'
    expect(html(nested)).toHaveLength(1)
    expect(html(nested)[0]).toMatch(/^<details open="">.*<details><summary>b.*<\/details><p>y<\/p><\/details>$/s)
  })
})

test('footnotes show their marks and their texts', () => {
  expect(html('It is so[^1].\n\n[^1]: Says [who](https://a.example).')).toEqual([
    '<p>It is so<sup class="md-note">1</sup>.</p>',
    expect.stringMatching(
      /^<p class="md-note-text"><sup class="md-note">1<\/sup> Says <a href="https:\/\/a.example\/?"/,
    ),
  ])
})
