import { defineStore } from 'pinia'
import { computed, ref, watch } from 'vue'
import { load, save } from '@/browser/storage'
import { preferredLanguage, setLanguage, type Language } from '@/i18n'
import type { Verbosity } from '@/view/types'

export type Theme = 'system' | 'light' | 'dark'

interface Kept {
  language?: Language
  theme?: Theme
  verbosity?: Verbosity
  sidebar?: boolean
  notifications?: boolean
}

const KEY = 'netaclaw.prefs'

/** How this browser likes to see things. */
export const usePrefs = defineStore('prefs', () => {
  const kept = load<Kept>('local', KEY, {})
  const chosenLanguage = ref<Language | null>(kept.language ?? null)
  const theme = ref<Theme>(kept.theme ?? 'system')
  const verbosity = ref<Verbosity>(kept.verbosity ?? 'summary')
  const sidebar = ref(kept.sidebar ?? true)
  /** Of the browser, when a run ends or waits while the tab is hidden. */
  const notifications = ref(kept.notifications ?? false)
  const language = computed(() => chosenLanguage.value ?? preferredLanguage(navigator.languages))

  watch([chosenLanguage, theme, verbosity, sidebar, notifications], () => {
    const language = chosenLanguage.value ? { language: chosenLanguage.value } : {}
    save('local', KEY, {
      ...language,
      theme: theme.value,
      verbosity: verbosity.value,
      sidebar: sidebar.value,
      notifications: notifications.value,
    })
  })
  watch(
    theme,
    (theme) => {
      if (theme === 'system') delete document.documentElement.dataset['theme']
      else document.documentElement.dataset['theme'] = theme
    },
    { immediate: true },
  )

  async function chooseLanguage(language: Language): Promise<void> {
    await setLanguage(language)
    chosenLanguage.value = language
  }

  return { language, theme, verbosity, sidebar, notifications, chooseLanguage }
})
