import { sanitizeFormula } from './sanitize'

/** KaTeX and its styles, fetched with the first formula. */
async function loadKatex() {
  const [{ default: katex }] = await Promise.all([import('katex'), import('katex/dist/katex.min.css')])
  return katex
}

/** Null if the formula cannot be read. Commands that make links, classes or HTML are not trusted. */
export async function formulaHtml(text: string, display: boolean): Promise<string | null> {
  const katex = await loadKatex()
  try {
    return sanitizeFormula(
      katex.renderToString(text, {
        displayMode: display,
        throwOnError: true,
        trust: false,
        strict: 'ignore',
        maxExpand: 500,
        maxSize: 20,
      }),
    )
  } catch {
    return null
  }
}
