/** highlight.js, fetched with the first code block; each language is a file of its own. */

import type { HLJSApi, LanguageFn } from 'highlight.js'

const LANGUAGES: Record<string, () => Promise<{ default: LanguageFn }>> = {
  bash: () => import('highlight.js/lib/languages/bash'),
  c: () => import('highlight.js/lib/languages/c'),
  cpp: () => import('highlight.js/lib/languages/cpp'),
  csharp: () => import('highlight.js/lib/languages/csharp'),
  css: () => import('highlight.js/lib/languages/css'),
  diff: () => import('highlight.js/lib/languages/diff'),
  dockerfile: () => import('highlight.js/lib/languages/dockerfile'),
  go: () => import('highlight.js/lib/languages/go'),
  ini: () => import('highlight.js/lib/languages/ini'),
  java: () => import('highlight.js/lib/languages/java'),
  javascript: () => import('highlight.js/lib/languages/javascript'),
  json: () => import('highlight.js/lib/languages/json'),
  kotlin: () => import('highlight.js/lib/languages/kotlin'),
  markdown: () => import('highlight.js/lib/languages/markdown'),
  php: () => import('highlight.js/lib/languages/php'),
  python: () => import('highlight.js/lib/languages/python'),
  ruby: () => import('highlight.js/lib/languages/ruby'),
  rust: () => import('highlight.js/lib/languages/rust'),
  sql: () => import('highlight.js/lib/languages/sql'),
  swift: () => import('highlight.js/lib/languages/swift'),
  typescript: () => import('highlight.js/lib/languages/typescript'),
  xml: () => import('highlight.js/lib/languages/xml'),
  yaml: () => import('highlight.js/lib/languages/yaml'),
}

const ALIASES: Record<string, string> = {
  cc: 'cpp',
  'c++': 'cpp',
  cs: 'csharp',
  'c#': 'csharp',
  console: 'bash',
  docker: 'dockerfile',
  golang: 'go',
  h: 'c',
  hpp: 'cpp',
  htm: 'xml',
  html: 'xml',
  js: 'javascript',
  jsonc: 'json',
  jsx: 'javascript',
  kt: 'kotlin',
  md: 'markdown',
  mjs: 'javascript',
  patch: 'diff',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  sh: 'bash',
  shell: 'bash',
  svg: 'xml',
  toml: 'ini',
  ts: 'typescript',
  tsx: 'typescript',
  vue: 'xml',
  yml: 'yaml',
  zsh: 'bash',
}

/** Colouring more than this would take longer than it helps. */
const LENGTH_MAX = 100_000

let core: HLJSApi | null = null

/** Our name of the language that a fence or a file name ending names. */
export function languageOf(name: string): string | null {
  const known = name.toLowerCase()
  const language = Object.hasOwn(ALIASES, known) ? ALIASES[known]! : known
  return Object.hasOwn(LANGUAGES, language) ? language : null
}

export async function loadLanguage(language: string): Promise<void> {
  const [{ default: hljs }, { default: grammar }] = await Promise.all([
    import('highlight.js/lib/core'),
    LANGUAGES[language]!(),
  ])
  hljs.registerLanguage(language, grammar)
  core = hljs
}

/** One piece of HTML for each line; null if the language is not loaded or the text too long. */
export function highlight(text: string, language: string): string[] | null {
  if (!core?.getLanguage(language) || text.length > LENGTH_MAX) return null
  return linesOf(core.highlight(text, { language, ignoreIllegals: true }).value)
}

export const escapeCode = (text: string): string =>
  text.replace(/[&<>]/g, (letter) => ({ '&': '&amp;', '<': '&lt;' })[letter] ?? '&gt;')

/** Cuts at line breaks; a span that goes over one is closed before it and opened again after it. */
function linesOf(html: string): string[] {
  const open: string[] = []
  return html.split('\n').map((line) => {
    const begun = open.join('')
    for (const [tag] of line.matchAll(/<span[^>]*>|<\/span>/g)) {
      if (tag === '</span>') open.pop()
      else open.push(tag)
    }
    return `${begun}${line}${'</span>'.repeat(open.length)}`
  })
}
