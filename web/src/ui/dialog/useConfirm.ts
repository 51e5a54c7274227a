import { onScopeDispose, readonly, shallowRef, type Ref } from 'vue'

export interface ConfirmQuestion {
  title: string
  text?: string
  items?: readonly string[]
  /** What agrees; without it there is nothing to agree to. */
  yes?: string
  no?: string
  danger?: boolean
}

export interface Confirm {
  question: Readonly<Ref<ConfirmQuestion | null>>
  ask(question: ConfirmQuestion): Promise<boolean>
  answer(yes: boolean): void
}

/** One question at a time, drawn by `DialogConfirm`. Leaving the page cancels it. */
export function useConfirm(): Confirm {
  const question = shallowRef<ConfirmQuestion | null>(null)
  let resolve: ((yes: boolean) => void) | null = null

  function answer(yes: boolean): void {
    question.value = null
    resolve?.(yes)
    resolve = null
  }

  function ask(next: ConfirmQuestion): Promise<boolean> {
    answer(false)
    question.value = next
    return new Promise((done) => (resolve = done))
  }

  onScopeDispose(() => answer(false))
  return { question: readonly(question) as Readonly<Ref<ConfirmQuestion | null>>, ask, answer }
}
