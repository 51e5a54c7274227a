import { computed, nextTick, ref, type Ref } from 'vue'
import { useRoute, useRouter, type LocationQueryRaw } from 'vue-router'
import { ApiError } from '@/api'
import { useAccount } from '@/stores'
import { focusFirstProblem } from '../form/focus'
import { useConfirm } from '@/ui/dialog/useConfirm'
import { useEditor, type EditorPlan } from './useEditor'
import { useLeaveGuard } from './useLeaveGuard'

type Plan<Kept extends { id: string; rev: number }, Spec extends object, Form> = Omit<
  EditorPlan<Kept, Spec, Form>,
  'id'
> & {
  /** The name of the page's route, which has the record's id. */
  route: string
  /** What is wrong with the form, by field: a key for `say`. */
  problems: (form: Form) => Readonly<Record<string, string | undefined>>
  /** The words for what is wrong. */
  say: (key: string) => string
  /** The record is kept now; called before its address is shown. */
  onWritten?: (kept: Kept) => void
  /** What else the address of a record that was just made says. */
  query?: () => LocationQueryRaw
  /** Brings what is wrong into view, where that takes more than the focus. */
  reveal?: (field: string) => void
}

/** The editor of a record on a page of its own: checked before it is written, and not left by mistake. */
export function useRecordForm<Kept extends { id: string; rev: number }, Spec extends object, Form extends object>(
  plan: Plan<Kept, Spec, Form>,
) {
  const route = useRoute()
  const router = useRouter()
  const account = useAccount()
  const confirm = useConfirm()
  const isSaved = ref(false)
  /** Mistakes are shown from the first attempt to save on. */
  const isChecked = ref(false)

  const editor = useEditor<Kept, Spec, Form>({
    ...plan,
    id: () => (route.params['id'] === 'new' ? null : String(route.params['id'])),
  })
  const { form, isDirty, isSaving, problem } = editor

  const wrong = computed(() => (form.value && isChecked.value ? plan.problems(form.value) : {}))
  /** What is wrong by field: found here, or by the server. */
  const errors = computed(() => {
    const found: Record<string, string> = {}
    for (const [field, key] of Object.entries(wrong.value)) if (key) found[field] = plan.say(key)
    if (problem.value instanceof ApiError && problem.value.field)
      found[problem.value.field] ??= problem.value.besideField
    return found
  })

  useLeaveGuard(() => isDirty.value && !isSaving.value, confirm)

  /** Checks the form, and says what is wrong with it from now on. */
  function isWrong(): boolean {
    isChecked.value = true
    return !form.value || Object.keys(plan.problems(form.value)).length > 0
  }

  async function showFirstProblem(): Promise<void> {
    const field = Object.keys(errors.value)[0]
    if (field) plan.reveal?.(field)
    await nextTick()
    await focusFirstProblem()
  }

  async function save(): Promise<void> {
    isSaved.value = false
    if (isWrong()) await showFirstProblem()
    else await written(await editor.save())
  }

  async function written(kept: Kept | null): Promise<void> {
    if (!kept) return problem.value instanceof ApiError ? await showFirstProblem() : undefined
    isChecked.value = false
    isSaved.value = true
    plan.onWritten?.(kept)
    if (route.params['id'] !== kept.id)
      await router.replace({ name: plan.route, params: { id: kept.id }, query: plan.query?.() ?? {} })
  }

  return {
    ...editor,
    confirm,
    errors,
    isSaved: isSaved as Readonly<Ref<boolean>>,
    /** Something on the page is wrong, whatever the server says. */
    isFaulty: computed(() => Object.keys(wrong.value).length > 0),
    isReadOnly: computed(() => !account.mayConfigure),
    isWrong,
    showFirstProblem,
    save,
    keepMine: async () => await written(await editor.keepMine()),
  }
}

/** What the frame around an editor needs to know of it, whatever is edited. */
export type RecordForm = Pick<
  ReturnType<typeof useRecordForm<{ id: string; rev: number; updatedAt: number }, object, object>>,
  | 'phase'
  | 'kept'
  | 'isDirty'
  | 'isSaving'
  | 'isSaved'
  | 'isFaulty'
  | 'isReadOnly'
  | 'problem'
  | 'conflict'
  | 'confirm'
  | 'load'
  | 'save'
  | 'reset'
  | 'takeTheirs'
  | 'keepMine'
  | 'dismissConflict'
>
