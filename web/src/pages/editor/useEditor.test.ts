import { describe, expect, test, vi } from 'vitest'
import { effectScope, ref } from 'vue'
import { ApiError } from '@/api'
import { useEditor } from './useEditor'

interface Spec {
  name: string
  note: string
  hidden: number
}
type Kept = Spec & { id: string; rev: number }

/** A server with one record, which others can change behind our back. */
function server(start: Spec) {
  let record: Kept = { ...start, id: 'a', rev: 1 }
  return {
    get record() {
      return record
    },
    changeBehindOurBack: (change: Partial<Spec>) => (record = { ...record, ...change, rev: record.rev + 1 }),
    read: async () => record,
    create: async (spec: Spec) => (record = { ...spec, id: 'new', rev: 1 }),
    replace: vi.fn(async (_id: string, rev: number, spec: Spec) => {
      if (rev !== record.rev)
        throw new ApiError('conflict', 'changed meanwhile', 412, { expectedRev: rev, currentRev: record.rev })
      return (record = { ...record, ...spec, rev: rev + 1 })
    }),
  }
}

async function editor(source: ReturnType<typeof server>, id: string | null = 'a') {
  const chosen = ref(id)
  const made = effectScope().run(() =>
    useEditor<Kept, Spec, { name: string; note: string }>({
      id: () => chosen.value,
      read: source.read,
      blank: () => ({ name: '', note: '', hidden: 7 }),
      create: source.create,
      replace: source.replace,
      specOf: ({ name, note, hidden }) => ({ name, note, hidden }),
      toForm: ({ name, note }) => ({ name, note }),
      toSpec: (form, base) => ({ ...base, name: form.name.trim(), note: form.note }),
    }),
  )!
  await vi.waitFor(() => expect(made.phase.value).not.toBe('loading'))
  return { ...made, chosen }
}

describe('a record', () => {
  test('is read, changed and written for its revision', async () => {
    const source = server({ name: ' a ', note: 'x', hidden: 1 })
    const { form, isDirty, save, kept } = await editor(source)
    // Normalization by the form is not a change of the user.
    expect(isDirty.value).toBe(false)
    form.value!.note = 'y'
    expect(isDirty.value).toBe(true)
    expect(await save()).toMatchObject({ note: 'y', hidden: 1, rev: 2 })
    expect(kept.value?.rev).toBe(2)
    expect(isDirty.value).toBe(false)
  })

  test('that is new is made, and is the same one when it gets its address', async () => {
    const source = server({ name: '', note: '', hidden: 0 })
    const { form, save, chosen, phase, kept } = await editor(source, null)
    form.value!.name = 'b'
    expect(await save()).toMatchObject({ id: 'new', name: 'b', hidden: 7 })
    chosen.value = 'new'
    await Promise.resolve()
    expect([phase.value, kept.value?.id]).toEqual(['ready', 'new'])
  })

  test('that is not there is missing, and a server that is not there is a failure', async () => {
    const source = server({ name: 'a', note: '', hidden: 0 })
    source.read = async () => {
      throw new ApiError('not_found', 'no', 404)
    }
    expect((await editor(source)).phase.value).toBe('missing')
    source.read = async () => {
      throw new ApiError('unreachable', 'no')
    }
    expect((await editor(source)).phase.value).toBe('failed')
  })

  test('that is refused stays as it was typed', async () => {
    const source = server({ name: 'a', note: '', hidden: 0 })
    const made = await editor(source)
    source.replace.mockRejectedValueOnce(new ApiError('bad_request', 'name: bad', 400, { field: 'name' }))
    made.form.value!.name = '!'
    expect(await made.save()).toBeNull()
    expect(made.problem.value).toMatchObject({ field: 'name' })
    expect([made.form.value!.name, made.isDirty.value]).toEqual(['!', true])
  })
})

describe('edited by someone else', () => {
  async function conflict() {
    const source = server({ name: 'a', note: 'x', hidden: 1 })
    const made = await editor(source)
    made.form.value!.note = 'mine'
    source.changeBehindOurBack({ name: 'b', note: 'theirs', hidden: 2 })
    expect(await made.save()).toBeNull()
    return { source, ...made }
  }

  test('nothing is written, and what they changed is shown', async () => {
    const { source, conflict: found, form, problem } = await conflict()
    expect(source.record).toMatchObject({ note: 'theirs', rev: 2 })
    expect(found.value?.changes.map(({ path, by }) => [path, by])).toEqual([
      ['name', 'them'],
      ['note', 'both'],
      ['hidden', 'them'],
    ])
    expect(form.value!.note).toBe('mine')
    expect(problem.value).toBeNull()
  })

  test('theirs are taken', async () => {
    const { source, takeTheirs, form, isDirty, kept, conflict: found } = await conflict()
    takeTheirs()
    expect(form.value).toEqual({ name: 'b', note: 'theirs' })
    expect([isDirty.value, kept.value?.rev, found.value]).toEqual([false, 2, null])
    expect(source.record.rev).toBe(2)
  })

  test('mine are kept, on top of theirs', async () => {
    const { source, keepMine } = await conflict()
    expect(await keepMine()).toMatchObject({ name: 'b', note: 'mine', hidden: 2, rev: 3 })
    expect(source.record).toMatchObject({ name: 'b', note: 'mine', hidden: 2 })
  })

  test('and once more before mine were written', async () => {
    const { source, keepMine, conflict: found, form } = await conflict()
    source.changeBehindOurBack({ note: 'again' })
    expect(await keepMine()).toBeNull()
    expect(source.record.note).toBe('again')
    expect(found.value?.changes.map(({ path, by }) => [path, by])).toEqual([['note', 'both']])
    expect(form.value!.note).toBe('mine')
  })
})

test('a login that has ended is no problem of the record', async () => {
  const source = server({ name: 'a', note: '', hidden: 0 })
  const made = await editor(source)
  made.form.value!.note = 'draft'
  source.replace.mockRejectedValueOnce(new ApiError('unauthorized', 'who?', 401))
  expect(await made.save()).toBeNull()
  expect([made.problem.value, made.form.value!.note, made.isDirty.value]).toEqual([null, 'draft', true])
  expect(await made.save()).toMatchObject({ note: 'draft' })
})
