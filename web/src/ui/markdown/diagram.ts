/** Mermaid, fetched with the first diagram. Its drawing is shown as an image: nothing inside can run, load or be clicked. */

/** Mermaid measures in the page with one shared state: diagrams are drawn one after the other. */
let queue: Promise<unknown> = Promise.resolve()
let count = 0

/** The page behind a drawing; Mermaid cannot read our tokens. */
const GROUND = { light: '#ffffff', dark: '#17181a' }

export interface Drawing {
  /** A `data:` address for an `<img>`. */
  src: string
  width: number
  height: number
}

export function drawDiagram(source: string, theme: 'light' | 'dark'): Promise<Drawing> {
  const drawing = queue.then(() => draw(source, theme))
  queue = drawing.catch(() => undefined)
  return drawing
}

async function draw(source: string, theme: 'light' | 'dark'): Promise<Drawing> {
  const { default: mermaid } = await import('mermaid')
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    suppressErrorRendering: true,
    theme: theme === 'dark' ? 'dark' : 'neutral',
    htmlLabels: false,
    flowchart: { htmlLabels: false, useMaxWidth: false },
    // Words on a line stand on a ground of their own.
    themeCSS: `.edgeLabel rect { opacity: 0 } .edgeLabel text { paint-order: stroke; stroke: ${GROUND[theme]}; stroke-width: 6px; stroke-linejoin: round }`,
    fontFamily: 'system-ui, "PingFang SC", "Noto Sans CJK SC", "Microsoft YaHei", sans-serif',
    maxTextSize: 20_000,
    maxEdges: 300,
    // What a diagram's own directives may not change.
    secure: [
      'securityLevel',
      'startOnLoad',
      'maxTextSize',
      'maxEdges',
      'suppressErrorRendering',
      'htmlLabels',
      'themeCSS',
      'fontFamily',
      'altFontFamily',
      'dompurifyConfig',
      'secure',
    ],
  })
  const { svg } = await mermaid.render(`nc-diagram-${++count}`, harmless(source))
  return imageOf(svg)
}

/**
 * Mermaid makes elements of words before it cleans them, and gives those with links handlers of their own; the browser
 * refuses both, and says so. So brackets that would begin a tag, other than a line break, are drawn as a sign that
 * looks much like them, and the menus of a sequence diagram, which an image cannot open, are left out.
 */
export function harmless(source: string): string {
  // `<<interface>>` is a word of Mermaid's own.
  const words = /<<\w+>>|<br\s*\/?>|(?:<|[#&]+(?:lt|0*60|x0*3c);?)(?=([a-z/!?]))/gi
  const text = source.replace(words, (found, letter?: string) => (letter === undefined ? found : '‹'))
  return /^\s*sequenceDiagram\b/m.test(text)
    ? text.replace(/^\s*(?:links?|properties|details)\s[^:\n]*:.*$/gim, '')
    : text
}

/** Links and scripts would do nothing in an image; they are taken out all the same. */
export function imageOf(svg: string): Drawing {
  const root = new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement
  if (root.nodeName !== 'svg') throw new Error('not a drawing')
  for (const element of root.querySelectorAll('script, foreignObject, iframe, image')) element.remove()
  for (const element of [root, ...root.querySelectorAll('*')]) {
    for (const { name } of [...element.attributes]) {
      if (/^on/i.test(name) || /(^|:)href$/i.test(name)) element.removeAttribute(name)
    }
  }
  const [, , width = 600, height = 400] = (root.getAttribute('viewBox') ?? '').split(/[\s,]+/).map(Number)
  root.setAttribute('width', String(width))
  root.setAttribute('height', String(height))
  const text = new XMLSerializer().serializeToString(root)
  return { src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`, width, height }
}
