/** For tests of components: the real texts, in English unless said otherwise. */

import { mount, type ComponentMountingOptions, type VueWrapper } from '@vue/test-utils'
import type { Component } from 'vue'
import { createI18n } from 'vue-i18n'
import en from '@/i18n/en'
import type { Language } from '@/i18n/types'
import zh from '@/i18n/zh'

/** jsdom has no screen that could be asked about. */
globalThis.matchMedia ??= ((media: string) => ({
  media,
  matches: false,
  addEventListener: () => {},
  removeEventListener: () => {},
})) as unknown as typeof matchMedia

export const testI18n = (locale: Language = 'en') => createI18n({ legacy: false, locale, messages: { en, zh } })

/** Mounts a component in the page, with its texts. */
export function show(
  component: Component,
  props: Record<string, unknown>,
  slots: ComponentMountingOptions<Component>['slots'] = {},
): VueWrapper {
  return mount(component, { props, slots, global: { plugins: [testI18n()] }, attachTo: document.body })
}
