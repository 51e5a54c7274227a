/** What went wrong, in the reader's language. */

import type { Trouble } from '@/protocol'

export type TroubleLanguage = keyof Trouble['words']

/** Older servers and other programs tell it in one language only. */
export function troubleWords(
  trouble: Pick<Trouble, 'words'> | null | undefined,
  language: TroubleLanguage,
): string | null {
  return trouble?.words[language] ?? null
}
