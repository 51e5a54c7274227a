import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { asSentence, preferredLanguage } from '.'
import en from './en'
import zh from './zh'

type Tree = { [key: string]: string | Tree }

function flat(tree: Tree, prefix = ''): Map<string, string> {
  const found = new Map<string, string>()
  for (const [key, value] of Object.entries(tree)) {
    if (typeof value === 'string') found.set(prefix + key, value)
    else for (const [inner, text] of flat(value, `${prefix}${key}.`)) found.set(inner, text)
  }
  return found
}

function sources(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((item) => {
    const path = join(dir, item.name)
    if (item.isDirectory()) return path.endsWith(join('src', 'i18n')) ? [] : sources(path)
    const isSource = /\.(vue|ts)$/.test(item.name) && !/\.(test|d)\.ts$/.test(item.name)
    return isSource ? [readFileSync(path, 'utf8')] : []
  })
}

/** The names in braces. */
const slots = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]).toSorted()

const english = flat(en as Tree)
const chinese = flat(zh as Tree)
const code = sources(join(process.cwd(), 'src')).join('\n')

/** Keys that are asked for: `t('a.b')`, `keypath="a.b"`. */
const asked = [...code.matchAll(/(?:\bt\(\s*|\bkeypath=)['"]([\w.]+)['"]/g)].map((match) => match[1]!)
/** Texts in quotes that look like keys, for tables of them, and beginnings such as `a.b.${c}`. */
const quoted = new Set([...code.matchAll(/['"`]([a-z]\w*(?:\.\w+)+)['"`]/g)].map((match) => match[1]!))
const beginnings = [...code.matchAll(/`((?:\w+\.)+)\$\{/g)].map((match) => match[1]!)

describe('texts', () => {
  test('both languages have the same keys', () => {
    expect([...chinese.keys()].toSorted()).toEqual([...english.keys()].toSorted())
  })

  test('no text is empty, and both languages fill the same gaps', () => {
    for (const [key, text] of english) {
      expect(text.trim(), key).not.toBe('')
      expect(chinese.get(key)?.trim(), key).not.toBe('')
      // A plural repeats its gaps.
      expect(new Set(slots(chinese.get(key) ?? '')), key).toEqual(new Set(slots(text)))
    }
  })

  test('every key that is asked for exists', () => {
    expect(asked.filter((key) => !english.has(key))).toEqual([])
  })

  test('every key is asked for', () => {
    const isUsed = (key: string) => quoted.has(key) || beginnings.some((beginning) => key.startsWith(beginning))
    expect([...english.keys()].filter((key) => !isUsed(key))).toEqual([])
  })
})

test('the browser says which language comes first', () => {
  expect(preferredLanguage(['zh-CN', 'en'])).toBe('zh')
  expect(preferredLanguage(['fr', 'en-GB', 'zh'])).toBe('en')
  expect(preferredLanguage(['fr'])).toBe('en')
})

test('what a server says begins with a capital, unless it begins with a name', () => {
  expect(asSentence('the name "x" is taken')).toBe('The name "x" is taken')
  expect(asSentence('modelConfig.temperature: too high')).toBe('modelConfig.temperature: too high')
  expect(asSentence('bash: not found')).toBe('bash: not found')
  expect(asSentence('名称已存在')).toBe('名称已存在')
})
