/** For tests of components: the real texts, in English unless said otherwise. */

import { createI18n } from 'vue-i18n'
import en from '@/i18n/en'
import type { Language } from '@/i18n/types'
import zh from '@/i18n/zh'

export const testI18n = (locale: Language = 'en') => createI18n({ legacy: false, locale, messages: { en, zh } })
