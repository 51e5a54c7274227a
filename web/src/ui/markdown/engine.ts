/**
 * markdown-it as NetaClaw uses it: no raw HTML, safe links, and code, diagrams and formulas left to components.
 * What it makes is sanitised once more before it reaches the page.
 */

import MarkdownIt, { type Token } from 'markdown-it'
import cjkFriendly from 'markdown-it-cjk-friendly'
import { html } from './html'
import { math } from './math'
import { placeSlot, type RenderEnv } from './slots'

/** Models do not wrap lines, so a line break in a text is meant. */
export const engine = new MarkdownIt({ html: false, linkify: true, breaks: true, typographer: false })

engine.use(cjkFriendly).use(math).use(html)
// `main.rs` is a file and not a site of Serbia.
engine.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false })
engine.validateLink = (url) => linkKind(url) !== 'unsafe' || isShownImage(url)

const escape = engine.utils.escapeHtml

engine.renderer.rules.fence = (tokens, index, _options, env) => {
  const token = tokens[index]!
  const language = token.info.trim().split(/\s+/)[0] ?? ''
  const text = token.content.replace(/\n$/, '')
  const open = (env as RenderEnv).growing && !isClosed(token.content, token.map)
  if (language.toLowerCase() === 'mermaid') return placeSlot(env as RenderEnv, { kind: 'diagram', text, open }, 'div')
  return placeSlot(env as RenderEnv, { kind: 'code', language, text, open }, 'div')
}

engine.renderer.rules.code_block = (tokens, index, _options, env) =>
  placeSlot(
    env as RenderEnv,
    { kind: 'code', language: '', text: tokens[index]!.content.replace(/\n$/, ''), open: false },
    'div',
  )

engine.renderer.rules.link_open = (tokens, index) => {
  const href = attribute(tokens[index]!, 'href')
  // The app has no pages for addresses of the workspace; they are shown and not followed.
  if (linkKind(href) !== 'web') return `<span class="md-ref" title="${escape(href)}">`
  return `<a href="${escape(href)}" title="${escape(href)}" target="_blank" rel="noopener noreferrer nofollow">`
}

engine.renderer.rules.link_close = (tokens, index) => {
  let depth = 0
  for (let at = index; at >= 0; at--) {
    const token = tokens[at]!
    if (token.type === 'link_close') depth++
    else if (token.type === 'link_open' && --depth === 0) {
      return linkKind(attribute(token, 'href')) === 'web' ? '</a>' : '</span>'
    }
  }
  return '</a>'
}

engine.renderer.rules.image = (tokens, index, options, env) => {
  const token = tokens[index]!
  const src = attribute(token, 'src')
  const alt = engine.renderer.renderInlineAsText(token.children ?? [], options, env)
  if (isShownImage(src)) {
    return `<button type="button" class="md-image" data-image><img src="${escape(src)}" alt="${escape(alt || src)}" loading="lazy"></button>`
  }
  // An image of another site would tell that site who reads: it is a link.
  if (linkKind(src) === 'web') {
    return `<a class="md-foreign" href="${escape(src)}" title="${escape(src)}" target="_blank" rel="noopener noreferrer nofollow">${escape(alt || src)}</a>`
  }
  return `<span class="md-ref" title="${escape(src)}">${escape(alt || src)}</span>`
}

engine.renderer.rules.table_open = () => '<div class="md-table-box"><div class="md-table" tabindex="0"><table>'
// The words of the buttons come with the language of the page.
engine.renderer.rules.table_close = () =>
  '</table></div><div class="md-table-tools actions"><button type="button" data-table="copy"></button><button type="button" data-table="csv"></button></div></div>'

for (const cell of ['th_open', 'td_open'] as const) {
  engine.renderer.rules[cell] = (tokens, index) => {
    const align = /center|right/.exec(attribute(tokens[index]!, 'style'))?.[0]
    return `<${cell.slice(0, 2)}${align ? ` data-align="${align}"` : ''}>`
  }
}

/** `- [ ] text`: the box is drawn, not an input. */
engine.core.ruler.after('inline', 'task_list', (state) => {
  state.tokens.forEach((token, index) => {
    const item = state.tokens[index - 2]
    const mark =
      token.type === 'inline' && item?.type === 'list_item_open' ? /^\[([ xX])\]\s+/.exec(token.content) : null
    const first = token.children?.[0]
    if (!mark || first?.type !== 'text') return
    item!.attrJoin('class', 'md-task')
    first.content = first.content.replace(/^\[[ xX]\]\s+/, '')
    const box = new state.Token('task_box', '', 0)
    box.info = mark[1] === ' ' ? '' : 'x'
    token.children!.unshift(box)
  })
})

engine.renderer.rules['task_box'] = (tokens, index) => {
  const checked = tokens[index]!.info === 'x'
  return `<span class="md-check" data-checked="${checked}" role="img" aria-label="${checked ? '☑' : '☐'}"></span>`
}

/** A fence that has its closing line covers one line more than its content and its opening. */
function isClosed(content: string, map: [number, number] | null): boolean {
  if (!map) return true
  const lines = content === '' ? 0 : content.replace(/\n$/, '').split('\n').length
  return map[1] - map[0] >= lines + 2
}

function attribute(token: Token, name: string): string {
  return String(token.attrGet(name) ?? '')
}

function linkKind(url: string): 'web' | 'relative' | 'unsafe' {
  const plain = stripInvisible(url).toLowerCase()
  if (/^(https?:\/\/|mailto:)/.test(plain)) return 'web'
  // A colon before any slash begins a scheme; the scheme-relative `//host` leads elsewhere as well.
  return /^[^/?#]*:/.test(plain) || plain.startsWith('//') || plain.startsWith('\\') ? 'unsafe' : 'relative'
}

/** Images of this server and images that are in the text itself; not SVG, which is a document. */
export function isShownImage(url: string): boolean {
  const plain = stripInvisible(url)
  return (
    /^data:image\/(png|jpe?g|gif|webp|avif);/i.test(plain) ||
    plain.startsWith(`blob:${location.origin}/`) ||
    plain.startsWith(`${location.origin}/`) ||
    /^\/(?![/\\])/.test(plain)
  )
}

/** Browsers ignore control characters in addresses, so the checks do too. */
function stripInvisible(url: string): string {
  // eslint-disable-next-line no-control-regex
  return url.replace(/[\u0000-\u0020\u007f-\u00a0\u200b-\u200f\u2028-\u202f\ufeff]/g, '')
}
