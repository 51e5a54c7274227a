/**
 * One record being edited: read, changed in a form, written for the revision that was read. If
 * the record was changed elsewhere, nothing is written until the user has seen that change.
 */

import { computed, onScopeDispose, ref, shallowRef, watch, type Ref } from 'vue'
import { ApiError } from '@/api'
import { changes, isSame, rebase, type Change } from './changes'

export interface EditorPlan<Kept extends { id: string; rev: number }, Spec extends object, Form> {
  /** The record's id; null for one that does not exist yet. */
  id: () => string | null
  read: (id: string, signal: AbortSignal) => Promise<Kept>
  /** What a new record begins with. */
  blank: (signal: AbortSignal) => Promise<Spec> | Spec
  create: (spec: Spec) => Promise<Kept>
  replace: (id: string, rev: number, spec: Spec) => Promise<Kept>
  specOf: (kept: Kept) => Spec
  toForm: (spec: Spec) => Form
  /** What the form does not show is as in `base`. */
  toSpec: (form: Form, base: Spec) => Spec
}

export interface Conflict<Kept> {
  theirs: Kept
  changes: Change[]
}

export type EditorPhase = 'loading' | 'ready' | 'missing' | 'failed'

export function useEditor<Kept extends { id: string; rev: number }, Spec extends object, Form extends object>(
  plan: EditorPlan<Kept, Spec, Form>,
) {
  const phase = ref<EditorPhase>('loading')
  /** The record as the server has it, as far as we know. */
  const kept = shallowRef<Kept | null>(null)
  const base = shallowRef<Spec | null>(null)
  const form = ref(null) as Ref<Form | null>
  const isSaving = ref(false)
  const problem = shallowRef<unknown>(null)
  const conflict = shallowRef<Conflict<Kept> | null>(null)
  let reading = new AbortController()

  const spec = computed(() => (form.value && base.value ? plan.toSpec(form.value, base.value) : null))
  /** What the form says of an untouched record, which may be tidier than the record itself. */
  const untouched = computed(() => (base.value ? plan.toSpec(plan.toForm(base.value), base.value) : null))
  const isDirty = computed(() => spec.value !== null && !isSame(spec.value, untouched.value))

  function show(record: Kept | null, start: Spec, changed: Spec = start): void {
    kept.value = record
    base.value = start
    form.value = plan.toForm(changed)
    problem.value = null
    conflict.value = null
    phase.value = 'ready'
  }

  async function load(): Promise<void> {
    reading.abort()
    reading = new AbortController()
    const { signal } = reading
    phase.value = 'loading'
    problem.value = null
    try {
      const id = plan.id()
      if (id === null) {
        const start = await plan.blank(signal)
        if (!signal.aborted) show(null, start)
      } else {
        const record = await plan.read(id, signal)
        if (!signal.aborted) show(record, plan.specOf(record))
      }
    } catch (error) {
      if (signal.aborted) return
      problem.value = error
      phase.value = error instanceof ApiError && error.code === 'not_found' ? 'missing' : 'failed'
    }
  }

  /** Returns the record as it is kept now; null if it was not written, and `problem` or `conflict` says why. */
  async function save(): Promise<Kept | null> {
    const [wanted, record] = [spec.value, kept.value]
    if (!wanted || isSaving.value) return null
    isSaving.value = true
    problem.value = null
    try {
      const written = record ? await plan.replace(record.id, record.rev, wanted) : await plan.create(wanted)
      show(written, plan.specOf(written))
      return written
    } catch (error) {
      if (record && error instanceof ApiError && error.isStale) await compare(record, wanted)
      // If the login has expired, the login dialog opens over the page and saving continues afterwards.
      else if (!(error instanceof ApiError && error.code === 'unauthorized')) problem.value = error
      return null
    } finally {
      isSaving.value = false
    }
  }

  async function compare(record: Kept, wanted: Spec): Promise<void> {
    try {
      const theirs = await plan.read(record.id, new AbortController().signal)
      conflict.value = { theirs, changes: changes(plan.specOf(record), wanted, plan.specOf(theirs)) }
    } catch (error) {
      problem.value = error
    }
  }

  /** Gives up what was changed here. */
  function takeTheirs(): void {
    const theirs = conflict.value?.theirs
    if (theirs) show(theirs, plan.specOf(theirs))
  }

  /** Puts what was changed here on top of what they have written, and writes that. */
  async function keepMine(): Promise<Kept | null> {
    const [theirs, mine, before] = [conflict.value?.theirs, spec.value, kept.value]
    if (!theirs || !mine || !before) return null
    show(theirs, plan.specOf(theirs), rebase(plan.specOf(before), mine, plan.specOf(theirs)))
    return save()
  }

  /** Puts the form back to what is kept. */
  function reset(): void {
    if (base.value) show(kept.value, base.value)
  }

  watch(plan.id, (id) => {
    // A record that was just made gets an address; it is not another record.
    if (id !== null && id === kept.value?.id) return
    void load()
  })
  onScopeDispose(() => reading.abort())
  void load()

  return {
    phase,
    kept,
    form,
    spec,
    isDirty,
    isSaving,
    problem,
    conflict,
    load,
    save,
    reset,
    takeTheirs,
    keepMine,
    dismissConflict: () => (conflict.value = null),
  }
}
