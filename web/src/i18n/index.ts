/** The app's languages: Chinese and English. The browser's preference is the default until the user chooses. */

import { createI18n } from 'vue-i18n'
import type { LocalizedText } from '@/protocol'
import { LANGUAGES, type Language, type Messages } from './types'

export { LANGUAGES, type Language, type Messages } from './types'

declare module 'vue-i18n' {
  export interface DefineLocaleMessage extends Messages {}
}

/** Each language is a file of its own, fetched when it is wanted. */
const load: Record<Language, () => Promise<{ default: Messages }>> = {
  en: () => import('./en'),
  zh: () => import('./zh'),
}

export const i18n = createI18n({
  legacy: false,
  locale: 'en',
  fallbackLocale: false,
  missingWarn: import.meta.env.DEV,
  messages: {} as Record<Language, Messages>,
})

/** The first language of the list that the app has. */
export function preferredLanguage(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const found = LANGUAGES.find((language) => tag.toLowerCase().split('-')[0] === language)
    if (found) return found
  }
  return 'en'
}

export async function setLanguage(language: Language): Promise<void> {
  if (!i18n.global.availableLocales.includes(language)) {
    i18n.global.setLocaleMessage(language, (await load[language]()).default)
  }
  i18n.global.locale.value = language
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'
}

/** What the server refused, in the language of the page. Whatever stands in between knows only one. */
export function refusalWords(refusal: { message: string; words?: LocalizedText }): string {
  return asSentence(refusal.words?.[i18n.global.locale.value as Language] ?? refusal.message)
}

/** Servers write as command lines do; on a page a sentence begins with a capital, unless it begins with a name of something. */
export function asSentence(words: string): string {
  return words.replace(/^[a-z]+(?=[ ,;])/, (word) => word[0]!.toUpperCase() + word.slice(1))
}
