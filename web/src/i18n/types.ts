import type en from './en'

/** Every text of the app. English gives the keys; the other languages must have the same. */
export type Messages = Texts<typeof en>

type Texts<T> = { [Key in keyof T]: T[Key] extends string ? string : Texts<T[Key]> }

export const LANGUAGES = ['zh', 'en'] as const

export type Language = (typeof LANGUAGES)[number]
