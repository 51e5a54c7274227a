import { defineStore } from 'pinia'
import { shallowRef } from 'vue'
import { load, save } from '@/browser/storage'
import type { AttachmentKind } from '@/protocol'

/** A message that is being written. */
export interface Draft {
  readonly text: string
  readonly cursor: number
  /** Uploaded files; their content is on the server. */
  readonly files: readonly DraftFile[]
  readonly at: number
}

export interface DraftFile {
  readonly id: string
  readonly name: string
  readonly mimeType: string
  readonly bytes: number
  /** Absent in drafts of older versions. */
  readonly kind?: AttachmentKind
}

const KEY = 'netaclaw.drafts'
/** The oldest are forgotten beyond it. */
const DRAFTS_MAX = 100

const NO_DRAFT: Draft = { text: '', cursor: 0, files: [], at: 0 }

/** Drafts by session and branch. They survive a reload, and go only when a message was taken in. */
export const useDrafts = defineStore('drafts', () => {
  const drafts = shallowRef<Readonly<Record<string, Draft>>>(load('local', KEY, {}))

  function set(key: string, change: Partial<Draft>): void {
    const draft = { ...get(key), ...change, at: Date.now() }
    const { [key]: _, ...others } = drafts.value
    const isEmpty = draft.text === '' && draft.files.length === 0
    keep(isEmpty ? others : { ...others, [key]: draft })
  }

  function keep(next: Readonly<Record<string, Draft>>): void {
    const newest = Object.entries(next).toSorted(([, a], [, b]) => b.at - a.at)
    drafts.value = Object.fromEntries(newest.slice(0, DRAFTS_MAX))
    save('local', KEY, drafts.value)
  }

  function get(key: string): Draft {
    return drafts.value[key] ?? NO_DRAFT
  }

  return {
    drafts,
    get,
    set,
    clear: (key: string) => set(key, NO_DRAFT),
    /** What is being written at one place is written on at another. */
    move(from: string, to: string): void {
      const { [from]: draft, ...others } = drafts.value
      if (draft) keep({ ...others, [to]: draft })
    },
    /** Puts a text back that was not sent after all, before what was written since. */
    giveBack(key: string, text: string): void {
      const { text: since } = get(key)
      if (since.startsWith(text)) return
      set(key, { text: since === '' ? text : `${text}\n\n${since}`, cursor: text.length })
    },
  }
})

/** The place of a draft: a session, and the branch of it that is shown. */
export function draftKey(sessionId: string | null, branch: string | null): string {
  return sessionId === null ? 'new' : branch === null ? sessionId : `${sessionId}/${branch}`
}
